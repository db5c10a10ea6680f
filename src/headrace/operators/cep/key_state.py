"""The live branches of one key: changed by the matcher, saved by checkpoints; and the queue of complete matches.

Flink keeps complete matches in a `java.util.PriorityQueue`. With a skip strategy the first of several matches with one start
removes the others, so its exact order is part of the semantics. Python's `heapq` breaks ties differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from headrace.operators.cep.shared_buffer import Frozen, Link, frozen, thawed

Branch = tuple[int, "Link | None", int, int, int]
"""(state, newest link, number of the first event, its time, time of the newest event)"""


class BufferSize(NamedTuple):
    """The size of a key's state: branches, waiting complete matches, links, and events."""

    branches: int
    waiting: int
    links: int
    events: int


class KeyState:
    """Branches in order of their start, complete matches that wait for earlier branches, and the event counter.

    `states` are the states in which there may be branches (None: not known). `timer` is the time for which a timer of this key is
    registered. `blocked`: the start itself met a NOT, so nothing can start any more.
    """

    __slots__ = ("blocked", "branches", "complete", "next_number", "states", "timer")

    def __init__(self) -> None:
        self.branches: list[Branch] = []
        self.complete: list[Branch] = []
        self.next_number = 0
        self.states: set[int] | None = None
        self.timer: int | None = None
        self.blocked = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to save."""
        return not self.branches and not self.complete and not self.blocked

    def size(self) -> BufferSize:
        """Count the contents; links and events count once, however many branches share them."""
        (events, links), _ = frozen(b[1] for b in (*self.branches, *self.complete))
        return BufferSize(len(self.branches), len(self.complete), len(links), len(events))

    def __reduce__(self) -> tuple[Any, ...]:
        both = [*self.branches, *self.complete]
        tables, indexes = frozen(b[1] for b in both)
        flat = [(b[0], index, *b[2:]) for b, index in zip(both, indexes)]
        return _rebuild_key_state, (tables, flat, len(self.branches), self.next_number, self.timer, self.blocked)


def _rebuild_key_state(
    tables: Frozen, flat: list[Any], branches: int, next_number: int, timer: int | None, blocked: bool
) -> KeyState:
    heads = thawed(tables, [b[1] for b in flat])
    both: list[Any] = [(b[0], head, *b[2:]) for b, head in zip(flat, heads)]
    state = KeyState()
    state.branches, state.complete = both[:branches], both[branches:]
    state.next_number, state.timer, state.blocked = next_number, timer, blocked
    return state


START = 2
"""The place of the first event's number in a branch."""


def push(heap: list[Any], item: Any) -> None:
    """Add an item; equal ones do not overtake each other on the way up."""
    heap.append(item)
    key = item[START]
    at = len(heap) - 1
    while at > 0:
        parent = (at - 1) >> 1
        above = heap[parent]
        if key >= above[START]:
            break
        heap[at] = above
        at = parent
    heap[at] = item


def pop(heap: list[Any]) -> Any:
    """Take the first item; the last one takes its place and sinks below smaller ones only.

    >>> heap = []
    >>> for item in "abc":
    ...     push(heap, (0, item, 7))
    >>> "".join(pop(heap)[1] for _ in range(3))
    'acb'
    """
    first = heap[0]
    last = heap.pop()
    if heap:
        _sink(heap, 0, last)
    return first


def keep(heap: list[Any], wanted: Callable[[Any], bool]) -> None:
    """Remove unwanted items."""
    kept = [item for item in heap if wanted(item)]
    if len(kept) == len(heap):
        return
    heap[:] = kept
    for at in range((len(kept) >> 1) - 1, -1, -1):
        _sink(heap, at, heap[at])


def _sink(heap: list[Any], at: int, item: Any) -> None:
    size = len(heap)
    key = item[START]
    half = size >> 1
    while at < half:
        child = 2 * at + 1
        right = child + 1
        if right < size and heap[child][START] > heap[right][START]:
            child = right
        if key <= heap[child][START]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = item
