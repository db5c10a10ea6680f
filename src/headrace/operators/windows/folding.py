"""The inner loops of windows: adding a run of records to the contents of their keys. Nothing else happens here."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from headrace.operators.windows.contents import AggregatedContents, Contents, ReducedContents

__all__ = ["fold_into", "isolated", "share_into"]

_NOTHING = object()
_ATOMS = frozenset((int, float, str, bytes, bool, complex, type(None)))


def fold_into(window: dict[Any, Any], kind: str, contents: Contents, keys: list[Any], records: Iterator[Any]) -> None:
    """Adds records to one window: ``window[key]`` are the contents of a key.

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


def share_into(windows: list[dict[Any, Any]], contents: Contents, keys: list[Any], records: Iterator[Any]) -> None:
    """Adds records to several windows at once; windows whose contents are one immutable object are served by one call.

    >>> windows = [{"a": 1}, {}, {}]
    >>> share_into(windows, ReducedContents(lambda a, b: a + b), ["a"], iter([5]))
    >>> windows
    [{'a': 6}, {'a': 5}, {'a': 5}]
    """
    first, add = contents.first, contents.add
    if isinstance(contents, ReducedContents):
        first = isolated
    for key, value in zip(keys, records):
        before: Any = contents  # an object that is in no window
        after: Any = None
        for window in windows:
            kept = window.get(key, _NOTHING)
            if kept is not before:
                after = first(value) if kept is _NOTHING else add(value, kept)
                before = kept if _is_immutable(after) else contents
            window[key] = after


def isolated(value: Any) -> Any:
    """An element as the first one of a window that shares it with others: a copy if a reduce function could change it.

    >>> element = [1]
    >>> isolated(element) is element, isolated((1, "a"))
    (False, (1, 'a'))
    """
    return value if _is_immutable(value) else deepcopy(value)


def _is_immutable(value: Any) -> bool:
    kind = type(value)
    if kind in _ATOMS:
        return True
    plain = kind is tuple or (isinstance(value, tuple) and kind.__dictoffset__ == 0)
    return plain and all(map(_ATOMS.__contains__, map(type, value)))
