"""Calculations that follow each other become one, and let sources read fewer columns."""

from __future__ import annotations

from headrace.table.plan.conversion.tables import narrowed
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.nodes.simple import Calc
from headrace.table.plan.rex import InputRef
from headrace.table.plan.rules.conditions import conjunction, conjuncts, movable
from headrace.table.plan.rules.merging import mergeable
from headrace.table.plan.rules.rewriting import substituted


def calculated(calc: Calc) -> Node:
    """Return a calculation, merged with the one below it where nothing is then evaluated twice."""
    below = calc.input
    if isinstance(below, Calc):
        inner = below.expressions
        outer = (*calc.expressions, *(() if calc.condition is None else (calc.condition,)))
        # The lower condition guards the lower expressions, but not the upper condition.
        safe = calc.condition is None or movable(inner)
        if safe and mergeable(outer, inner):
            expressions = tuple(substituted(rex, inner) for rex in calc.expressions)
            upper = [] if calc.condition is None else [substituted(p, inner) for p in conjuncts(calc.condition)]
            condition = conjunction([*conjuncts(below.condition), *upper])
            return calculated(Calc(calc.row_type, below.inputs, expressions, condition))
    if calc.condition is None and _changes_nothing(calc):
        return below
    return narrowed(calc)


def _changes_nothing(calc: Calc) -> bool:
    places = [rex.index if isinstance(rex, InputRef) else -1 for rex in calc.expressions]
    below = calc.input.row_type
    return places == list(range(len(below))) and calc.row_type.field_names() == below.field_names()
