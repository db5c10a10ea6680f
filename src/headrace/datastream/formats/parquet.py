"""Re-export of `headrace.formats.parquet`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.parquet import (
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)

__all__ = [
    "AvroParquetReaders",
    "AvroParquetWriters",
    "ParquetBulkWriters",
    "ParquetColumnarRowInputFormat",
]

offer_pyflink_names(__name__, "headrace.formats.parquet")
