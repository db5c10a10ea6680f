"""Expressions that only exist while a SELECT is analysed: uses of aggregates, OVER windows and group windows.

`select` replaces each of them by a column of an Aggregate, Over or GroupWindowAggregate relation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from headrace.table.functions.definition import AggregateFunction
from headrace.table.plan.rex import Call, FieldAccess, Frame, Rex, Subquery


@dataclass(frozen=True)
class OrderUse:
    """An expression to sort by."""

    value: Rex
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class AggregateUse(Rex):
    """A call of an aggregate function with expressions as arguments."""

    function: AggregateFunction
    arguments: tuple[Rex, ...] = ()
    distinct: bool = False
    filter: Rex | None = None
    order_by: tuple[OrderUse, ...] = ()
    ignore_nulls: bool = False


@dataclass(frozen=True)
class OverUse(Rex):
    """A call of an aggregate function over a window of rows."""

    call: AggregateUse
    partition_by: tuple[Rex, ...]
    order_by: tuple[OrderUse, ...]
    frame: Frame


@dataclass(frozen=True)
class GroupWindowUse(Rex):
    """A group window such as `TUMBLE(ts, INTERVAL '1' HOUR)`, or a `part` of it: start, end, rowtime or proctime."""

    kind: str
    time: Rex
    sizes: tuple[int, ...]
    part: str = ""
    by_rows: bool = False


@dataclass(frozen=True)
class GroupingUse(Rex):
    """`GROUPING(a, b)`, `GROUPING_ID(a, b)` or `GROUP_ID()`."""

    arguments: tuple[Rex, ...]
    kind: str = "GROUPING"


def _order_children(order_by: tuple[OrderUse, ...]) -> tuple[Rex, ...]:
    return tuple(each.value for each in order_by)


def parts(rex: Rex) -> tuple[Rex, ...]:
    """Return the operands of an expression, those of uses included."""
    match rex:
        case Call() | Subquery() | GroupingUse():
            return rex.arguments
        case FieldAccess():
            return (rex.value,)
        case AggregateUse():
            filters = () if rex.filter is None else (rex.filter,)
            return rex.arguments + filters + _order_children(rex.order_by)
        case OverUse():
            return (*parts(rex.call), *rex.partition_by, *_order_children(rex.order_by))
        case GroupWindowUse():
            return (rex.time,)
        case _:
            return ()


def walk(rex: Rex) -> Iterator[Rex]:
    """Iterate over an expression and everything inside it, outermost first."""
    yield rex
    for part in parts(rex):
        yield from walk(part)


def transform(rex: Rex, change: Callable[[Rex], Rex | None]) -> Rex:
    """Return the expression with parts replaced: `change` returns the replacement, or None to look inside."""
    replaced = change(rex)
    if replaced is not None:
        return replaced

    def inner(each: Rex) -> Rex:
        return transform(each, change)

    def ordered(items: tuple[OrderUse, ...]) -> tuple[OrderUse, ...]:
        return tuple(replace(each, value=inner(each.value)) for each in items)

    match rex:
        case Call() | Subquery() | GroupingUse():
            if not rex.arguments:
                return rex
            return replace(rex, arguments=tuple(map(inner, rex.arguments)))
        case FieldAccess():
            return replace(rex, value=inner(rex.value))
        case AggregateUse():
            return replace(
                rex,
                arguments=tuple(map(inner, rex.arguments)),
                filter=None if rex.filter is None else inner(rex.filter),
                order_by=ordered(rex.order_by),
            )
        case OverUse():
            call = rex.call
            filtered = None if call.filter is None else inner(call.filter)
            arguments = tuple(map(inner, call.arguments))
            changed = replace(call, arguments=arguments, filter=filtered, order_by=ordered(call.order_by))
            partition = tuple(map(inner, rex.partition_by))
            return replace(rex, call=changed, partition_by=partition, order_by=ordered(rex.order_by))
        case _:
            return rex


def contains(rex: Rex, kind: type[Rex] | tuple[type[Rex], ...]) -> bool:
    """Return whether an expression has a part of a class."""
    return any(isinstance(each, kind) for each in walk(rex))


class Columns:
    """A list of expressions without duplicates: the projection in front of an aggregate or OVER window.

    >>> from headrace.types.logical_types import IntType
    >>> from headrace.table.plan.rex import InputRef
    >>> columns = Columns()
    >>> (
    ...     columns.place(InputRef(IntType(), 3)),
    ...     columns.place(InputRef(IntType(), 1)),
    ...     columns.place(InputRef(IntType(), 3)),
    ... )
    (0, 1, 0)
    """

    def __init__(self, expressions: tuple[Rex, ...] = ()) -> None:
        """Start with some expressions, which may have duplicates."""
        self.expressions: list[Rex] = list(expressions)
        self._index: dict[Rex, int] = {}
        for index, each in enumerate(expressions):
            self._index.setdefault(each, index)

    def place(self, rex: Rex) -> int:
        """Return the index of an expression; add it if it is new."""
        found = self._index.get(rex)
        if found is None:
            found = self._index[rex] = len(self.expressions)
            self.expressions.append(rex)
        return found
