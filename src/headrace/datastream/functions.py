"""Re-export of `headrace.functions`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.functions import *
from headrace.functions import __all__ as __all__

offer_pyflink_names(__name__, "headrace.functions")
