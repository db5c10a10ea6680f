"""Types of records: type information, codecs, rows, times, column types, and Java's hashes and string formats."""
