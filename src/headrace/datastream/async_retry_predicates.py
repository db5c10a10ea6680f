"""Re-export of the predicates of `headrace.functions.async_retry_strategies`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.functions.async_retry_strategies import (
    empty_result_predicate,
    exception_type_predicate,
    has_exception_predicate,
)

__all__ = ["empty_result_predicate", "exception_type_predicate", "has_exception_predicate"]

offer_pyflink_names(__name__)
