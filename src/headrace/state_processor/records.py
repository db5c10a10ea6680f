"""What a savepoint's reader tells and its writer takes: operators and timers. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.common.time_domain import TimeDomain

__all__ = ["OperatorInfo", "Timer"]


@dataclass(frozen=True)
class OperatorInfo:
    """An operator as a savepoint knows it.

    >>> OperatorInfo("counter", "ab12", "Process", 2, 128, {"count": "ValueState"}).states
    {'count': 'ValueState'}
    """

    uid: str | None
    id: str
    name: str
    parallelism: int
    max_parallelism: int
    states: dict[str, str] = field(default_factory=dict)
    """The kind of each state by its name; those of operators themselves are of the kind `table`."""


@dataclass(frozen=True)
class Timer:
    """A timer of a key.

    >>> Timer(TimeDomain.EVENT_TIME, 1000, "a").timestamp
    1000
    """

    domain: TimeDomain
    timestamp: int
    key: Any
    namespace: Any = None
    """The window, for a timer of a window's trigger."""
