"""CSV in messages and files; the names are those of `pyflink.datastream.formats.csv`."""

from headrace.datastream.formats.csv_rows import CsvRowDeserializationSchema, CsvRowSerializationSchema

__all__ = ["CsvRowDeserializationSchema", "CsvRowSerializationSchema"]
