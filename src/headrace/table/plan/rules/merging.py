"""Neighbouring projections and filters become one; those that change nothing disappear."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from headrace.table.plan.logical import Empty, Rank
from headrace.table.plan.relations import Aggregate, Filter, Join, Over, Project, Relation, SetOperation, Sort
from headrace.table.plan.rex import Call, InputRef, Rex, walk
from headrace.table.plan.rules.conditions import conjunction, conjuncts, is_false, is_true, movable
from headrace.table.plan.rules.rewriting import substituted
from headrace.types.logical_types import RowField, RowType

_CHEAP = 3
"""An expression with more calls is not repeated in several places."""


def merge_projects(relation: Relation) -> Relation | None:
    """Merge a projection into the one above it, unless that would evaluate something twice that must not be."""
    if not (isinstance(relation, Project) and isinstance(relation.input, Project)):
        return None
    inner = relation.input.expressions
    if not mergeable(relation.expressions, inner):
        return None
    merged = tuple(substituted(rex, inner) for rex in relation.expressions)
    return Project(relation.row_type, relation.input.input, merged)


def mergeable(outer: tuple[Rex, ...], inner: tuple[Rex, ...]) -> bool:
    """Return whether expressions may take the place of the columns that others read."""
    uses = Counter(part.index for rex in outer for part in walk(rex) if isinstance(part, InputRef))
    return all(
        (count == 1 and _plain(inner[index], outer))
        or (movable(inner[index]) and (count == 1 or _calls(inner[index]) <= _CHEAP))
        for index, count in uses.items()
    )


def _plain(rex: Rex, outer: tuple[Rex, ...]) -> bool:
    """Return whether an expression that differs from call to call is only passed on."""
    return movable(rex) or any(isinstance(each, InputRef) for each in outer)


def _calls(rex: Rex) -> int:
    return sum(isinstance(part, Call) for part in walk(rex))


def merge_filters(relation: Relation) -> Relation | None:
    """Merge a filter into the one above it."""
    if not (isinstance(relation, Filter) and isinstance(relation.input, Filter)):
        return None
    below = relation.input
    both = conjunction([*conjuncts(below.condition), *conjuncts(relation.condition)])
    return below.input if both is None else Filter(relation.row_type, below.input, both)


def rename_below(relation: Relation) -> Relation | None:
    """Let the input have the names of a projection that changes nothing else."""
    if not isinstance(relation, Project) or not isinstance(relation.input, _RENAMED):
        return None
    below = relation.input
    places = [rex.index if isinstance(rex, InputRef) else -1 for rex in relation.expressions]
    if places != list(range(len(below.row_type))):
        return None
    if isinstance(below, Aggregate):
        names = relation.row_type.field_names()[len(below.groups) :]
        calls = tuple(replace(call, name=name) for call, name in zip(below.calls, names))
        return replace(below, row_type=_renamed(below, relation), calls=calls)
    return replace(below, row_type=_renamed(below, relation))


_RENAMED = (Aggregate, Join, SetOperation, Over, Sort, Rank)


def _renamed(below: Relation, wanted: Relation) -> RowType:
    pairs = zip(below.row_type.fields, wanted.row_type.field_names())
    return RowType(tuple(RowField(name, field.data_type) for field, name in pairs), is_nullable=False)


def remove_trivial(relation: Relation) -> Relation | None:
    """Remove filters that are always true, and projections of all columns under their own names."""
    match relation:
        case Filter(input=below, condition=condition) if is_true(condition):
            return below
        case Filter(condition=condition) if is_false(condition):
            return Empty(relation.row_type)
        case Filter(input=Empty()) | Project(input=Empty()):
            return Empty(relation.row_type)
        case Project(input=below, expressions=expressions) if len(expressions) == len(below.row_type):
            same = all(isinstance(rex, InputRef) and rex.index == index for index, rex in enumerate(expressions))
            if same and relation.row_type.field_names() == below.row_type.field_names():
                return below
    return None
