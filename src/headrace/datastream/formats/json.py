"""Re-export of `headrace.formats.json`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.json import (
    JsonReaderFormat as JsonReaderFormat,
)
from headrace.formats.json import (
    JsonRowDeserializationSchema as JsonRowDeserializationSchema,
)
from headrace.formats.json import (
    JsonRowSerializationSchema as JsonRowSerializationSchema,
)

offer_pyflink_names(__name__)
