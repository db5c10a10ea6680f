"""Filters move down: below projections, unions and window functions, into joins and to the sides of joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headrace.table.plan.relations import (
    Aggregate,
    Correlate,
    Filter,
    Join,
    Project,
    Relation,
    SetOperation,
    WindowTable,
)
from headrace.table.plan.rex import Rex, input_columns, shifted
from headrace.table.plan.rules.conditions import TRUE, conjunction, conjuncts, movable, rejects_nulls
from headrace.table.plan.rules.rewriting import substituted


def filtered(relation: Relation, parts: Sequence[Rex]) -> Relation:
    """Return the rows of a relation that meet all parts of a condition."""
    condition = conjunction(parts)
    return relation if condition is None else Filter(relation.row_type, relation, condition)


def push_filter(relation: Relation) -> Relation | None:
    """Move a filter below its input, or as many of its parts as are sure to mean the same there."""
    if not isinstance(relation, Filter) or not movable(relation.condition):
        return None
    below = relation.input
    match below:
        case Project():
            return _below_project(relation, below)
        case Join():
            return _into_join(relation, below)
        case SetOperation(kind="UNION", all=True):
            return SetOperation(
                below.row_type,
                Filter(below.left.row_type, below.left, relation.condition),
                Filter(below.right.row_type, below.right, relation.condition),
                "UNION",
                True,
            )
        case WindowTable():
            return _split(relation, range(len(below.input.row_type)))
        case Aggregate(groups=groups, grouping_sets=()) if groups:
            return _below_aggregate(relation, below)
        case Correlate():
            return _split(relation, range(len(below.left.row_type)), "left")
    return None


def _below_project(relation: Filter, below: Project) -> Relation | None:
    used = input_columns(relation.condition)
    if not movable([below.expressions[index] for index in used]):
        return None
    condition = substituted(relation.condition, below.expressions)
    return Project(relation.row_type, Filter(below.input.row_type, below.input, condition), below.expressions)


def _split(relation: Filter, columns: range, side: str = "input") -> Relation | None:
    """Move the parts that only read `columns`, which are the same ones in the input `side`."""
    parts = conjuncts(relation.condition)
    down = [part for part in parts if input_columns(part) <= set(columns) and input_columns(part)]
    if not down:
        return None
    below = relation.input
    changed: dict[str, Any] = {side: filtered(getattr(below, side), down)}
    moved = replace(below, **changed)
    return filtered(moved, [part for part in parts if part not in down])


def _below_aggregate(relation: Filter, below: Aggregate) -> Relation | None:
    groups = below.groups
    parts = conjuncts(relation.condition)
    down = [part for part in parts if input_columns(part) and input_columns(part) <= set(range(len(groups)))]
    if not down:
        return None
    moved = [shifted(part, dict(enumerate(groups))) for part in down]
    inner = replace(below, input=filtered(below.input, moved))
    return filtered(inner, [part for part in parts if part not in down])


def _into_join(relation: Filter, below: Join) -> Relation | None:
    parts = conjuncts(relation.condition)
    width = len(below.left.row_type)
    if below.kind in ("SEMI", "ANTI"):
        return Join(below.row_type, filtered(below.left, parts), below.right, below.kind, below.condition, below.hints)
    kind = _simplified(below, parts)
    if kind == "INNER":
        condition = conjunction([*conjuncts(below.condition), *parts]) or TRUE
        return Join(relation.row_type, below.left, below.right, kind, condition, below.hints)
    left, right, _ = _sides(parts, width)
    down_left = left if kind == "LEFT" else []
    down_right = right if kind == "RIGHT" else []
    if not down_left and not down_right and kind == below.kind:
        return None
    joined = Join(
        relation.row_type,
        filtered(below.left, down_left),
        filtered(below.right, [shifted(part, -width) for part in down_right]),
        kind,
        below.condition,
        below.hints,
    )
    kept = [part for part in parts if part not in down_left and part not in down_right]
    return filtered(joined, kept)


def _simplified(join: Join, parts: Sequence[Rex]) -> str:
    """Return the kind of a join below a condition: sides whose missing rows the condition drops need not be kept."""
    width, total = len(join.left.row_type), len(join.row_type)
    right_needed = any(rejects_nulls(part, range(width, total)) for part in parts)
    left_needed = any(rejects_nulls(part, range(width)) for part in parts)
    match join.kind:
        case "LEFT" if right_needed:
            return "INNER"
        case "RIGHT" if left_needed:
            return "INNER"
        case "FULL" if left_needed and right_needed:
            return "INNER"
        case "FULL" if left_needed:
            return "LEFT"
        case "FULL" if right_needed:
            return "RIGHT"
    return join.kind


def push_join_condition(relation: Relation) -> Relation | None:
    """Move the parts of a join's condition that read one side only into a filter of that side, where this is the same."""
    if not isinstance(relation, Join) or not movable(relation.condition):
        return None
    width = len(relation.left.row_type)
    left, right, rest = _sides(conjuncts(relation.condition), width)
    if relation.kind not in ("INNER", "SEMI", "RIGHT"):
        rest, left = [*left, *rest], []
    if relation.kind not in ("INNER", "SEMI", "ANTI", "LEFT"):
        rest, right = [*rest, *right], []
    if not left and not right:
        return None
    return Join(
        relation.row_type,
        filtered(relation.left, left),
        filtered(relation.right, [shifted(part, -width) for part in right]),
        relation.kind,
        conjunction(rest) or TRUE,
        relation.hints,
    )


def _sides(parts: Sequence[Rex], width: int) -> tuple[list[Rex], list[Rex], list[Rex]]:
    """Return the parts that read the left side only, the right side only, and the rest."""
    left: list[Rex] = []
    right: list[Rex] = []
    rest: list[Rex] = []
    for part in parts:
        used = input_columns(part)
        target = rest if not used else left if max(used) < width else right if min(used) >= width else rest
        target.append(part)
    return left, right, rest
