"""Which windows of a key are open, and under which window each keeps its contents, where windows can be merged.

Contents do not move when a window grows: they stay with the first window, and this set knows it. Saved per key like any state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headrace.state.table import Table
from headrace.windows.assigner import MergingWindowAssigner

OnMerge = Callable[[Any, list[Any], Any, list[Any]], None]
"""on_merge(new window, windows that it is made of, window of its contents, windows of the other contents)."""


class _Found(MergingWindowAssigner.MergeCallback[Any]):
    """Notes what the assigner finds."""

    def __init__(self) -> None:
        self.merges: list[tuple[Any, list[Any]]] = []

    def merge(self, to_be_merged: Iterable[Any], merge_result: Any) -> None:
        self.merges.append((merge_result, list(to_be_merged)))


class MergingWindowSet:
    """The open windows of one key at a time: `table.data[key]` maps each to the window that its contents are filed under.

    >>> from headrace.windows.session_windows import EventTimeSessionWindows
    >>> from headrace.windows.window_types import TimeWindow
    >>> from headrace.state.heap_table import HeapTable
    >>> windows = MergingWindowSet(EventTimeSessionWindows(5), HeapTable("windows", "table"))
    >>> windows.add("a", TimeWindow(0, 5), print)
    TimeWindow(start=0, end=5)
    >>> show = lambda whole, parts, contents, others: print(whole, "keeps", contents)
    >>> windows.add("a", TimeWindow(3, 8), show)
    TimeWindow(start=0, end=8) keeps TimeWindow(start=0, end=5)
    TimeWindow(start=0, end=8)
    >>> windows.contents_of("a", TimeWindow(0, 8))
    TimeWindow(start=0, end=5)
    """

    def __init__(self, assigner: MergingWindowAssigner[Any, Any], table: Table) -> None:
        self._assigner = assigner
        self._data = table.data
        self._dirty = table.dirty

    def contents_of(self, key: Any, window: Any) -> Any:
        """Return the window under which the contents of an open window are filed, None if the window is not open."""
        return self._data.get(key, _NONE).get(window)

    def add(self, key: Any, window: Any, on_merge: OnMerge) -> Any:
        """Add a window. Return the one that it became part of (itself, if nothing is merged)."""
        found = _Found()
        mapping = self._data.get(key)
        if mapping is None:
            mapping = self._data[key] = {}
        self._dirty.add(key)
        self._assigner.merge_windows([*mapping, window], found)
        result, swallowed = window, False
        for whole, parts in found.merges:
            if window in parts:
                parts.remove(window)
                swallowed, result = True, whole
            contents = [mapping.pop(part) for part in parts if part in mapping]
            if not contents:
                # Only new windows were merged with each other: they cannot come from a single element.
                mapping[whole] = whole
                continue
            mapping[whole] = contents[0]
            if parts != [whole]:
                on_merge(whole, parts, contents[0], contents[1:])
        if not swallowed and window not in mapping:
            mapping[window] = window
        return result

    def retire(self, key: Any, window: Any) -> None:
        """Remove a window that has ended."""
        mapping = self._data.get(key)
        if mapping is not None and window in mapping:
            del mapping[window]
            if not mapping:
                del self._data[key]
            self._dirty.add(key)


_NONE: dict[Any, Any] = {}
