"""Re-export of `headrace.functions.async_retry_predicates`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.functions.async_retry_predicates import *
from headrace.functions.async_retry_predicates import __all__ as __all__

offer_pyflink_names(__name__, "headrace.functions.async_retry_predicates")
