"""The queue of complete matches: by the start of the match; the order of equal ones is Java's.

Flink keeps complete matches in a `java.util.PriorityQueue`. With a skip strategy the first of several matches with one start
removes the others, so its exact order is part of the semantics. Python's `heapq` breaks ties differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
