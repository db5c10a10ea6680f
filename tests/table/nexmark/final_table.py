"""Decides which table a changelog leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any


def final_table(changes: Iterable[tuple[str, tuple[Any, ...]]], key: Sequence[int] = ()) -> Counter[tuple[Any, ...]]:
    """Return the rows that are left; a change replaces the row of its key, if there is a key.

    >>> final_table([("+I", (1, "a")), ("-U", (1, "a")), ("+U", (1, "b"))])
    Counter({(1, 'b'): 1})
    >>> final_table([("+I", (1, "a")), ("+U", (1, "b"))], [0])
    Counter({(1, 'b'): 1})
    """
    if not key:
        counts: Counter[tuple[Any, ...]] = Counter()
        for kind, row in changes:
            counts[row] += 1 if kind in ("+I", "+U") else -1
        return +counts if min(counts.values(), default=0) >= 0 else counts
    kept: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for kind, row in changes:
        chosen = tuple(row[number] for number in key)
        kept.pop(chosen, None)
        if kind in ("+I", "+U"):
            kept[chosen] = row
    return Counter(kept.values())
