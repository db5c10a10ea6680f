"""Strategies for distributing records over the subtasks of the next operator: pure data, one frozen class per strategy.

`headrace.worker.exchange.routing` implements them. Names are those of Flink's plan (`ship_strategy`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from headrace.types.typeinfo import TypeInformation


@dataclass(frozen=True)
class Partitioner:
    """A strategy for choosing the target subtask of a record."""

    name: ClassVar[str] = "UNKNOWN"
    pointwise: ClassVar[bool] = False
    """Whether an upstream subtask reaches only some of the downstream subtasks."""


@dataclass(frozen=True)
class Forward(Partitioner):
    """Subtask i sends to subtask i; the only strategy that lets operators be chained.

    >>> Forward().name
    'FORWARD'
    """

    name = "FORWARD"
    pointwise = True


@dataclass(frozen=True)
class Rebalance(Partitioner):
    """Round robin over all downstream subtasks."""

    name = "REBALANCE"


@dataclass(frozen=True)
class Rescale(Partitioner):
    """Round robin inside local groups of downstream subtasks."""

    name = "RESCALE"
    pointwise = True


@dataclass(frozen=True)
class Shuffle(Partitioner):
    """A random downstream subtask for each record (seeded, so that a replay makes the same choices)."""

    name = "SHUFFLE"


@dataclass(frozen=True)
class Broadcast(Partitioner):
    """Every record to every downstream subtask."""

    name = "BROADCAST"


@dataclass(frozen=True)
class Global(Partitioner):
    """Every record to downstream subtask 0."""

    name = "GLOBAL"


@dataclass(frozen=True)
class Custom(Partitioner):
    """The subtask that the user's function `partition(key, number_of_subtasks)` returns."""

    partition: Callable[[Any, int], int]
    selector: Callable[[Any], Any]
    name = "CUSTOM"


@dataclass(frozen=True)
class KeyGroup(Partitioner):
    """By the key group of the record's key: all records of a key reach the same subtask."""

    selector: Callable[[Any], Any]
    key_type: TypeInformation | None = None
    name = "HASH"


def pointwise_targets(subtask: int, upstream: int, downstream: int) -> range:
    """Return the downstream subtasks that `subtask` of `upstream` feeds in a pointwise exchange, like in Flink.

    >>> [list(pointwise_targets(i, 2, 4)) for i in range(2)]
    [[0, 1], [2, 3]]
    >>> [list(pointwise_targets(i, 4, 2)) for i in range(4)]
    [[0], [0], [1], [1]]
    >>> [list(pointwise_targets(i, 2, 3)) for i in range(2)]
    [[0, 1], [2]]
    """
    if upstream >= downstream:
        for target in range(downstream):
            if target * upstream // downstream <= subtask < (target + 1) * upstream // downstream:
                return range(target, target + 1)
    start = (subtask * downstream + upstream - 1) // upstream
    end = ((subtask + 1) * downstream + upstream - 1) // upstream
    return range(start, end)
