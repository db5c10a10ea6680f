"""Answers of real Flink to calls over tables, and the answers of this engine to the same calls.

The files in `tests/data/table` were written by `scripts/flink_answers/record.py`, which explains their form.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.unit.table.functions.flink_text import flink_text

from headrace.errors import HeadraceError
from headrace.operators.table.batches import TableColumns
from headrace.table.analysis.entries import analyse_expression
from headrace.table.functions.definition import Session
from headrace.table.functions.numbers import to_float32
from headrace.table.functions.type_text import sql_text
from headrace.table.plan.rex import Rex
from headrace.table.programs import Program
from headrace.table.sql import parse_statements
from headrace.types.logical_types import RowField, RowType, VarCharType

DATA = Path(__file__).parents[3] / "data" / "table"
TEXT = RowType((RowField("x", VarCharType()),))
FAILS = "fails"
REFUSED = "refused"


def analysed(sql: str, row_type: RowType, session: Session) -> Rex:
    """Return the resolved form of an expression over columns."""
    text = f"SELECT {sql} FROM t"
    [query] = parse_statements(text)
    return analyse_expression(query.items[0].expression, row_type, session=session, text=text)


@dataclass(frozen=True)
class RecordedTable:
    """A table whose calls were recorded."""

    name: str
    data: dict[str, Any]

    @cached_property
    def session(self) -> Session:
        """The session that reads the table."""
        return Session(time_zone=self.data["time_zone"])

    @cached_property
    def _columns(self) -> list[Rex]:
        return [analysed(sql.replace("?", "x"), TEXT, self.session) for _, sql in self.data["columns"]]

    @cached_property
    def row_type(self) -> RowType:
        """The columns of the table."""
        return RowType(
            tuple(RowField(name, rex.type) for (name, _), rex in zip(self.data["columns"], self._columns, strict=True))
        )

    @cached_property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows in internal form."""
        programs = [Program([each], None, TEXT, self.session) for each in self._columns]
        return [
            tuple(program.rows([(text,)])[0][0] for program, text in zip(programs, row, strict=True))
            for row in self.data["rows"]
        ]

    def answer(self, call: str, columns: bool = False) -> Any:
        """Return the answer of this engine in the form of the recorded ones; errors without their messages."""
        try:
            rex = analysed(call, self.row_type, self.session)
        except HeadraceError:
            return REFUSED
        program = Program([rex], None, self.row_type, self.session)
        one = self._by_columns if columns else self._by_rows
        try:
            found = one(program, rex, self.rows)
        except HeadraceError:
            found = []
            for row in self.rows:
                try:
                    found += one(program, rex, [row])
                except HeadraceError:
                    found.append(FAILS)
        return sql_text(rex.type), [each if each == FAILS else flink_text(each, rex.type) for each in found]

    def _by_rows(self, program: Program, _: Rex, rows: list[tuple[Any, ...]]) -> list[Any]:
        return [value for (value,) in program.rows(rows)]

    def _by_columns(self, program: Program, rex: Rex, rows: list[tuple[Any, ...]]) -> list[Any]:
        result = program.columns(TableColumns(self.row_type).batch(rows))
        return [value for (value,) in TableColumns(RowType((RowField("x", rex.type),))).rows(result)]


def expected(answer: dict[str, Any]) -> Any:
    """Return a recorded answer without messages."""
    if REFUSED in answer:
        return REFUSED
    if "values" not in answer:
        # Flink refuses some calls only when it generates code; the time at which a call is refused does not matter.
        return REFUSED if answer["fails"].startswith("CodeGenException") else FAILS
    return answer["type"], [FAILS if isinstance(each, dict) else each for each in answer["values"]]


def agree(wanted: Any, found: Any) -> bool:
    """Return whether an answer is the recorded one."""
    if wanted == FAILS:
        return isinstance(found, tuple) and FAILS in found[1]
    if isinstance(wanted, tuple) and isinstance(found, tuple) and wanted[0].startswith("FLOAT"):
        # Java 17 does not always print the shortest digits of a float.
        return bool(wanted[0] == found[0] and list(map(_float, wanted[1])) == list(map(_float, found[1])))
    return bool(wanted == found)


def _float(text: str | None) -> Any:
    return text if text in (None, FAILS, "NaN") else to_float32(float(text or 0))


def recorded_tables(file: str) -> list[RecordedTable]:
    """Return the tables of a file."""
    return [RecordedTable(name, data) for name, data in json.loads((DATA / file).read_text()).items()]
