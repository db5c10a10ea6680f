"""SQL expressions evaluated through the parser, the analyser and a program, with values in the text form of Flink's rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.unit.table.analysis.catalogs import MemoryCatalog

from headrace.table.analysis.entries import analyse_query
from headrace.table.functions.civil import MICROS_PER_DAY, civil_from_days
from headrace.table.functions.definition import Session
from headrace.table.functions.type_text import sql_text
from headrace.table.plan.relations import Project
from headrace.table.programs.program import Program
from headrace.table.sql import parse_statements
from headrace.types import logical_types as t
from headrace.types.java_formatting import double_text, float_text

CATALOG = MemoryCatalog()


def evaluate(expression: str, session: Session | None = None) -> tuple[str, str | None]:
    """Return the type and the value of an expression as text."""
    text = f"SELECT {expression}"
    session = session or Session()
    [query] = parse_statements(text)
    relation = analyse_query(query, CATALOG, session, text=text)
    assert isinstance(relation, Project)
    program = Program(relation.expressions, None, relation.input.row_type, session)
    [[value]] = program.rows([(0,)])
    kind = relation.row_type.fields[0].data_type
    return sql_text(kind), None if value is None else form(kind)(value)


def form(kind: t.DataType) -> Callable[[Any], str]:
    """Return the function that formats values of a type like Java's toString."""
    match kind:
        case t.FloatType():
            return float_text
        case t.DoubleType():
            return double_text
        case t.DateType():
            return date_text
        case t.TimeType():
            return lambda value: time_text(value * 1000)
        case t.TimestampType() | t.LocalZonedTimestampType():
            zoned = isinstance(kind, t.LocalZonedTimestampType)
            return lambda value: timestamp_text(value, zoned) + ("Z" if zoned else "")
        case t.BinaryType() | t.VarBinaryType():
            return lambda value: str([each - 256 if each > 127 else each for each in value])
        case t.ArrayType():
            element = or_null(kind.element_type)
            return lambda value: "[" + ", ".join(map(element, value)) + "]"
        case t.MapType():
            key, entry = or_null(kind.key_type), or_null(kind.value_type)
            return lambda value: "{" + ", ".join(sorted(f"{key(k)}={entry(v)}" for k, v in value.items())) + "}"
        case t.RowType():
            forms = [or_null(each) for each in kind.field_types()]
            return lambda value: "+I[" + ", ".join(one(each) for one, each in zip(forms, value)) + "]"
    return java_text


def or_null(kind: t.DataType) -> Callable[[Any], str]:
    inner = form(kind)
    return lambda value: "null" if value is None else inner(value)


def java_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def date_text(days: int) -> str:
    year, month, day = civil_from_days(days)
    return f"{year:04d}-{month:02d}-{day:02d}"


def time_text(micros: int, *, seconds_if_zero: bool = False) -> str:
    seconds, fraction = divmod(micros, 1_000_000)
    shown = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}"
    if seconds % 60 or fraction or seconds_if_zero:
        shown += f":{seconds % 60:02d}"
    if fraction:
        shown += f".{fraction // 1000:03d}" if fraction % 1000 == 0 else f".{fraction:06d}"
    return shown


def timestamp_text(micros: int, zoned: bool) -> str:
    days, rest = divmod(micros, MICROS_PER_DAY)
    return f"{date_text(days)}T{time_text(rest, seconds_if_zero=zoned)}"
