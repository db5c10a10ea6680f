"""Queries that read columns of the enclosing query, rewritten so that only conditions of a join read them.

`pull` returns the rows without the conditions on outer columns, and these conditions apart. Below an aggregate, a
condition `inner = outer` becomes a further group; below a LIMIT, a partition of a ROW_NUMBER.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headrace.table.analysis import casts
from headrace.table.analysis.errors import unsupported
from headrace.table.analysis.joins import join_row
from headrace.table.analysis.literals import NULL, TRUE, integer
from headrace.table.analysis.scopes import row_of
from headrace.table.analysis.trees import is_correlated, outer_refs, reads_outer
from headrace.table.analysis.uses import Columns
from headrace.table.functions.registry import aggregate_function
from headrace.table.plan.relations import (
    Aggregate,
    Filter,
    Join,
    Over,
    OverWindow,
    Project,
    Relation,
    Sort,
)
from headrace.table.plan.rex import AggregateCall, Call, Frame, InputRef, Rex, SortKey, input_columns, rewrite, shifted
from headrace.types.logical_types import BigIntType


@dataclass(frozen=True)
class Pulled:
    """A relation without references to the enclosing query.

    `outputs` compute the columns of the original relation and, like `conditions`, may read columns of `relation`
    (InputRef) and of the enclosing query (OuterRef). `single` says that the original has exactly one row per outer row.
    """

    relation: Relation
    outputs: tuple[Rex, ...]
    conditions: tuple[Rex, ...] = ()
    single: bool = False


def refs(relation: Relation) -> tuple[InputRef, ...]:
    """Return all columns of a relation."""
    return tuple(InputRef(each.data_type, index) for index, each in enumerate(relation.row_type.fields))


def projection(relation: Relation, expressions: Sequence[Rex]) -> Relation:
    """Return a relation with one column per expression; itself if these are its columns."""
    if tuple(expressions) == refs(relation):
        return relation
    names = [
        relation.row_type.fields[each.index].name if isinstance(each, InputRef) else f"EXPR${index}"
        for index, each in enumerate(expressions)
    ]
    return Project(row_of(names, [each.type for each in expressions]), relation, tuple(expressions))


def _over(rex: Rex, outputs: Sequence[Rex]) -> Rex:
    """Return an expression over columns that are computed by `outputs`."""
    return rewrite(rex, lambda each: outputs[each.index] if isinstance(each, InputRef) else None)


def pull(relation: Relation, position: int = -1) -> Pulled:
    """Return the relation with its references to the enclosing query pulled out."""
    if not is_correlated(relation):
        return Pulled(relation, refs(relation), single=is_single(relation))
    match relation:
        case Filter():
            return _filter(relation, position)
        case Project():
            inner = pull(relation.input, position)
            return replace(inner, outputs=tuple(_over(each, inner.outputs) for each in relation.expressions))
        case Join() if relation.kind in ("INNER", "LEFT", "SEMI", "ANTI"):
            return _join(relation, position)
        case Aggregate() if not relation.grouping_sets:
            return _aggregate(relation, position)
        case Sort():
            return _sort(relation, position)
    raise _refused(position)


def before_outer_join(pulled: Pulled) -> Pulled:
    """Return the same for the right side of an outer join: outputs are null if no row matches.

    A `single` query has a row for every outer row: what it computes from its aggregates is computed after the join.
    """
    if pulled.single:
        return pulled
    columns = Columns(refs(pulled.relation))
    marker: InputRef | None = None
    if any(reads_outer(each) for each in pulled.outputs):
        marker = InputRef(TRUE.type.nullable(), columns.place(TRUE))
    outputs: list[Rex] = []
    for each in pulled.outputs:
        if reads_outer(each):
            assert marker is not None
            outputs.append(casts.operator("CASE", casts.operator("IS NOT NULL", marker), each, NULL))
        else:
            outputs.append(InputRef(each.type, columns.place(each)))
    return Pulled(projection(pulled.relation, columns.expressions), tuple(outputs), pulled.conditions)


def is_single(relation: Relation) -> bool:
    """Return whether a relation always has exactly one row: an aggregate without groups."""
    match relation:
        case Project():
            return is_single(relation.input)
        case Aggregate():
            return not relation.groups and not relation.grouping_sets
        case _:
            return False


def at_most_one(relation: Relation) -> bool:
    """Return whether a relation never has several rows."""
    match relation:
        case Project() | Filter():
            return at_most_one(relation.input)
        case Sort() if relation.limit is not None and relation.limit <= 1:
            return True
        case _:
            return is_single(relation)


def _refused(position: int) -> Exception:
    remedy = "compare columns of the outer query in WHERE with =, or write a join"
    return unsupported("This use of columns of the outer query is not supported", position, remedy)


def _filter(relation: Filter, position: int) -> Pulled:
    inner = pull(relation.input, position)
    parts = [_over(each, inner.outputs) for each in casts.conjuncts(relation.condition)]
    if inner.single and inner.conditions:
        raise _refused(position)  # HAVING of an aggregate whose group may be absent
    inside = casts.conjunction([each for each in parts if not reads_outer(each)])
    kept = inner.relation if inside is None else Filter(inner.relation.row_type, inner.relation, inside)
    outside = tuple(each for each in parts if reads_outer(each))
    return Pulled(kept, inner.outputs, inner.conditions + outside)


def _join(relation: Join, position: int) -> Pulled:
    left, right = pull(relation.left, position), pull(relation.right, position)
    places = len(left.relation.row_type)
    outputs = left.outputs + tuple(shifted(each, places) for each in right.outputs)
    parts = [_over(each, outputs) for each in casts.conjuncts(relation.condition)]
    outside = tuple(each for each in parts if reads_outer(each))
    if relation.kind == "INNER":
        inside = casts.conjunction([each for each in parts if not reads_outer(each)]) or TRUE
        pulled = left.conditions + tuple(shifted(each, places) for each in right.conditions) + outside
    else:
        if right.conditions or outside or any(reads_outer(each) for each in right.outputs):
            raise _refused(position)
        inside, pulled = casts.conjunction(parts) or TRUE, left.conditions
    row = join_row(left.relation.row_type, right.relation.row_type, relation.kind)
    joined = Join(row, left.relation, right.relation, relation.kind, inside, relation.hints)
    if relation.kind in ("SEMI", "ANTI"):
        outputs = left.outputs
    elif relation.kind == "LEFT":
        outputs = tuple(
            rewrite(each, lambda ref: refs(joined)[ref.index] if isinstance(ref, InputRef) else None)
            for each in outputs
        )
    return Pulled(joined, outputs, pulled)


def equalities(conditions: Sequence[Rex], position: int = -1) -> tuple[list[Rex], list[Rex]]:
    """Return conditions `inner = outer` as two lists: the inner sides and the outer sides. Refuse other conditions."""
    inner: list[Rex] = []
    outer: list[Rex] = []
    for each in conditions:
        if not isinstance(each, Call) or each.function.name != "=":
            raise _refused(position)
        left, right = each.arguments
        if reads_outer(left):
            left, right = right, left
        if any(True for _ in outer_refs(left)) or input_columns(right):
            raise _refused(position)
        inner.append(left)
        outer.append(right)
    return inner, outer


def _aggregate(relation: Aggregate, position: int) -> Pulled:
    inner = pull(relation.input, position)
    keys, outer = equalities(inner.conditions, position)
    if any(reads_outer(each) for each in inner.outputs):
        used = {*relation.groups, *(i for call in relation.calls for i in call.arguments)}
        if any(reads_outer(inner.outputs[index]) for index in used):
            raise _refused(position)
    outputs = [each if not reads_outer(each) else TRUE for each in inner.outputs]
    width = len(outputs)
    source = projection(inner.relation, [*outputs, *keys])
    groups = relation.groups + tuple(range(width, width + len(keys)))
    kinds = [source.row_type.fields[index] for index in groups]
    call_types = [call.type for call in relation.calls]
    row = row_of(
        [each.name for each in kinds] + [call.name for call in relation.calls],
        [each.data_type for each in kinds] + call_types,
    )
    result = Aggregate(row, source, groups, relation.calls)
    columns = refs(result)
    own = len(relation.groups)
    key_columns = columns[own : own + len(keys)]
    found: list[Rex] = list(columns[:own])
    single = not relation.groups
    for call, column in zip(relation.calls, columns[own + len(keys) :], strict=True):
        if single and call.function.name == "COUNT":
            # The group of an outer row may be absent; the count of no rows is zero.
            zero = casts.cast(integer(0), call.type)
            found.append(casts.operator("COALESCE", InputRef(column.type.nullable(), column.index), zero))
        else:
            found.append(column)
    tests = tuple(casts.operator("=", key, other) for key, other in zip(key_columns, outer, strict=True))
    return Pulled(result, tuple(found), tests, single)


def _sort(relation: Sort, position: int) -> Pulled:
    inner = pull(relation.input, position)
    if relation.limit is None and not relation.offset:
        return inner
    keys, outer = equalities(inner.conditions, position)
    if any(reads_outer(each) for each in inner.outputs):
        raise _refused(position)
    source = projection(inner.relation, [*inner.outputs, *keys])
    width = len(inner.outputs)
    partition = tuple(range(width, width + len(keys)))
    numbered = with_row_number(source, partition, relation.keys)
    number = refs(numbered)[-1]
    tests = []
    if relation.limit is not None:
        tests.append(casts.operator("<=", number, integer(relation.offset + relation.limit)))
    if relation.offset:
        tests.append(casts.operator(">", number, integer(relation.offset)))
    condition = casts.conjunction(tests)
    assert condition is not None
    result = Filter(numbered.row_type, numbered, condition)
    columns = refs(result)
    pairs = zip(columns[width : width + len(keys)], outer, strict=True)
    return Pulled(result, columns[:width], tuple(casts.operator("=", key, other) for key, other in pairs))


def with_row_number(relation: Relation, partition: tuple[int, ...], keys: tuple[SortKey, ...]) -> Relation:
    """Return the relation with a last column that numbers the rows of each partition."""
    kind = BigIntType(is_nullable=False)
    call = AggregateCall(aggregate_function("ROW_NUMBER"), (), kind, "w0$o0")
    row = row_of([*relation.row_type.field_names(), call.name], [*relation.row_type.field_types(), kind])
    return Over(row, relation, (OverWindow(partition, keys, Frame(True, None, 0), (call,)),))
