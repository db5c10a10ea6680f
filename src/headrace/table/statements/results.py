"""Results of statements that need no job."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from headrace.table.catalogs.schemas import PhysicalColumn, ResolvedSchema
from headrace.table.result_kind import ResultKind
from headrace.table.table_result import TableResult
from headrace.types.logical_types import BooleanType, DataType, VarCharType

_STRING: DataType = VarCharType()


def ok() -> TableResult:
    """Return the result of a statement that has no rows."""
    schema = ResolvedSchema((PhysicalColumn("result", _STRING),))
    return TableResult(schema, [("OK",)], kind=ResultKind.SUCCESS, raw=True)


def texts(
    names: Sequence[str], rows: Iterable[Sequence[Any]], booleans: Sequence[str] = (), raw: bool = False
) -> TableResult:
    """Return rows of strings; the columns in `booleans` are BOOLEAN. With `raw` they are printed without a table."""
    columns = tuple(PhysicalColumn(name, BooleanType() if name in booleans else _STRING) for name in names)
    return TableResult(ResolvedSchema(columns), [tuple(row) for row in rows], raw=raw)
