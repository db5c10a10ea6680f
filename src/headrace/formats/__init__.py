"""Formats of messages and files: Avro, CSV, JSON, ORC, and Parquet."""
