"""How rules are applied: over whole trees, with columns that are substituted or moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from headrace.table.plan.relations import Project, Relation
from headrace.table.plan.rex import AggregateCall, InputRef, OverCall, Rex, SortKey, rewrite
from headrace.types.logical_types import RowField, RowType

Rule = Callable[[Relation], "Relation | None"]
"""Return what a relation becomes, or None to leave it."""


def bottom_up(
    relation: Relation, rules: Sequence[Rule], seen: dict[int, tuple[Relation, Relation]] | None = None
) -> Relation:
    """Apply rules to all relations of a tree, inputs first, until none applies. A shared input stays shared."""
    seen = {} if seen is None else seen
    known = seen.get(id(relation))
    if known is not None:
        return known[1]
    current = with_inputs(relation, tuple(bottom_up(each, rules, seen) for each in relation.inputs))
    for rule in rules:
        changed = rule(current)
        if changed is not None:
            current = bottom_up(changed, rules, seen)
            break
    seen[id(relation)] = (relation, current)  # with the relation itself, so that its id is not used again
    seen[id(current)] = (current, current)
    return current


def with_inputs(relation: Relation, inputs: tuple[Relation, ...]) -> Relation:
    """Return the relation over other inputs; the same object if they are the same objects."""
    if all(new is old for new, old in zip(inputs, relation.inputs)):
        return relation
    names = [name for name in ("input", "left", "right") if isinstance(getattr(relation, name, None), Relation)]
    changed: dict[str, Any] = dict(zip(names, inputs))
    return replace(relation, **changed)


def substituted(rex: Rex, expressions: Sequence[Rex]) -> Rex:
    """Return an expression in which each column is replaced by its expression."""
    return rewrite(rex, lambda each: expressions[each.index] if isinstance(each, InputRef) else None)


def references(row_type: RowType, columns: Sequence[int] | None = None) -> tuple[InputRef, ...]:
    """Return references to columns of rows."""
    types = row_type.field_types()
    return tuple(InputRef(types[index], index) for index in (range(len(types)) if columns is None else columns))


def row_of(fields: Sequence[tuple[str, object]]) -> RowType:
    """Return a row type of names and types; duplicate names get numbers at their ends."""
    taken: set[str] = set()
    found = []
    for name, kind in fields:
        unique, number = name, 0
        while unique in taken:
            unique, number = f"{name}{number}", number + 1
        taken.add(unique)
        found.append(RowField(unique, kind))  # type: ignore[arg-type]
    return RowType(tuple(found), is_nullable=False)


def project(relation: Relation, columns: Sequence[int], names: Sequence[str] | None = None) -> Relation:
    """Return some columns of a relation, in this order."""
    if list(columns) == list(range(len(relation.row_type))) and names is None:
        return relation
    fields = [relation.row_type.fields[index] for index in columns]
    given = [each.name for each in fields] if names is None else list(names)
    kind = RowType(tuple(RowField(n, f.data_type) for n, f in zip(given, fields)), is_nullable=False)
    return Project(kind, relation, references(relation.row_type, columns))


def moved_call(call: AggregateCall, places: dict[int, int]) -> AggregateCall:
    """Return an aggregate call over other column numbers."""
    return replace(
        call,
        arguments=tuple(places[index] for index in call.arguments),
        filter=None if call.filter is None else places[call.filter],
        order_by=moved_keys(call.order_by, places),
    )


def moved_keys(keys: Sequence[SortKey], places: dict[int, int]) -> tuple[SortKey, ...]:
    """Return sort keys over other column numbers."""
    return tuple(replace(key, index=places[key.index]) for key in keys)


def call_columns(call: AggregateCall) -> set[int]:
    """Return the columns that an aggregate call reads."""
    found = set(call.arguments) | {key.index for key in call.order_by}
    return found if call.filter is None else found | {call.filter}


def over_columns(call: OverCall) -> set[int]:
    """Return the columns that an OVER call reads."""
    return call_columns(call.call) | set(call.partition_by) | {key.index for key in call.order_by}
