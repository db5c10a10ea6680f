"""Re-export of `headrace.connectors.base.definitions`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.base.definitions import *
from headrace.connectors.base.definitions import __all__ as __all__

offer_pyflink_names(__name__, "headrace.connectors.base.definitions")
