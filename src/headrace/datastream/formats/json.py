"""Re-export of `headrace.formats.json`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.formats.json import (
    JsonReaderFormat,
    JsonRowDeserializationSchema,
    JsonRowSerializationSchema,
)

__all__ = [
    "JsonReaderFormat",
    "JsonRowDeserializationSchema",
    "JsonRowSerializationSchema",
]

offer_pyflink_names(__name__, "headrace.formats.json")
