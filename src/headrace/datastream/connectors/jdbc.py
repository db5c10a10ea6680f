"""Re-export of `headrace.connectors.jdbc.sink_builder`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.jdbc.sink_builder import *
from headrace.connectors.jdbc.sink_builder import __all__ as __all__

offer_pyflink_names(__name__, "headrace.connectors.jdbc.sink_builder")
