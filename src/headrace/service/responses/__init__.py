"""Flink's JSON, made from what is known of a job. Pure functions: no I/O, and the time is handed in."""
