"""How a window keeps its elements (a list, a reduced value, an accumulator), and the inner loops that add runs of records.

Pure: operators keep the values in their tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from itertools import compress
from typing import Any

from headrace.graph.specs import WindowOperation
from headrace.operators.base import method_of


class Contents:
    """A list of elements, the general form.

    >>> kept = Contents()
    >>> kept.result(kept.add("b", kept.first("a")))
    ['a', 'b']
    """

    single = False
    """Whether `result` is one value, not a list of elements."""

    first: Callable[[Any], Any]
    """first(element): contents with one element."""
    add: Callable[[Any, Any], Any]
    """add(element, contents): contents with one more element."""
    merge: Callable[[Any, Any], Any]
    """merge(contents, contents)."""
    result: Callable[[Any], Any]
    """result(contents): the argument of the window function."""

    def __init__(self) -> None:
        self.first = lambda element: [element]
        self.add = _append
        self.merge = _extend
        self.result = list


def _append(element: Any, contents: list[Any]) -> list[Any]:
    contents.append(element)
    return contents


def _extend(contents: list[Any], more: list[Any]) -> list[Any]:
    contents.extend(more)
    return contents


class ReducedContents(Contents):
    """One value.

    >>> kept = ReducedContents(max)
    >>> kept.result(kept.add(2, kept.first(5)))
    5
    """

    single = True

    def __init__(self, function: Any) -> None:
        reduce = method_of(function, "reduce")
        self.reduce = reduce
        self.first = lambda element: element
        self.add = lambda element, contents: reduce(contents, element)
        self.merge = reduce
        self.result = lambda contents: contents


class AggregatedContents(Contents):
    """An accumulator."""

    single = True

    def __init__(self, function: Any) -> None:
        create, add = function.create_accumulator, function.add
        self.create = create
        self.first = lambda element: add(element, create())
        self.add = add
        self.merge = function.merge
        self.result = function.get_result


def contents_for(spec: WindowOperation) -> Contents:
    """Return the operations on the contents of a window operation."""
    if spec.kind == "reduce":
        return ReducedContents(spec.combiner)
    if spec.kind == "aggregate":
        return AggregatedContents(spec.combiner)
    return Contents()


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
