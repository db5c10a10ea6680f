"""Re-export of `headrace.types.time`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.time import *
from headrace.types.time import __all__ as __all__

offer_pyflink_names(__name__, "headrace.types.time")
