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
