"""Re-export of `headrace.types.serialization`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.serialization import *
from headrace.types.serialization import __all__ as __all__

offer_pyflink_names(__name__, "headrace.types.serialization")
