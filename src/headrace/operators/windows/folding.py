"""The inner loops of windows: add a run of records to the contents of their keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import compress
from typing import Any

from headrace.operators.windows.contents import AggregatedContents, Contents, ReducedContents

Windows = Sequence[dict[Any, Any]]
"""The windows of one record, the earliest first: each maps a key to its contents."""

_FEW = 4  # up to this number, each pane is selected by a pass of its own
_NOTHING = object()
_ATOMS = frozenset((int, float, str, bytes, bool, complex, type(None)))


def fold_into(window: dict[Any, Any], kind: str, contents: Contents, keys: list[Any], records: Iterator[Any]) -> None:
    """Add records to one window: ``window[key]`` are the contents of a key.

    >>> window = {}
    >>> fold_into(window, "reduce", ReducedContents(lambda a, b: a + b), ["a", "b", "a"], iter([1, 2, 3]))
    >>> window
    {'a': 4, 'b': 2}
    """
    get = window.get
    if kind == "list":
        for key, value in zip(keys, records):
            kept = get(key)
            if kept is None:
                window[key] = [value]
            else:
                kept.append(value)
    elif isinstance(contents, AggregatedContents):
        add, create = contents.add, contents.create
        for key, value in zip(keys, records):
            kept = get(key, _NOTHING)
            window[key] = add(value, create() if kept is _NOTHING else kept)
    elif isinstance(contents, ReducedContents):
        reduce = contents.reduce
        for key, value in zip(keys, records):
            kept = get(key, _NOTHING)
            window[key] = value if kept is _NOTHING else reduce(kept, value)


def share_into(windows: Iterable[Windows], contents: Contents, keys: list[Any], records: Iterator[Any]) -> None:
    """Add every record to its windows; one call serves all windows that share one immutable object.

    >>> windows = [{"a": 1}, {}, {}]
    >>> share_into([windows], ReducedContents(lambda a, b: a + b), ["a"], iter([5]))
    >>> windows
    [{'a': 6}, {'a': 5}, {'a': 5}]
    """
    first, add = contents.first, contents.add
    if isinstance(contents, ReducedContents):
        first = isolated
    for key, into, value in zip(keys, windows, records):
        before: Any = contents  # an object that is in no window
        after: Any = None
        for window in into:
            kept = window.get(key, _NOTHING)
            if kept is not before:
                after = first(value) if kept is _NOTHING else add(value, kept)
                before = kept if is_immutable(after) else contents
            window[key] = after


def merge_into(windows: Iterable[Windows], contents: Contents, keys: list[Any], parts: Iterator[Any]) -> None:
    """Merge contents that were made elsewhere into those of several windows each, like `share_into` adds records.

    >>> windows = [{"a": 1}, {}]
    >>> merge_into([windows], ReducedContents(lambda a, b: a + b), ["a"], iter([5]))
    >>> windows
    [{'a': 6}, {'a': 5}]
    """
    merge = contents.merge
    for key, into, part in zip(keys, windows, parts):
        before: Any = contents
        after: Any = None
        shared = len(into) > 1
        for window in into:
            kept = window.get(key, _NOTHING)
            if kept is not before:
                given = isolated(part) if shared else part
                after = given if kept is _NOTHING else merge(kept, given)
                before = kept if is_immutable(after) else contents
            window[key] = after


def grouped(panes: list[int], *columns: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Return the parts of parallel lists that belong to each pane, panes in the order of their first records.

    >>> list(grouped([0, 10, 0], ["a", "b", "c"], [1, 11, 2]))
    [(0, ['a', 'c'], [1, 2]), (10, ['b'], [11])]
    """
    found = dict.fromkeys(panes)
    if len(found) <= _FEW:
        for pane in found:
            mask = [p == pane for p in panes]
            yield (pane, *(list(compress(column, mask)) for column in columns))
        return
    groups: dict[int, tuple[list[Any], ...]] = {pane: tuple([] for _ in columns) for pane in found}
    for pane, *row in zip(panes, *columns):
        for part, value in zip(groups[pane], row):
            part.append(value)
    for pane, parts in groups.items():
        yield (pane, *parts)


def isolated(value: Any) -> Any:
    """Return an element as the first one of a window that shares it with others: a copy if functions could change it.

    >>> element = [1]
    >>> isolated(element) is element, isolated((1, "a"))
    (False, (1, 'a'))
    """
    return value if is_immutable(value) else deepcopy(value)


def is_immutable(value: Any) -> bool:
    """Return whether a value is a plain one, or a tuple of plain ones, that no function can change in place.

    >>> is_immutable((1, "a")), is_immutable((1, ["a"]))
    (True, False)
    """
    kind = type(value)
    if kind in _ATOMS:
        return True
    plain = kind is tuple or (isinstance(value, tuple) and kind.__dictoffset__ == 0)
    return plain and all(map(_ATOMS.__contains__, map(type, value)))
