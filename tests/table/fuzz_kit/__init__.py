"""Random queries, answered by headrace in batch mode and by DuckDB."""
