"""Syntax nodes for what is already resolved, so that the Table API builds the same trees as SQL.

A call such as `table.group_by(col("a")).select(col("a"), col("b").sum)` becomes a `Select` whose source is an
`InlineRelation`, and is analysed like the statement `SELECT a, SUM(b) FROM ... GROUP BY a`.
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.table.functions.definition import AggregateFunction, ScalarFunction, TableFunction
from headrace.table.plan.relations import Relation
from headrace.table.plan.rex import Rex
from headrace.table.sql.syntax import expressions, queries
from headrace.types.logical_types import DataType


@dataclass(frozen=True, slots=True)
class InlineRelation(queries.Relation):
    """A relation in a FROM clause."""

    relation: Relation


@dataclass(frozen=True, slots=True)
class InlineQuery(queries.Query):
    """A relation where a query is expected: in a set operation, IN (...), or INSERT."""

    relation: Relation


@dataclass(frozen=True, slots=True)
class InlineExpression(expressions.Expression):
    """A resolved expression: a constant, or one over the columns of the FROM clause."""

    value: Rex


@dataclass(frozen=True, slots=True)
class InlineCall(expressions.Call):
    """A call of a function that has no name in a catalog."""

    function: ScalarFunction | AggregateFunction | TableFunction | None = None


@dataclass(frozen=True, slots=True)
class InlineCast(expressions.Expression):
    """A cast to a type that is already known; `kind` is CAST or TRY_CAST."""

    value: expressions.Expression
    type: DataType
    kind: str = "CAST"


@dataclass(frozen=True, slots=True)
class InlineInterval(expressions.Expression):
    """A number of units as an interval: `unit` is in months, or else in milliseconds."""

    value: expressions.Expression
    unit: int
    months: bool = False


@dataclass(frozen=True, slots=True)
class InlinePlus(expressions.Binary):
    """The `+` of the Table API, which also joins texts."""


@dataclass(frozen=True, slots=True)
class InlineField(expressions.Expression):
    """A field of a ROW value, by its name or by its index."""

    value: expressions.Expression
    field: str | int


@dataclass(frozen=True, slots=True)
class InlineRows(expressions.Expression):
    """A size of a window in rows."""

    rows: int
