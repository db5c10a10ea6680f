"""Re-export of `headrace.connectors.base.definitions`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.base.definitions import (
    DeliveryGuarantee as DeliveryGuarantee,
)
from headrace.connectors.base.definitions import (
    Sink as Sink,
)
from headrace.connectors.base.definitions import (
    Source as Source,
)
from headrace.connectors.base.definitions import (
    StreamTransformer as StreamTransformer,
)
from headrace.connectors.base.definitions import (
    SupportsPreprocessing as SupportsPreprocessing,
)

offer_pyflink_names(__name__)
