"""Re-export of `headrace.connectors.hybrid`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.base.definitions import Source as Source
from headrace.connectors.hybrid import *
from headrace.connectors.hybrid import __all__ as __all__

offer_pyflink_names(__name__, "headrace.connectors.hybrid")
