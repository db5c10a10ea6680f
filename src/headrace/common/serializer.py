"""Re-export of `headrace.types.serializer`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.serializer import *
from headrace.types.serializer import __all__ as __all__

offer_pyflink_names(__name__, "headrace.types.serializer")
