"""Re-export of `headrace.types.serialization`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.serialization import (
    BulkWriter,
    BulkWriterFactory,
    ByteArraySchema,
    DeserializationSchema,
    Encoder,
    RowDataBulkWriterFactory,
    RowFieldExtractorSchema,
    SerializationSchema,
    SimpleStringSchema,
)

__all__ = [
    "BulkWriter",
    "BulkWriterFactory",
    "ByteArraySchema",
    "DeserializationSchema",
    "Encoder",
    "RowDataBulkWriterFactory",
    "RowFieldExtractorSchema",
    "SerializationSchema",
    "SimpleStringSchema",
]

offer_pyflink_names(__name__, "headrace.types.serialization")
