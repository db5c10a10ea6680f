"""Re-export of `headrace.types.time`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.types.time import (
    Duration,
    Instant,
    Time,
    instant_of,
    millis_of,
    utc_moment,
    utc_text,
)

__all__ = [
    "Duration",
    "Instant",
    "Time",
    "instant_of",
    "millis_of",
    "utc_moment",
    "utc_text",
]

offer_pyflink_names(__name__, "headrace.types.time")
