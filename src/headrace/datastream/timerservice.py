"""Re-export of `headrace.functions.timer_service`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.functions.timer_service import *
from headrace.functions.timer_service import __all__ as __all__

offer_pyflink_names(__name__, "headrace.functions.timer_service")
