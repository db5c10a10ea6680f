"""Re-export of `headrace.config.restart_strategy`, under PyFlink's module path."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.config.restart_strategy import (
    RestartStrategies,
    RestartStrategyConfiguration,
)

__all__ = [
    "RestartStrategies",
    "RestartStrategyConfiguration",
]

offer_pyflink_names(__name__, "headrace.config.restart_strategy")
