"""Re-export of `headrace.connectors.generated.number_sequence_builder`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.generated.number_sequence_builder import *
from headrace.connectors.generated.number_sequence_builder import __all__ as __all__

offer_pyflink_names(__name__, "headrace.connectors.generated.number_sequence_builder")
