"""Re-export of `headrace.types.typeinfo`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.typeinfo import *
from headrace.types.typeinfo import __all__ as __all__

offer_pyflink_names(__name__, "headrace.types.typeinfo")
