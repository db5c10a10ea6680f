"""Operators, mathematical functions, conditionals and casts give the type and the value that Flink 2.3 gave.

`tests/data/table/functions_a.json` has the answers of real Flink to `SELECT <expression>`, as Flink prints them. Each
expression is parsed, analysed and evaluated by rows and by columns.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.unit.table.functions.flink_text import flink_text

from headrace.errors import HeadraceError
from headrace.table.analysis.entries import analyse_expression
from headrace.table.functions.type_text import sql_text
from headrace.table.plan.rex import Rex
from headrace.table.programs import Program
from headrace.table.sql import parse_statements
from headrace.types.logical_types import RowType

RECORDED = Path(__file__).parents[3] / "data" / "table" / "functions_a.json"


@cache
def recorded() -> dict[str, dict[str, str | None]]:
    """Return the answers by expression."""
    return json.loads(RECORDED.read_text())


def analysed(expression: str) -> Rex:
    """Return the resolved form of an expression."""
    [query] = parse_statements(f"SELECT {expression}")
    return analyse_expression(query.items[0].expression, RowType(()))


def answer(expression: str) -> dict[str, Any]:
    """Return the type and text, or the error, of an expression."""
    try:
        rex = analysed(expression)
        [(value,)] = Program([rex], None, RowType(())).rows([()])
    except HeadraceError as error:
        return {"error": f"{type(error).__name__}: {error}"}
    return {"type": sql_text(rex.type), "value": flink_text(value, rex.type)}
