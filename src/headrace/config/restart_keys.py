"""The options of restart strategies, under Flink's keys and with Flink's defaults.

Decides which strategy a configuration asks for. Never decides what happens without one: the runtime does, which knows
whether there are checkpoints.
"""

from __future__ import annotations

from typing import TypeVar

from headrace.config.config_options import ConfigOption, ConfigOptions
from headrace.config.configuration import Configuration
from headrace.config.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from headrace.errors import ConfigurationError
from headrace.types.time import Duration

__all__ = ["RESTART_STRATEGY", "restart_strategy_from"]

T = TypeVar("T")

RESTART_STRATEGY = ConfigOptions.key("restart-strategy.type").string_type().no_default_value()
RESTART_STRATEGY = RESTART_STRATEGY.with_fallback_keys("restart-strategy")

_FIXED = "restart-strategy.fixed-delay."
_FIXED_ATTEMPTS = ConfigOptions.key(_FIXED + "attempts").int_type().default_value(1)
_FIXED_DELAY = ConfigOptions.key(_FIXED + "delay").duration_type().default_value(Duration.of_seconds(1))

_RATE = "restart-strategy.failure-rate."
_RATE_FAILURES = ConfigOptions.key(_RATE + "max-failures-per-interval").int_type().default_value(1)
_RATE_INTERVAL = (
    ConfigOptions.key(_RATE + "failure-rate-interval").duration_type().default_value(Duration.of_minutes(1))
)
_RATE_DELAY = ConfigOptions.key(_RATE + "delay").duration_type().default_value(Duration.of_seconds(1))

_GROWING = "restart-strategy.exponential-delay."
_FIRST = ConfigOptions.key(_GROWING + "initial-backoff").duration_type().default_value(Duration.of_seconds(1))
_LONGEST = ConfigOptions.key(_GROWING + "max-backoff").duration_type().default_value(Duration.of_minutes(1))
_MULTIPLIER = ConfigOptions.key(_GROWING + "backoff-multiplier").double_type().default_value(1.5)
_RESET = ConfigOptions.key(_GROWING + "reset-backoff-threshold").duration_type().default_value(Duration.of_hours(1))
_JITTER = ConfigOptions.key(_GROWING + "jitter-factor").double_type().default_value(0.1)
_ATTEMPTS = ConfigOptions.key(_GROWING + "attempts-before-reset-backoff").int_type().no_default_value()

_NONE_NAMES = ("none", "off", "disable", "false", "no-restart")


def _set(configuration: Configuration, option: ConfigOption[T]) -> T:
    value = configuration.get(option)
    assert value is not None  # the options above have defaults
    return value


def restart_strategy_from(configuration: Configuration) -> RestartStrategyConfiguration | None:
    """Give the strategy that a configuration asks for, or ``None`` if it asks for none.

    >>> asked = Configuration().set_string("restart-strategy.type", "fixed-delay")
    >>> restart_strategy_from(asked.set_string("restart-strategy.fixed-delay.attempts", "4")).get_description()
    'Restart up to 4 times, each after 1 s'
    >>> restart_strategy_from(Configuration()) is None
    True
    """
    name = configuration.get(RESTART_STRATEGY)
    if name is None:
        return None
    kind = name.strip().lower()
    if kind in _NONE_NAMES:
        return RestartStrategies.no_restart()
    if kind in ("fixed-delay", "fixeddelay"):
        return RestartStrategies.fixed_delay_restart(
            _set(configuration, _FIXED_ATTEMPTS), _set(configuration, _FIXED_DELAY)
        )
    if kind in ("failure-rate", "failurerate"):
        return RestartStrategies.failure_rate_restart(
            _set(configuration, _RATE_FAILURES), _set(configuration, _RATE_INTERVAL), _set(configuration, _RATE_DELAY)
        )
    if kind in ("exponential-delay", "exponentialdelay"):
        return RestartStrategies.ExponentialDelayRestartStrategyConfiguration(
            _set(configuration, _FIRST),
            _set(configuration, _LONGEST),
            _set(configuration, _MULTIPLIER),
            _set(configuration, _RESET),
            _set(configuration, _JITTER),
            configuration.get(_ATTEMPTS),
        )
    raise ConfigurationError(
        "There is no such restart strategy",
        seen=repr(name),
        expected="none, fixed-delay, failure-rate or exponential-delay",
        remedy=f"correct {RESTART_STRATEGY.key}",
    )
