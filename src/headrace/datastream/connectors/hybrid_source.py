"""Re-export of `headrace.connectors.hybrid.source_builder`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.hybrid.source_builder import *
from headrace.connectors.hybrid.source_builder import __all__ as __all__

offer_pyflink_names(__name__, "headrace.connectors.hybrid.source_builder")
