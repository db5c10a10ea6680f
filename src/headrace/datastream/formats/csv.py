"""Re-export of `headrace.formats.csv`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.csv import (
    CsvBulkWriters,
    CsvReaderFormat,
    CsvRowDeserializationSchema,
    CsvRowSerializationSchema,
    CsvSchema,
    CsvSchemaBuilder,
)

__all__ = [
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "CsvSchema",
    "CsvSchemaBuilder",
]

offer_pyflink_names(__name__, "headrace.formats.csv")
