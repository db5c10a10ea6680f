"""Re-export of `headrace.types.row`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.row import *
from headrace.types.row import __all__ as __all__

offer_pyflink_names(__name__, "headrace.types.row")
