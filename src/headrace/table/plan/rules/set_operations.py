"""UNION, INTERSECT and EXCEPT as unions, aggregations and joins, the way Flink runs them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from headrace.table.functions.definition import AggregateFunction, Argument
from headrace.table.functions.registry import aggregate_function
from headrace.table.plan.relations import (
    Aggregate,
    Correlate,
    Filter,
    Join,
    Project,
    Relation,
    SetOperation,
    TableFunctionCall,
)
from headrace.table.plan.rex import AggregateCall, InputRef, Literal, Rex
from headrace.table.plan.rules.conditions import call, conjunction
from headrace.table.plan.rules.rewriting import project, references
from headrace.types.logical_types import BigIntType, BooleanType, DataType, RowField, RowType

_BOOLEAN = BooleanType(is_nullable=False)
_BIGINT = BigIntType(is_nullable=False)


def expand_set_operation(relation: Relation) -> Relation | None:
    """Rewrite a set operation other than UNION ALL."""
    if not isinstance(relation, SetOperation) or (relation.kind == "UNION" and relation.all):
        return None
    kind, left, right = relation.row_type, relation.left, relation.right
    if relation.kind == "UNION":
        return _distinct(SetOperation(kind, left, right, "UNION", True))
    if relation.all:
        return _counted(relation)
    joined = Join(kind, left, right, "SEMI" if relation.kind == "INTERSECT" else "ANTI", _same_row(left, right))
    return _distinct(joined)


def _distinct(relation: Relation) -> Aggregate:
    return Aggregate(relation.row_type, relation, tuple(range(len(relation.row_type))), ())


def _same_row(left: Relation, right: Relation) -> Rex:
    width = len(left.row_type)
    pairs = zip(left.row_type.field_types(), right.row_type.field_types())
    parts = [
        call("IS NOT DISTINCT FROM", _BOOLEAN, InputRef(one, index), InputRef(other, index + width))
        for index, (one, other) in enumerate(pairs)
    ]
    condition = conjunction(parts)
    assert condition is not None  # a row has columns
    return condition


def _counted(relation: SetOperation) -> Relation:
    """INTERSECT ALL and EXCEPT ALL: count each row on both sides, and repeat it as often as it remains."""
    left, right, width = _marked(relation.left, 0), _marked(relation.right, 1), len(relation.row_type)
    both = SetOperation(left.row_type, left, right, "UNION", True)
    fields = list(relation.row_type.fields)
    counts = [_count(width + side, f"count_{side}") for side in (0, 1)]
    grouped = Aggregate(
        RowType((*fields, RowField("count_0", _BIGINT), RowField("count_1", _BIGINT)), is_nullable=False),
        both,
        tuple(range(width)),
        tuple(counts),
    )
    one, other = InputRef(_BIGINT, width), InputRef(_BIGINT, width + 1)
    if relation.kind == "EXCEPT":
        kept: Rex = call(">", _BOOLEAN, one, other)
        times: Rex = call("-", _BIGINT, one, other)
    else:
        positive = Literal(_BIGINT, 1)
        kept = call("AND", _BOOLEAN, call(">=", _BOOLEAN, one, positive), call(">=", _BOOLEAN, other, positive))
        times = call("CASE", _BIGINT, call("<", _BOOLEAN, one, other), one, other)
    rows = Filter(grouped.row_type, grouped, kept)
    with_times = Project(
        RowType((*fields, RowField("times", _BIGINT)), is_nullable=False), rows, (*references(relation.row_type), times)
    )
    repeated = TableFunctionCall(
        relation.row_type,
        RepeatRow(),
        (InputRef(_BIGINT, width), *references(relation.row_type)),
    )
    joined_fields = (*with_times.row_type.fields, *(RowField(f"{f.name}0", f.data_type) for f in fields))
    correlate = Correlate(RowType(joined_fields, is_nullable=False), with_times, repeated, "INNER")
    return project(correlate, range(width + 1, 2 * width + 1), relation.row_type.field_names())


def _marked(relation: Relation, side: int) -> Relation:
    """Return the rows with two more columns, of which one says that the row is from this side."""
    flag = BooleanType()
    marks = [Literal(flag, True if number == side else None) for number in (0, 1)]
    fields = (*relation.row_type.fields, RowField("from_0", flag), RowField("from_1", flag))
    return Project(RowType(fields, is_nullable=False), relation, (*references(relation.row_type), *marks))


def _count(column: int, name: str) -> AggregateCall:
    return AggregateCall(counting(), (column,), _BIGINT, name)


def counting() -> AggregateFunction:
    """Return COUNT."""
    return aggregate_function("COUNT")


@dataclass(frozen=True)
class RepeatRow:
    """The table function that returns a row a number of times.

    >>> list(RepeatRow().rows(None)(2, "a", 7))
    [('a', 7), ('a', 7)]
    """

    name: str = "$REPLICATE_ROWS$1"
    deterministic: bool = True

    def rows(self, site: Any) -> Callable[..., Iterable[tuple[Any, ...]]]:
        """Return the callable of the number and the columns."""
        del site
        return _repeated

    def infer(self, arguments: tuple[Argument, ...]) -> list[DataType]:
        """Return the types of the columns."""
        return [argument.type for argument in arguments[1:]]


def _repeated(times: int, *row: Any) -> Iterable[tuple[Any, ...]]:
    return repeat(row, times)
