"""Re-export of `headrace.connectors.base.definitions`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.base.definitions import (
    DeliveryGuarantee,
    Sink,
    Source,
    StreamTransformer,
    SupportsPreprocessing,
)

__all__ = [
    "DeliveryGuarantee",
    "Sink",
    "Source",
    "StreamTransformer",
    "SupportsPreprocessing",
]

offer_pyflink_names(__name__, "headrace.connectors.base.definitions")
