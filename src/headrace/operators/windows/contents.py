"""How a window keeps its elements: as a list, as one reduced value, or as an accumulator.

Decides what `add`, `merge` and `result` mean for each kind. Pure: operators keep the values in their tables.
"""

from __future__ import annotations

from collections.abc import Callable
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
