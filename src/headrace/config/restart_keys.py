"""Keys of restart strategies, with Flink's names and defaults, and the strategy that they describe.

Does not decide what happens without a strategy: the driver does, because it knows whether there are checkpoints.
"""

from __future__ import annotations

from headrace.config.config_options import ConfigOptions
from headrace.config.configuration import Configuration, value_of
from headrace.config.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from headrace.errors import ConfigurationError
from headrace.types.time import Duration

_key = ConfigOptions.OptionBuilder

RESTART_STRATEGY = _key("restart-strategy.type", "restart-strategy").string_type().no_default_value()

_FIXED = "restart-strategy.fixed-delay."
_FIXED_ATTEMPTS = _key(_FIXED + "attempts").int_type().default_value(1)
_FIXED_DELAY = _key(_FIXED + "delay").duration_type().default_value(Duration.of_seconds(1))

_RATE = "restart-strategy.failure-rate."
_RATE_FAILURES = _key(_RATE + "max-failures-per-interval").int_type().default_value(1)
_RATE_INTERVAL = _key(_RATE + "failure-rate-interval").duration_type().default_value(Duration.of_minutes(1))
_RATE_DELAY = _key(_RATE + "delay").duration_type().default_value(Duration.of_seconds(1))

_GROWING = "restart-strategy.exponential-delay."
_FIRST = _key(_GROWING + "initial-backoff").duration_type().default_value(Duration.of_seconds(1))
_LONGEST = _key(_GROWING + "max-backoff").duration_type().default_value(Duration.of_minutes(1))
_MULTIPLIER = _key(_GROWING + "backoff-multiplier").double_type().default_value(1.5)
_RESET = _key(_GROWING + "reset-backoff-threshold").duration_type().default_value(Duration.of_hours(1))
_JITTER = _key(_GROWING + "jitter-factor").double_type().default_value(0.1)
_ATTEMPTS = _key(_GROWING + "attempts-before-reset-backoff").int_type().no_default_value()

_NONE_NAMES = ("none", "off", "disable", "false", "no-restart")


def restart_strategy_from(configuration: Configuration) -> RestartStrategyConfiguration | None:
    """Return the strategy of a configuration, or ``None`` if it does not name one.

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
            value_of(configuration, _FIXED_ATTEMPTS), value_of(configuration, _FIXED_DELAY)
        )
    if kind in ("failure-rate", "failurerate"):
        return RestartStrategies.failure_rate_restart(
            value_of(configuration, _RATE_FAILURES),
            value_of(configuration, _RATE_INTERVAL),
            value_of(configuration, _RATE_DELAY),
        )
    if kind in ("exponential-delay", "exponentialdelay"):
        return RestartStrategies.ExponentialDelayRestartStrategyConfiguration(
            value_of(configuration, _FIRST),
            value_of(configuration, _LONGEST),
            value_of(configuration, _MULTIPLIER),
            value_of(configuration, _RESET),
            value_of(configuration, _JITTER),
            configuration.get(_ATTEMPTS),
        )
    raise ConfigurationError(
        "Unknown restart strategy",
        seen=repr(name),
        expected="none, fixed-delay, failure-rate or exponential-delay",
        remedy=f"correct {RESTART_STRATEGY.key}",
    )
