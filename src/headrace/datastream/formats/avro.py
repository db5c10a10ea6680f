"""Re-export of `headrace.formats.avro`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.avro import (
    AvroBulkWriters as AvroBulkWriters,
)
from headrace.formats.avro import (
    AvroInputFormat as AvroInputFormat,
)
from headrace.formats.avro import (
    AvroReaderFormat as AvroReaderFormat,
)
from headrace.formats.avro import (
    AvroRowDeserializationSchema as AvroRowDeserializationSchema,
)
from headrace.formats.avro import (
    AvroRowSerializationSchema as AvroRowSerializationSchema,
)
from headrace.formats.avro import (
    AvroSchema as AvroSchema,
)
from headrace.formats.avro import (
    GenericRecordAvroTypeInfo as GenericRecordAvroTypeInfo,
)

offer_pyflink_names(__name__)
