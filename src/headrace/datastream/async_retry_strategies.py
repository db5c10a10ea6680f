"""Re-export of `headrace.functions.async_retry_strategies`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.functions.async_retry_strategies import (
    NO_RETRY_STRATEGY,
    ExponentialBackoffDelayRetryStrategy,
    FixedDelayRetryStrategy,
    NoRetryStrategy,
    RetryPredicate,
)

__all__ = [
    "NO_RETRY_STRATEGY",
    "ExponentialBackoffDelayRetryStrategy",
    "FixedDelayRetryStrategy",
    "NoRetryStrategy",
    "RetryPredicate",
]

offer_pyflink_names(__name__, "headrace.functions.async_retry_strategies")
