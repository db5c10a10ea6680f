"""The texts of rows: in printed tables as CAST to STRING makes them, in the print connector as Java prints rows."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

from headrace.table.functions.definition import Argument, CallSite, Session
from headrace.types import logical_types as t
from headrace.types.java_formatting import double_text, float_text
from headrace.types.logical_types import DataType, RowType

Text = Callable[[Any], str]
_EPOCH = datetime.datetime(1970, 1, 1)
_KINDS = ("+I", "-U", "+U", "-D")


# -- printed tables ---------------------------------------------------------------------------------------------------


def cell_texts(
    types: Sequence[DataType], session: Session | None = None
) -> Callable[[Sequence[Any]], list[str | None]]:
    """Return the function that makes the texts of a row's values, None for null."""
    convert = [_cast(kind, session or Session()) for kind in types]

    def texts(row: Sequence[Any]) -> list[str | None]:
        return [None if value is None else function(value) for function, value in zip(convert, row)]

    return texts


def _cast(kind: DataType, session: Session) -> Text:
    if isinstance(kind, (t.VarCharType, t.CharType)):
        return str
    from headrace.table.functions.registry import scalar_function

    site = CallSite((Argument(kind),), t.VarCharType(is_nullable=kind.is_nullable), session)
    return scalar_function("CAST").rows(site)


# -- the print connector ----------------------------------------------------------------------------------------------


class JavaRows:
    """A picklable function: an internal row to the text of Java's Row, with its kind before it.

    >>> rows = t.RowType(
    ...     (t.RowField("a", t.IntType()), t.RowField("b", t.VarCharType()), t.RowField("c", t.DateType()))
    ... )
    >>> JavaRows(rows)((1, "x", None)), JavaRows(rows, kinds=True)((1, "x", 2, 3))
    ('+I[1, x, null]', '-D[1, x, 1970-01-03]')
    """

    def __init__(self, row_type: RowType, kinds: bool = False) -> None:
        """Set the type of the rows."""
        self._arguments = (row_type, kinds)
        self._kinds = kinds
        self._texts = [_or_null(_java(kind)) for kind in row_type.field_types()]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the type only."""
        return type(self), self._arguments

    def __call__(self, row: Sequence[Any]) -> str:
        """Return the text of a row."""
        kind = _KINDS[row[-1]] if self._kinds else "+I"
        return f"{kind}[{', '.join([text(value) for text, value in zip(self._texts, row)])}]"


def _or_null(text: Text) -> Text:
    return lambda value: "null" if value is None else text(value)


def _java(kind: DataType) -> Text:  # noqa: PLR0911 - one for each type
    match kind:
        case t.RowType():
            return JavaRows(kind)
        case t.ArrayType(element_type=element):
            each = _or_null(_java(element))
            return lambda value: f"[{', '.join(map(each, value))}]"
        case t.MapType(key_type=key, value_type=value):
            return partial(_map, _or_null(_java(key)), _or_null(_java(value)))
        case t.MultisetType(element_type=element):
            return partial(_map, _or_null(_java(element)), str)
        case t.LocalZonedTimestampType():
            return lambda value: f"{_moment(value, seconds=True)}Z"
        case t.TimestampType():
            return _moment
        case t.TimeType():
            return lambda value: _clock(value * 1000)
        case t.BinaryType() | t.VarBinaryType():
            return lambda value: str([byte - 256 if byte > 127 else byte for byte in value])
    return _PLAIN.get(type(kind), str)


def _map(key: Text, value: Text, entries: dict[Any, Any]) -> str:
    return "{" + ", ".join([f"{key(k)}={value(v)}" for k, v in entries.items()]) + "}"


def _clock(micros: int, seconds: bool = False) -> str:
    """Return a time of day as Java does: without seconds if they are zero, with a fraction of 3 or 6 digits."""
    whole, fraction = divmod(micros, 1_000_000)
    text = f"{whole // 3600:02}:{whole // 60 % 60:02}"
    if whole % 60 or fraction or seconds:
        text += f":{whole % 60:02}"
    if fraction:
        text += f".{fraction // 1000:03}" if fraction % 1000 == 0 else f".{fraction:06}"
    return text


def _moment(micros: int, seconds: bool = False) -> str:
    days, rest = divmod(micros, 86_400_000_000)
    return f"{_date(days)}T{_clock(rest, seconds)}"


def _date(days: int) -> str:
    return (_EPOCH + datetime.timedelta(days=days)).date().isoformat()


def _months(months: int) -> str:
    years, rest = int(months / 12), months - int(months / 12) * 12
    return "P" + (f"{years}Y" if years else "") + (f"{rest}M" if rest or not years else "")


def _decimal(value: Decimal) -> str:
    return str(value if value else abs(value))  # Java has no negative zero


_PLAIN: dict[type[DataType], Text] = {
    t.BooleanType: lambda value: "true" if value else "false",
    t.FloatType: float_text,
    t.DoubleType: double_text,
    t.DecimalType: _decimal,
    t.DateType: _date,
    t.YearMonthIntervalType: _months,
}
