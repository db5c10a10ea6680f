"""Operators and timers, as the reader returns them and the writer accepts them. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.common.time_domain import TimeDomain


@dataclass(frozen=True)
class OperatorInfo:
    """An operator in a savepoint.

    >>> OperatorInfo("counter", "ab12", "Process", 2, 128, {"count": "ValueState"}).states
    {'count': 'ValueState'}
    """

    uid: str | None
    id: str
    name: str
    parallelism: int
    max_parallelism: int
    states: dict[str, str] = field(default_factory=dict)
    """The kind of each state by name. State that operators keep themselves has the kind `table`."""


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
    """The window, if the timer belongs to a window's trigger."""
