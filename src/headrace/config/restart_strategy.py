"""Restart strategies: what happens when a job fails, as data.

Decides which strategies there are and their limits. Restarts nothing and has no clock: the driver reads these. Created
by programs, or from a configuration by ``restart_strategy_from``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta

from headrace.config.option_values import duration_text
from headrace.errors import ConfigurationError
from headrace.types.time import Duration, Time, millis_of

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]

Span = int | timedelta | Time | Duration


def _span(value: Span | None, what: str, at_least: int = 0) -> timedelta:
    # A plain number is in milliseconds, as in PyFlink.
    if isinstance(value, int) and not isinstance(value, bool):
        value = timedelta(milliseconds=value)
    return timedelta(milliseconds=millis_of(value, what, at_least=at_least))


def _check(holds: bool, what: str, seen: object, expected: str) -> None:
    if not holds:
        raise ConfigurationError(f"{what} of a restart strategy is out of range", seen=seen, expected=expected)


def _text(span: timedelta) -> str:
    return duration_text(Duration.of_millis(span // timedelta(milliseconds=1)))


class RestartStrategyConfiguration(ABC):
    """The base of all restart strategies; immutable.

    >>> isinstance(RestartStrategies.no_restart(), RestartStrategyConfiguration)
    True
    """

    @abstractmethod
    def get_description(self) -> str:
        """Return a description in one line."""


class RestartStrategies:
    """Creates restart strategies.

    >>> RestartStrategies.fixed_delay_restart(3, 1000).get_restart_attempts()
    3
    """

    @dataclass(frozen=True)
    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job fails without a restart.

        >>> RestartStrategies.no_restart().get_description()
        'No restart'
        """

        def get_description(self) -> str:
            """Return a description in one line."""
            return "No restart"

    @dataclass(frozen=True)
    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The configuration decides, or else Flink's default.

        >>> RestartStrategies.fall_back_restart().get_description()
        'Restart as the configuration says'
        """

        def get_description(self) -> str:
            """Return a description in one line."""
            return "Restart as the configuration says"

    @dataclass(frozen=True, init=False)
    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """A fixed number of restarts, each after the same delay.

        >>> RestartStrategies.fixed_delay_restart(3, 1000).get_description()
        'Restart up to 3 times, each after 1 s'
        """

        restart_attempts: int
        delay: timedelta

        def __init__(
            self, restart_attempts: int | None = None, delay_between_attempts_interval: Span | None = None
        ) -> None:
            """Check and store the values; a plain number is a delay in milliseconds."""
            attempts = -1 if restart_attempts is None else restart_attempts
            _check(attempts >= 0, "The number of attempts", restart_attempts, "0 or more")
            object.__setattr__(self, "restart_attempts", attempts)
            object.__setattr__(self, "delay", _span(delay_between_attempts_interval, "delay_between_attempts"))

        def get_restart_attempts(self) -> int:
            """Return the number of restarts."""
            return self.restart_attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the delay before a restart."""
            return self.delay

        def get_description(self) -> str:
            """Return a description in one line."""
            return f"Restart up to {self.restart_attempts} times, each after {_text(self.delay)}"

    @dataclass(frozen=True, init=False)
    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restarts unless there are too many failures within an interval.

        >>> RestartStrategies.failure_rate_restart(3, 60_000, 1000).get_description()
        'Restart after 1 s, unless more than 3 failures come within 1 min'
        """

        max_failure_rate: int
        failure_interval: timedelta
        delay: timedelta

        def __init__(
            self,
            max_failure_rate: int | None = None,
            failure_interval: Span | None = None,
            delay_between_attempts_interval: Span | None = None,
        ) -> None:
            """Check and store the values; plain numbers are durations in milliseconds."""
            rate = 0 if max_failure_rate is None else max_failure_rate
            _check(rate > 0, "The number of failures", max_failure_rate, "1 or more")
            object.__setattr__(self, "max_failure_rate", rate)
            object.__setattr__(self, "failure_interval", _span(failure_interval, "failure_interval", 1))
            object.__setattr__(self, "delay", _span(delay_between_attempts_interval, "delay_interval"))

        def get_max_failure_rate(self) -> int:
            """Return the number of failures that are tolerated within the interval."""
            return self.max_failure_rate

        def get_failure_interval(self) -> timedelta:
            """Return the interval in which failures are counted."""
            return self.failure_interval

        def get_delay_between_attempts_interval(self) -> timedelta:
            """Return the delay before a restart."""
            return self.delay

        def get_description(self) -> str:
            """Return a description in one line."""
            return (
                f"Restart after {_text(self.delay)}, unless more than {self.max_failure_rate} failures come within "
                f"{_text(self.failure_interval)}"
            )

    @dataclass(frozen=True, init=False)
    class ExponentialDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restarts after a delay that grows with each failure and is reset after a time without failure.

        >>> RestartStrategies.exponential_delay_restart(1000, 60_000, 2.0, 3_600_000, 0.1).get_description()
        'Restart after 1 s, then 2.0 times as long each time up to 1 min; reset after 1 h without failure'
        """

        initial_backoff: timedelta
        max_backoff: timedelta
        backoff_multiplier: float
        reset_backoff_threshold: timedelta
        jitter_factor: float
        attempts_before_reset_backoff: int | None

        def __init__(
            self,
            initial_backoff: Span,
            max_backoff: Span,
            backoff_multiplier: float,
            reset_backoff_threshold: Span,
            jitter_factor: float,
            attempts_before_reset_backoff: int | None = None,
        ) -> None:
            """Check and store the values; plain numbers are durations in milliseconds."""
            first = _span(initial_backoff, "initial_backoff", 1)
            longest = _span(max_backoff, "max_backoff", 1)
            _check(first <= longest, "The first delay", _text(first), f"at most the longest, {_text(longest)}")
            _check(backoff_multiplier >= 1.0, "The multiplier", backoff_multiplier, "1.0 or more")
            _check(0.0 <= jitter_factor <= 1.0, "The jitter", jitter_factor, "0.0 to 1.0")
            attempts = attempts_before_reset_backoff
            _check(attempts is None or attempts > 0, "The number of attempts", attempts, "1 or more")
            object.__setattr__(self, "initial_backoff", first)
            object.__setattr__(self, "max_backoff", longest)
            object.__setattr__(self, "backoff_multiplier", backoff_multiplier)
            object.__setattr__(self, "reset_backoff_threshold", _span(reset_backoff_threshold, "reset_threshold", 1))
            object.__setattr__(self, "jitter_factor", jitter_factor)
            object.__setattr__(self, "attempts_before_reset_backoff", attempts)

        def get_description(self) -> str:
            """Return a description in one line."""
            return (
                f"Restart after {_text(self.initial_backoff)}, then {self.backoff_multiplier} times as long each time "
                f"up to {_text(self.max_backoff)}; reset after {_text(self.reset_backoff_threshold)} without failure"
            )

    @staticmethod
    def no_restart() -> NoRestartStrategyConfiguration:
        """Return the strategy that never restarts.

        >>> RestartStrategies.no_restart() == RestartStrategies.no_restart()
        True
        """
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> FallbackRestartStrategyConfiguration:
        """Return the strategy that leaves the choice to the configuration.

        >>> RestartStrategies.fall_back_restart() == RestartStrategies.no_restart()
        False
        """
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: Span
    ) -> FixedDelayRestartStrategyConfiguration:
        """Return the strategy that restarts a number of times, after a delay (milliseconds or a duration).

        >>> RestartStrategies.fixed_delay_restart(3, timedelta(seconds=5)).get_delay_between_attempts_interval()
        datetime.timedelta(seconds=5)
        """
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(restart_attempts, delay_between_attempts)

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: Span, delay_interval: Span
    ) -> FailureRateRestartStrategyConfiguration:
        """Return the strategy that restarts unless there are too many failures in an interval (milliseconds or durations).

        >>> RestartStrategies.failure_rate_restart(2, 60_000, 1000).get_failure_interval()
        datetime.timedelta(seconds=60)
        """
        return RestartStrategies.FailureRateRestartStrategyConfiguration(failure_rate, failure_interval, delay_interval)

    @staticmethod
    def exponential_delay_restart(
        initial_backoff: Span,
        max_backoff: Span,
        backoff_multiplier: float,
        reset_backoff_threshold: Span,
        jitter_factor: float,
    ) -> ExponentialDelayRestartStrategyConfiguration:
        """Return the strategy whose delay grows with each failure (milliseconds or durations).

        >>> RestartStrategies.exponential_delay_restart(1, 10, 1.5, 1000, 0.0).max_backoff
        datetime.timedelta(microseconds=10000)
        """
        return RestartStrategies.ExponentialDelayRestartStrategyConfiguration(
            initial_backoff, max_backoff, backoff_multiplier, reset_backoff_threshold, jitter_factor
        )
