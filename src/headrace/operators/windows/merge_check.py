"""Whether the `merge` of an aggregate function may be used where Flink only calls `add`.

Flink calls `merge` for sessions only, but the class requires it. So programs have methods that raise, return None or one
of the two accumulators, or forget a field, without noticing. Combining records early must not change results, so `merge`
is tried on copies of the first records before anything is combined:

1. Two records of one key and pane are added to one accumulator, and each to one of its own, in both orders. Merging the
   latter two must return an accumulator equal to the former.
2. If one of the merged accumulators alone was the right answer in all trials, they prove nothing.

Until the trials prove something, records are processed one by one. After one wrong answer or exception they always are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from itertools import islice
from typing import Any

from headrace.operators.windows.folding import AggregatedContents, Contents, isolated

_RECORDS = 512
"""How many records of each run are examined until the outcome is known."""
_PAIRS = 64
"""How many pairs of them are tried."""
_ROUNDING = 1e-9


class MergeCheck:
    """The trials of one operator.

    >>> class Count:
    ...     create_accumulator = int
    ...
    ...     def add(self, value, count):
    ...         return count + 1
    ...
    ...     def merge(self, a, b):
    ...         return a + b
    ...
    ...     def get_result(self, count):
    ...         return count
    >>> class Wrong(Count):
    ...     def merge(self, a, b):
    ...         return a
    >>> records = ["k", "k"], [0, 0], ["x", "y"]
    >>> (
    ...     MergeCheck(AggregatedContents(Count())).passes(*records),
    ...     MergeCheck(AggregatedContents(Wrong())).passes(*records),
    ... )
    (True, False)
    """

    def __init__(self, contents: Contents) -> None:
        """Take the operations on contents. Only accumulators need a check: a reduce function merges what it reduces."""
        self._contents = contents
        self._outcome = None if isinstance(contents, AggregatedContents) else True
        self._left_counts = self._right_counts = False

    def passes(self, keys: Sequence[Any], panes: Sequence[int], values: Sequence[Any]) -> bool:
        """Return whether records may be combined. Until that is known, try `merge` on the records of this run."""
        if self._outcome is None:
            self._outcome = self._examine(keys, panes, values)
        return self._outcome is True

    def _examine(self, keys: Sequence[Any], panes: Sequence[int], values: Sequence[Any]) -> bool | None:
        waiting: dict[Any, Any] = {}
        pairs = 0
        for key, pane, value in islice(zip(keys, panes, values), _RECORDS):
            place = (key, pane)
            if place not in waiting:
                waiting[place] = value
                continue
            other = waiting.pop(place)
            try:
                if not (self._is_right(other, value) and self._is_right(value, other)):
                    return False
            except Exception:  # if the record itself is the reason, the job fails where it is added to its window
                return False
            pairs += 1
            if pairs == _PAIRS:
                break
        return True if self._left_counts and self._right_counts else None

    def _is_right(self, first: Any, second: Any) -> bool:
        contents = self._contents
        added = contents.add(isolated(second), contents.first(isolated(first)))
        left, right = contents.first(isolated(first)), contents.first(isolated(second))
        left_before, right_before = deepcopy(left), deepcopy(right)  # merge may change both
        merged = contents.merge(left, right)
        self._left_counts = self._left_counts or not _alike(merged, right_before)
        self._right_counts = self._right_counts or not _alike(merged, left_before)
        return _alike(merged, added)


def _alike(a: Any, b: Any) -> bool:
    """Return whether two values are equal, numbers except for rounding. Objects without `__eq__` compare by their state."""
    if type(a) is type(b):
        if isinstance(a, float):
            return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=_ROUNDING)
        if isinstance(a, (list, tuple)):
            return len(a) == len(b) and all(map(_alike, a, b))
        if isinstance(a, dict):
            return a.keys() == b.keys() and all(_alike(value, b[key]) for key, value in a.items())
        compare: Any = type(a).__eq__
        if compare is object.__eq__:
            return a is b or _alike(a.__reduce_ex__(4)[1:3], b.__reduce_ex__(4)[1:3])
    equal = a == b
    return bool(equal.all() if hasattr(equal, "all") else equal)  # of arrays, all elements
