"""OVER calls leave projections and conditions: they become an `Over` relation below them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from headrace.table.plan.relations import Filter, Over, OverWindow, Project, Relation
from headrace.table.plan.rex import AggregateCall, Frame, InputRef, OverCall, Rex, SortKey, rewrite, walk
from headrace.table.plan.rules.rewriting import project
from headrace.types.logical_types import RowField, RowType

_Window = tuple[tuple[int, ...], tuple[SortKey, ...], Frame]


def extract_over_calls(relation: Relation) -> Relation | None:
    """Turn OVER calls of a projection or filter into columns of an `Over` relation."""
    match relation:
        case Project(input=below, expressions=expressions) if _has_over(expressions):
            over, changed = _extracted(below, expressions)
            return Project(relation.row_type, over, changed)
        case Filter(input=below, condition=condition) if _has_over((condition,)):
            over, changed = _extracted(below, (condition,))
            return project(Filter(over.row_type, over, changed[0]), range(len(below.row_type)))
    return None


def _has_over(expressions: Sequence[Rex]) -> bool:
    return any(isinstance(part, OverCall) for rex in expressions for part in walk(rex))


def _extracted(below: Relation, expressions: Sequence[Rex]) -> tuple[Over, tuple[Rex, ...]]:
    windows: dict[_Window, list[AggregateCall]] = {}
    for rex in expressions:
        for part in walk(rex):
            if isinstance(part, OverCall):
                calls = windows.setdefault((part.partition_by, part.order_by, part.frame), [])
                if _unnamed(part.call) not in calls:
                    calls.append(_unnamed(part.call))
    places: dict[tuple[_Window, AggregateCall], int] = {}
    fields = list(below.row_type.fields)
    found = []
    for number, (window, calls) in enumerate(windows.items()):
        named = []
        for position, call in enumerate(calls):
            name = f"w{number}$o{position}"
            places[window, call] = len(fields)
            fields.append(RowField(name, call.type))
            named.append(replace(call, name=name))
        found.append(OverWindow(*window, tuple(named)))

    def change(rex: Rex) -> Rex | None:
        if not isinstance(rex, OverCall):
            return None
        return InputRef(rex.type, places[(rex.partition_by, rex.order_by, rex.frame), _unnamed(rex.call)])

    over = Over(RowType(tuple(fields), is_nullable=False), below, tuple(found))
    return over, tuple(rewrite(rex, change) for rex in expressions)


def _unnamed(call: AggregateCall) -> AggregateCall:
    return replace(call, name="")
