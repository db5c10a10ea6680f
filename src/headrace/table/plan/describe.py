"""Expressions, columns and windows as text, in the layout of Flink's plans.

Plans show calls in two notations: `>(a, 1)` in the physical plan, `(a > 1)` in the execution plan and in names of
operators.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from headrace.table.functions.type_text import sql_text
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.relations import Window
from headrace.table.plan.rex import (
    AggregateCall,
    Call,
    FieldAccess,
    Frame,
    InputRef,
    Literal,
    OuterRef,
    OverCall,
    Rex,
    SortKey,
    Subquery,
)
from headrace.types.logical_types import (
    BigIntType,
    BinaryType,
    CharType,
    DataType,
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    RowType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)

_INFIX = {"=", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "AND", "OR", "LIKE", "||"}
_INFIX |= {"IS DISTINCT FROM", "IS NOT DISTINCT FROM"}
_POSTFIX = {"IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE"}
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Text:
    """Writes the parts of descriptions."""

    infix: bool = True

    def rex(self, rex: Rex, names: Sequence[str]) -> str:
        """Return an expression over columns with names."""
        match rex:
            case InputRef(index=index):
                return names[index] if index < len(names) else f"${index}"
            case Literal(value=value, type=kind):
                return self.literal(value, kind)
            case Call():
                return self._call(rex, names)
            case FieldAccess(value=value, index=index):
                kind = value.type
                name = kind.field_names()[index] if isinstance(kind, RowType) else str(index)
                return f"{self.rex(value, names)}.{name}"
            case OverCall(call=call):
                return f"{self.aggregate(call, names, named=False)} OVER (...)"
            case Subquery(kind=kind):
                return f"{kind}(...)"
            case OuterRef(index=index):
                return f"$cor.{index}"
        return str(rex)

    def _call(self, rex: Call, names: Sequence[str]) -> str:
        name = rex.function.name
        arguments = [self.rex(each, names) for each in rex.arguments]
        if name in ("CAST", "TRY_CAST"):
            return f"{name}({arguments[0]} AS {type_text(rex.type)})"
        if self.infix and name in _INFIX and len(arguments) > 1:
            return f"({f' {name} '.join(arguments)})"
        if self.infix and name in _POSTFIX and len(arguments) == 1:
            return f"{arguments[0]} {name}"
        return f"{name}({', '.join(arguments)})"

    def literal(self, value: Any, kind: DataType) -> str:  # noqa: PLR0911 - one for each kind
        """Return a constant."""
        if value is None:
            return f"null:{type_text(kind)}"
        match kind:
            case CharType() | VarCharType():
                return "'" + str(value).replace("'", "''") + "'"
            case BigIntType():
                return str(value) if self.infix else f"{value}:BIGINT"
            case BinaryType() | VarBinaryType():
                return f"X'{bytes(value).hex()}'"
            case DateType():
                return str((_EPOCH + timedelta(days=value)).date())
            case TimeType():
                return str((_EPOCH + timedelta(milliseconds=value)).time())
            case TimestampType() | LocalZonedTimestampType():
                shown = str((_EPOCH + timedelta(microseconds=value)).replace(tzinfo=None))
                return shown if self.infix else f"{shown}:{type_text(kind)}"
            case DayTimeIntervalType() | YearMonthIntervalType():
                return f"{value}:{type_text(kind)}"
        if isinstance(value, bool):
            return str(value).lower()
        return str(value)

    def named(self, expressions: Sequence[Rex], row_type: RowType, names: Sequence[str]) -> str:
        """Return expressions with the names of their columns."""
        shown = []
        for rex, name in zip(expressions, row_type.field_names()):
            text = self.rex(rex, names)
            shown.append(text if text == name else f"{text} AS {name}")
        return ", ".join(shown)

    def names(self, row_type: RowType) -> str:
        """Return the names of all columns."""
        return ", ".join(row_type.field_names())

    def columns(self, row_type: RowType, columns: Sequence[int]) -> str:
        """Return the names of some columns."""
        names = row_type.field_names()
        return ", ".join(names[column] for column in columns)

    def order(self, keys: Sequence[SortKey], names: Sequence[str]) -> str:
        """Return an ORDER BY."""
        return ", ".join(
            f"{names[key.index]} {'DESC' if key.descending else 'ASC'}"
            + ("" if key.nulls_first != key.descending else f" NULLS {'FIRST' if key.nulls_first else 'LAST'}")
            for key in keys
        )

    def aggregate(self, call: AggregateCall, names: Sequence[str], retracts: bool = False, named: bool = True) -> str:
        """Return an aggregate call with its name."""
        function = call.function.name + ("_RETRACT" if retracts else "")
        if call.arguments:
            arguments = ", ".join(names[column] for column in call.arguments)
        else:
            arguments = "*" if call.function.name == "COUNT" else ""
        text = f"{function}({'DISTINCT ' if call.distinct else ''}{arguments})"
        if call.filter is not None:
            text += f" FILTER {names[call.filter]}"
        if call.order_by:
            text += f" WITHIN GROUP ({self.order(call.order_by, names)})"
        return f"{text} AS {call.name}" if named and call.name else text

    def frame(self, frame: Frame) -> str:
        """Return the frame of an OVER window."""
        unit = "ROWS" if frame.rows else "RANGE"
        return f"{unit} BETWEEN {_bound(frame.start, 'PRECEDING')} AND {_bound(frame.end, 'FOLLOWING')}"

    def window(
        self, window: Window, row_type: RowType, attached: tuple[int, int] | None = None, legacy: bool = False
    ) -> str:
        """Return a window over time."""
        names = row_type.field_names()
        size, slide = duration_text(window.size), duration_text(window.slide)
        if window.by_rows:
            size, slide = str(window.size), str(window.slide)
        if legacy:
            extra = f", {slide}" if window.kind == "HOP" else ""
            return f"{_LEGACY.get(window.kind, window.kind)}('w$, {names[window.time]}, {size}{extra})"
        if attached is not None:
            place = f"win_start=[{names[attached[0]]}], win_end=[{names[attached[1]]}]"
        else:
            place = f"time_col=[{names[window.time]}]"
        match window.kind:
            case "TUMBLE":
                parts = [f"size=[{size}]"]
            case "HOP":
                parts = [f"size=[{size}]", f"slide=[{slide}]"]
            case "CUMULATE":
                parts = [f"max_size=[{size}]", f"step=[{slide}]"]
            case _:
                parts = [f"gap=[{size}]"]
        if window.offset:
            parts.append(f"offset=[{duration_text(window.offset)}]")
        if window.partition_by and attached is None:
            keys = ", ".join(names[column] for column in window.partition_by)
            parts.append(f"partition keys=[{keys}]")
        return f"{window.kind}({', '.join([place, *parts])})"


_LEGACY = {"TUMBLE": "TumblingGroupWindow", "HOP": "SlidingGroupWindow", "SESSION": "SessionGroupWindow"}


def _bound(value: int | None, side: str) -> str:
    if value is None:
        return f"UNBOUNDED {side}"
    if value == 0:
        return "CURRENT ROW"
    return f"{abs(value)} {'PRECEDING' if value < 0 else 'FOLLOWING'}"


def duration_text(millis: int) -> str:
    """Return a duration in the largest unit that fits.

    >>> duration_text(600_000), duration_text(1500), duration_text(86_400_000)
    ('10 min', '1500 ms', '1 d')
    """
    for size, unit in ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")):
        if millis and millis % size == 0:
            return f"{millis // size} {unit}"
    return f"{millis} ms"


def type_text(kind: DataType) -> str:
    """Return a type as plans show it: as in SQL, with its time attribute."""
    shown = sql_text(kind.nullable())
    attribute = getattr(kind, "time_attribute", None)
    return f"{shown} {attribute.value}" if attribute is not None else shown


def description(node: Node, text: Text, changelog: bool = False) -> str:
    """Return the line for a node: its name and its attributes."""
    parts = [f"{name}=[{value}]" for name, value in node.details(text)]
    if changelog:
        parts.append(f"changelogMode=[{','.join(node.changelog)}]")
    return f"{node.label}({', '.join(parts)})"


__all__ = ["Text", "description", "duration_text", "type_text"]
