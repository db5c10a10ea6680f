"""Distributes operator state to another number of subtasks.

Decides which new subtask gets what, like Flink's ``RoundRobinOperatorStateRepartitioner``; a pure function over the
snapshots of all old subtasks. Never touches keyed state, which moves by key groups. Called on restore.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from headrace.state.operator_state import OperatorSnapshot


def split_evenly(elements: Sequence[Any], parallelism: int, start: int = 0) -> tuple[list[list[Any]], int]:
    """Divide a list into one run per subtask. Return the runs and the subtask with which the next list should begin.

    Runs differ in length by at most one. The longer ones go to the subtasks from ``start`` on, so that many short
    lists do not all end up on the first subtask.

    >>> split_evenly([1, 2, 3, 4, 5], 3)
    ([[1, 2], [3, 4], [5]], 2)
    >>> split_evenly(["a"], 3, start=2)
    ([[], [], ['a']], 0)
    """
    base, longer = divmod(len(elements), parallelism)
    runs: list[list[Any]] = [[] for _ in range(parallelism)]
    position = 0
    for turn in range(parallelism):
        length = base + (turn < longer)
        runs[(start + turn) % parallelism] = list(elements[position : position + length])
        position += length
    return runs, (start + longer) % parallelism


def _names(parts: Iterable[dict[str, Any]]) -> list[str]:
    return sorted(set(chain.from_iterable(parts)))


def redistribute(snapshots: Sequence[OperatorSnapshot], parallelism: int) -> list[OperatorSnapshot]:
    """Return the operator state of each new subtask, from that of all old ones in the order of their subtasks.

    1. List states: with the same parallelism every subtask keeps its own; else the lists of all subtasks, one after
       the other, are split evenly.
    2. Union list states: every subtask gets the lists of all.
    3. Broadcast states: new subtask ``i`` gets that of old subtask ``i`` modulo their number.

    >>> old = [OperatorSnapshot(split={"o": [1, 2, 3]}, union={"u": ["x"]}), OperatorSnapshot(union={"u": ["y"]})]
    >>> for new in redistribute(old, 3):
    ...     print(new.split, new.union)
    {'o': [1]} {'u': ['x', 'y']}
    {'o': [2]} {'u': ['x', 'y']}
    {'o': [3]} {'u': ['x', 'y']}
    """
    result = [OperatorSnapshot() for _ in range(parallelism)]
    # 1
    if len(snapshots) == parallelism:
        for new, old in zip(result, snapshots, strict=True):
            new.split.update({name: list(elements) for name, elements in old.split.items()})
    else:
        start = 0
        for name in _names(snapshot.split for snapshot in snapshots):
            elements = list(chain.from_iterable(snapshot.split.get(name, ()) for snapshot in snapshots))
            runs, start = split_evenly(elements, parallelism, start)
            for new, run in zip(result, runs, strict=True):
                new.split[name] = run
    # 2
    for name in _names(snapshot.union for snapshot in snapshots):
        for new in result:
            new.union[name] = list(chain.from_iterable(snapshot.union.get(name, ()) for snapshot in snapshots))
    # 3
    if snapshots:
        for subtask, new in enumerate(result):
            old = snapshots[subtask % len(snapshots)]
            new.broadcast.update({name: dict(entries) for name, entries in old.broadcast.items()})
    return result
