"""Re-export of `headrace.connectors.jdbc.sink`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.jdbc.sink import *
from headrace.connectors.jdbc.sink import __all__ as __all__

offer_pyflink_names(__name__, "headrace.connectors.jdbc.sink")
