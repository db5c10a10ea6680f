"""Re-export of `headrace.functions.async_retry_predicates`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.functions.async_retry_predicates import (
    empty_result_predicate as empty_result_predicate,
)
from headrace.functions.async_retry_predicates import (
    exception_type_predicate as exception_type_predicate,
)
from headrace.functions.async_retry_predicates import (
    has_exception_predicate as has_exception_predicate,
)

offer_pyflink_names(__name__)
