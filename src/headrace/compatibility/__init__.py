"""What keeps Flink programs running unchanged: PyFlink's names, and settings that have no effect here."""
