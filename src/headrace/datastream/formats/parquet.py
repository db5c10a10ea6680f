"""Re-export of `headrace.formats.parquet`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.parquet import (
    AvroParquetReaders as AvroParquetReaders,
)
from headrace.formats.parquet import (
    AvroParquetWriters as AvroParquetWriters,
)
from headrace.formats.parquet import (
    ParquetBulkWriters as ParquetBulkWriters,
)
from headrace.formats.parquet import (
    ParquetColumnarRowInputFormat as ParquetColumnarRowInputFormat,
)

offer_pyflink_names(__name__)
