"""GROUPING SETS, CUBE and ROLLUP: each row is expanded to one row per set, which is then grouped as usual."""

from __future__ import annotations

from collections.abc import Sequence

from headrace.table.plan.logical import Expand
from headrace.table.plan.relations import Aggregate, Relation
from headrace.table.plan.rex import AggregateCall, InputRef, Literal, Rex
from headrace.table.plan.rules.rewriting import call_columns, moved_call, row_of
from headrace.types.logical_types import BigIntType

_NUMBER = BigIntType(is_nullable=False)


def expand_grouping_sets(relation: Relation) -> Relation | None:
    """Rewrite an aggregation with grouping sets as one over an `Expand`."""
    if not isinstance(relation, Aggregate) or not relation.grouping_sets:
        return None
    below, groups = relation.input, relation.groups
    fields = below.row_type.fields
    nulled = {group for group in groups if any(group not in each for each in relation.grouping_sets)}
    copied = sorted(nulled & set().union(*(call_columns(each) for each in relation.calls)) if relation.calls else ())
    number = len(fields)
    places = {index: index for index in range(len(fields))} | {c: number + 1 + i for i, c in enumerate(copied)}
    row_type = row_of(
        [(f.name, f.data_type.nullable() if i in nulled else f.data_type) for i, f in enumerate(fields)]
        + [("$e", _NUMBER)]
        + [(f"{fields[index].name}_0", fields[index].data_type) for index in copied]
    )
    projections = tuple(_projection(below, groups, present, nulled, copied) for present in relation.grouping_sets)
    calls: Sequence[AggregateCall] = [moved_call(each, places) for each in relation.calls]
    expand = Expand(row_type, below, projections)
    return Aggregate(relation.row_type, expand, (*groups, number), tuple(calls), hints=relation.hints)


def expand_id(groups: tuple[int, ...], present: tuple[int, ...]) -> int:
    """Return the number of a grouping set: a bit for each absent column, the last column is the lowest bit.

    >>> expand_id((0, 1), (0, 1)), expand_id((0, 1), (0,)), expand_id((0, 1), ())
    (0, 1, 3)
    """
    return sum(1 << (len(groups) - 1 - place) for place, group in enumerate(groups) if group not in present)


def _projection(
    below: Relation, groups: tuple[int, ...], present: tuple[int, ...], nulled: set[int], copied: Sequence[int]
) -> tuple[Rex, ...]:
    fields = below.row_type.fields
    columns: list[Rex] = [
        Literal(field.data_type.nullable(), None)
        if index in nulled and index not in present
        else InputRef(field.data_type, index)
        for index, field in enumerate(fields)
    ]
    columns.append(Literal(_NUMBER, expand_id(groups, present)))
    columns += [InputRef(fields[index].data_type, index) for index in copied]
    return tuple(columns)
