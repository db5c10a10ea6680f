"""Re-export of `headrace.types.serialization`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.serialization import (
    BulkWriter as BulkWriter,
)
from headrace.types.serialization import (
    BulkWriterFactory as BulkWriterFactory,
)
from headrace.types.serialization import (
    ByteArraySchema as ByteArraySchema,
)
from headrace.types.serialization import (
    DeserializationSchema as DeserializationSchema,
)
from headrace.types.serialization import (
    Encoder as Encoder,
)
from headrace.types.serialization import (
    RowDataBulkWriterFactory as RowDataBulkWriterFactory,
)
from headrace.types.serialization import (
    RowFieldExtractorSchema as RowFieldExtractorSchema,
)
from headrace.types.serialization import (
    SerializationSchema as SerializationSchema,
)
from headrace.types.serialization import (
    SimpleStringSchema as SimpleStringSchema,
)

offer_pyflink_names(__name__)
