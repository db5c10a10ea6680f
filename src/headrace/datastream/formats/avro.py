"""Re-export of `headrace.formats.avro`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.avro import (
    AvroBulkWriters,
    AvroInputFormat,
    AvroReaderFormat,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
    GenericRecordAvroTypeInfo,
)

__all__ = [
    "AvroBulkWriters",
    "AvroInputFormat",
    "AvroReaderFormat",
    "AvroRowDeserializationSchema",
    "AvroRowSerializationSchema",
    "AvroSchema",
    "GenericRecordAvroTypeInfo",
]

offer_pyflink_names(__name__, "headrace.formats.avro")
