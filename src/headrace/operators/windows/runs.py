"""Runs: successive records of one key and pane (records of other keys may be between them), combined into one.

Decides which records may be combined before they reach their windows. A pane is the longest time span that no window's end
divides: its records belong to the same windows, and are late together. A run ends when a record of the same key belongs to
another pane. So the runs of a key are its records in the order of their arrival, and the runs of all keys are in the order
of their first records. For every associative function, adding runs to windows has the same results in the same order as
adding the records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrace.operators.windows.folding import AggregatedContents, Contents, isolated

Run = list[Any]
"""[pane, number of records, contents]"""


class Runs:
    """The records combined so far.

    >>> from headrace.operators.windows.folding import ReducedContents
    >>> runs = Runs(ReducedContents(lambda a, b: a + b))
    >>> runs.add(["a", "b", "a", "a"], [0, 0, 0, 10], iter([1, 2, 3, 4]))
    >>> runs.keys, runs.runs
    (['a', 'b', 'a'], [[0, 2, 4], [0, 1, 2], [10, 1, 4]])
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._open: dict[Any, Run] = {}
        self.keys: list[Any] = []
        self.runs: list[Run] = []
        self.records = 0

    def add(self, keys: list[Any], panes: list[int], records: Iterator[Any]) -> None:
        contents, last = self._contents, self._open.get
        add = contents.add
        first = contents.first if isinstance(contents, AggregatedContents) else isolated
        for key, pane, value in zip(keys, panes, records):
            run = last(key)
            if run is not None and run[0] == pane:
                run[1] += 1
                run[2] = add(value, run[2])
            else:
                self._open[key] = run = [pane, 1, first(value)]
                self.keys.append(key)
                self.runs.append(run)
        self.records += len(keys)

    def take(self) -> tuple[list[Any], list[Run]]:
        """Return keys and runs, and start over."""
        keys, runs = self.keys, self.runs
        self._open, self.keys, self.runs, self.records = {}, [], [], 0
        return keys, runs
