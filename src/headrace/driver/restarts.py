"""Decides whether and when a failed job restarts: Flink's strategies as small state machines. The clock is injected."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import Protocol

from headrace.checkpoint.errors import FencedError, RestoreRefusedError, UntrustedStateError
from headrace.checkpoint.manifests import IncompatibleStateError
from headrace.config.restart_strategy import RestartStrategies, RestartStrategyConfiguration
from headrace.errors import CloseTimeoutError, ConfigurationError, HeadraceError, StateMigrationError

_PERMANENT = (
    CloseTimeoutError,
    ConfigurationError,
    FencedError,
    IncompatibleStateError,
    RestoreRefusedError,
    StateMigrationError,
    UntrustedStateError,
)


def can_restart_after(failure: HeadraceError) -> bool:
    """Say whether a restart could help: the next attempt would fail in the same way after a wrong configuration.

    >>> can_restart_after(ConfigurationError("No such key")), can_restart_after(HeadraceError("A process died"))
    (False, True)
    """
    return not isinstance(failure, _PERMANENT)


class RestartPolicy(Protocol):
    """Asked at each failure of the job."""

    def delay(self, now: float) -> float | None:
        """Return the seconds to wait before the job that failed at `now` restarts; None if it must not."""
        ...


class _Never:
    def delay(self, now: float) -> float | None:
        return None


class _FixedDelay:
    def __init__(self, attempts: int, delay: float) -> None:
        self._left = attempts
        self._delay = delay

    def delay(self, now: float) -> float | None:
        if self._left <= 0:
            return None
        self._left -= 1
        return self._delay


class _FailureRate:
    """Give up after `most` failures within the interval."""

    def __init__(self, most: int, interval: float, delay: float) -> None:
        self._most, self._interval, self._delay = most, interval, delay
        self._failures: deque[float] = deque()

    def delay(self, now: float) -> float | None:
        while self._failures and self._failures[0] < now - self._interval:
            self._failures.popleft()
        if len(self._failures) >= self._most:
            return None
        self._failures.append(now)
        return self._delay


class _ExponentialDelay:
    """Increase the delay with each failure; reset it after a long time without one."""

    def __init__(
        self,
        strategy: RestartStrategies.ExponentialDelayRestartStrategyConfiguration,
        random_number: Callable[[], float] = random.random,
    ) -> None:
        self._first = _seconds(strategy.initial_backoff)
        self._longest = _seconds(strategy.max_backoff)
        self._multiplier = strategy.backoff_multiplier
        self._reset = _seconds(strategy.reset_backoff_threshold)
        self._jitter = strategy.jitter_factor
        self._most = strategy.attempts_before_reset_backoff
        self._random = random_number
        self._current = self._first
        self._attempts = 0
        self._last_start: float | None = None

    def delay(self, now: float) -> float | None:
        if self._last_start is not None and now - self._last_start >= self._reset + self._current:
            self._current, self._attempts = self._first, 0
        if self._most is not None and self._attempts >= self._most:
            return None
        self._attempts += 1
        spread = self._current * self._jitter
        delay = min(self._longest, max(self._first, self._current + spread * (2 * self._random() - 1)))
        self._current = min(self._longest, self._current * self._multiplier)
        self._last_start = now
        return delay


def policy_for(strategy: RestartStrategyConfiguration, checkpointing: bool) -> RestartPolicy:
    """Return the policy of a strategy. Without a strategy, a job with checkpoints always restarts, any other never.

    >>> policy = policy_for(RestartStrategies.fixed_delay_restart(2, 500), checkpointing=False)
    >>> policy.delay(0.0), policy.delay(1.0), policy.delay(2.0)
    (0.5, 0.5, None)
    >>> policy_for(RestartStrategies.fall_back_restart(), checkpointing=False).delay(0.0) is None
    True
    """
    kinds = RestartStrategies
    if isinstance(strategy, kinds.FixedDelayRestartStrategyConfiguration):
        return _FixedDelay(strategy.restart_attempts, _seconds(strategy.delay))
    if isinstance(strategy, kinds.FailureRateRestartStrategyConfiguration):
        return _FailureRate(strategy.max_failure_rate, _seconds(strategy.failure_interval), _seconds(strategy.delay))
    if isinstance(strategy, kinds.ExponentialDelayRestartStrategyConfiguration):
        return _ExponentialDelay(strategy)
    if isinstance(strategy, kinds.FallbackRestartStrategyConfiguration) and checkpointing:
        second = timedelta(seconds=1)
        return _ExponentialDelay(
            kinds.ExponentialDelayRestartStrategyConfiguration(
                second, timedelta(minutes=1), 1.5, timedelta(hours=1), 0.1
            )
        )
    return _Never()


def _seconds(span: timedelta) -> float:
    return span.total_seconds()
