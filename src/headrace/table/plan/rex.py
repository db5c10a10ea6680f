"""Resolved expressions: every name is a column number, every function is known, every value has a type.

The analyser and the Table API build them; rules rewrite them; `headrace.table.programs` turns them into running code.
Casts are calls of the function CAST (TRY_CAST) whose result type is the target. AND, OR, NOT, CASE, COALESCE are calls
too: the function named CASE takes condition, value, condition, value, ..., otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headrace.table.functions.definition import AggregateFunction, ScalarFunction
from headrace.types.logical_types import DataType

if TYPE_CHECKING:
    from headrace.table.plan.relations import Relation


@dataclass(frozen=True)
class Rex:
    """A resolved expression."""

    type: DataType


@dataclass(frozen=True)
class InputRef(Rex):
    """A column of the input. In a join condition the columns of the right side follow those of the left."""

    index: int


@dataclass(frozen=True)
class Literal(Rex):
    """A constant, in internal form. The keyword arguments of functions (DAY, BOTH ...) are strings of type NULL."""

    value: Any


@dataclass(frozen=True)
class Call(Rex):
    """A call of a scalar function; arguments already have the types of the function's signature."""

    function: ScalarFunction
    arguments: tuple[Rex, ...]


@dataclass(frozen=True)
class FieldAccess(Rex):
    """A field of a ROW value; null if the row is null."""

    value: Rex
    index: int


@dataclass(frozen=True)
class OuterRef(Rex):
    """A column of an enclosing query, `depth` levels up (1 is the next one). Decorrelation removes these."""

    depth: int
    index: int


@dataclass(frozen=True)
class Subquery(Rex):
    """A query as a value. `kind`: SCALAR, EXISTS, IN, or a quantified comparison such as "= ANY". Decorrelation removes these."""

    kind: str
    relation: Relation
    arguments: tuple[Rex, ...] = ()


@dataclass(frozen=True)
class SortKey:
    """A column to sort by."""

    index: int
    descending: bool = False
    nulls_first: bool = True
    """Flink's default: nulls are lowest, so they come first ascending and last descending."""


@dataclass(frozen=True)
class AggregateCall:
    """A call of an aggregate function over columns of the input."""

    function: AggregateFunction
    arguments: tuple[int, ...]
    type: DataType
    name: str = ""
    distinct: bool = False
    filter: int | None = None
    """A BOOLEAN column: only rows where it is true count."""
    order_by: tuple[SortKey, ...] = ()
    ignore_nulls: bool = False
    constants: tuple[Any, ...] = ()
    """Per argument its value if it is a constant (the separator of LISTAGG), else NOT_CONSTANT; may be shorter."""


@dataclass(frozen=True)
class Frame:
    """The rows of an OVER window. Bounds: None is unbounded, 0 the current row, negative preceding.

    Those of RANGE are milliseconds if ORDER BY is a time, else a distance in the unit of the column.
    """

    rows: bool
    start: int | None
    end: int | None = 0


@dataclass(frozen=True)
class OverCall(Rex):
    """An aggregate over a window of rows; a projection with such calls becomes an `Over` relation."""

    call: AggregateCall
    partition_by: tuple[int, ...]
    order_by: tuple[SortKey, ...]
    frame: Frame


def children(rex: Rex) -> tuple[Rex, ...]:
    """Return the operands of an expression."""
    match rex:
        case Call() | Subquery():
            return rex.arguments
        case FieldAccess():
            return (rex.value,)
        case _:
            return ()


def walk(rex: Rex) -> Iterator[Rex]:
    """Iterate over an expression and everything inside it, outermost first."""
    yield rex
    for child in children(rex):
        yield from walk(child)


def rewrite(rex: Rex, change: Callable[[Rex], Rex | None]) -> Rex:
    """Return the expression with parts replaced: `change` returns the replacement, or None to look inside."""
    replaced = change(rex)
    if replaced is not None:
        return replaced
    match rex:
        case Call() | Subquery():
            return replace(rex, arguments=tuple(rewrite(each, change) for each in rex.arguments))
        case FieldAccess():
            return replace(rex, value=rewrite(rex.value, change))
        case _:
            return rex


def input_columns(rex: Rex) -> set[int]:
    """Return the columns that an expression reads."""
    return {each.index for each in walk(rex) if isinstance(each, InputRef)}


def shifted(rex: Rex, places: int | dict[int, int]) -> Rex:
    """Return the expression over other column numbers: all moved by `places`, or looked up in it."""

    def change(each: Rex) -> Rex | None:
        if not isinstance(each, InputRef):
            return None
        return replace(each, index=places[each.index] if isinstance(places, dict) else each.index + places)

    return rewrite(rex, change)
