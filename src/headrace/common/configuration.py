"""Re-export of `headrace.config.configuration`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.config.configuration import (
    Configuration,
)

__all__ = [
    "Configuration",
]

offer_pyflink_names(__name__, "headrace.config.configuration")
