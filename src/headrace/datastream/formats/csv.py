"""Re-export of `headrace.formats.csv`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.csv import (
    CsvBulkWriters as CsvBulkWriters,
)
from headrace.formats.csv import (
    CsvReaderFormat as CsvReaderFormat,
)
from headrace.formats.csv import (
    CsvRowDeserializationSchema as CsvRowDeserializationSchema,
)
from headrace.formats.csv import (
    CsvRowSerializationSchema as CsvRowSerializationSchema,
)
from headrace.formats.csv import (
    CsvSchema as CsvSchema,
)
from headrace.formats.csv import (
    CsvSchemaBuilder as CsvSchemaBuilder,
)

offer_pyflink_names(__name__)
