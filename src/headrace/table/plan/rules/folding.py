"""Constant expressions are evaluated while planning; conditions with constants become simpler."""

from __future__ import annotations

from typing import Any

from headrace.table.functions.definition import Argument, CallSite, Session
from headrace.table.plan.relations import Filter, Join, Project, Relation
from headrace.table.plan.rex import Call, Literal, Rex
from headrace.table.plan.rules.conditions import FALSE, conjunction, is_false, is_true
from headrace.types.logical_types import RowType

_KEPT = {"PROCTIME", "CURRENT_WATERMARK", "SOURCE_WATERMARK", "ROW", "ARRAY", "MAP"}


class Folding:
    """The rule, for the settings of a session."""

    def __init__(self, session: Session) -> None:
        """Functions may depend on the settings, such as the time zone."""
        self._session = session

    def __call__(self, relation: Relation) -> Relation | None:
        """Fold the expressions of a projection, a filter or a join."""
        match relation:
            case Project(expressions=expressions):
                folded = tuple(self.folded(rex) for rex in expressions)
                if any(new is not old for new, old in zip(folded, expressions)):
                    return Project(relation.row_type, relation.input, folded)
            case Filter(condition=condition):
                simpler = self.folded(condition)
                if simpler is not condition:
                    return Filter(relation.row_type, relation.input, simpler)
            case Join(condition=condition):
                simpler = self.folded(condition)
                if simpler is not condition:
                    return Join(
                        relation.row_type, relation.left, relation.right, relation.kind, simpler, relation.hints
                    )
        return None

    def folded(self, rex: Rex) -> Rex:
        """Return an equal expression without constant calls; the same object if there are none."""
        if not isinstance(rex, Call):
            return rex
        arguments = tuple(self.folded(each) for each in rex.arguments)
        if any(new is not old for new, old in zip(arguments, rex.arguments)):
            rex = Call(rex.type, rex.function, arguments)
        if rex.function.name == "AND":
            return _folded_and(rex)
        constant = all(isinstance(each, Literal) for each in arguments)
        if (
            not constant
            or not rex.function.deterministic
            or rex.function.name in _KEPT
            or isinstance(rex.type, RowType)
        ):
            return rex
        return self._evaluated(rex)

    def _evaluated(self, rex: Call) -> Rex:
        values: list[Any] = [each.value for each in rex.arguments]  # type: ignore[attr-defined]
        if rex.function.strict and None in values:
            return Literal(rex.type.nullable(), None)
        site = CallSite(tuple(Argument(a.type, v) for a, v in zip(rex.arguments, values)), rex.type, self._session)
        try:
            value = rex.function.rows(site)(*values)
        except Exception:  # the error belongs to the rows that reach the call, if any do
            return rex
        return Literal(rex.type, value)


def _folded_and(rex: Call) -> Rex:
    if any(is_false(each) for each in rex.arguments):
        return FALSE
    if any(is_true(each) for each in rex.arguments):
        return conjunction(rex.arguments) or Literal(rex.type, True)
    return rex
