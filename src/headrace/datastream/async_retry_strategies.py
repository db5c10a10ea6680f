"""Re-export of `headrace.functions.async_retry_strategies`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.functions.async_retry_strategies import (
    NO_RETRY_STRATEGY as NO_RETRY_STRATEGY,
)
from headrace.functions.async_retry_strategies import (
    ExponentialBackoffDelayRetryStrategy as ExponentialBackoffDelayRetryStrategy,
)
from headrace.functions.async_retry_strategies import (
    FixedDelayRetryStrategy as FixedDelayRetryStrategy,
)
from headrace.functions.async_retry_strategies import (
    NoRetryStrategy as NoRetryStrategy,
)
from headrace.functions.async_retry_strategies import (
    RetryPredicate as RetryPredicate,
)

offer_pyflink_names(__name__)
