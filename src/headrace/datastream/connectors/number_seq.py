"""Re-export of `headrace.connectors.generated.number_sequence`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.base.definitions import Source as Source
from headrace.connectors.generated.number_sequence import *
from headrace.connectors.generated.number_sequence import __all__ as __all__

offer_pyflink_names(__name__, "headrace.connectors.generated.number_sequence")
