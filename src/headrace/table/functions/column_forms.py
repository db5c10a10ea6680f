"""Column forms that several functions share. pyarrow is imported when a form is first made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.table.functions.definition import CallSite
from headrace.types.logical_types import (
    BigIntType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DoubleType,
    IntType,
    LocalZonedTimestampType,
    TimestampType,
    TimeType,
    VarCharType,
)

Columns = Callable[..., Any]


def arrow_type(data_type: DataType) -> Any:
    """Return the column type of a simple type, or None if it is not simple."""
    import pyarrow as pa

    if isinstance(data_type, (CharType, VarCharType)):
        return pa.string()
    if isinstance(data_type, (DateType, TimeType, IntType)):
        return pa.int32()
    if isinstance(data_type, (TimestampType, LocalZonedTimestampType, BigIntType)):
        return pa.int64()
    if isinstance(data_type, BooleanType):
        return pa.bool_()
    return pa.float64() if isinstance(data_type, DoubleType) else None


def is_array(value: Any) -> bool:
    """Return whether a value is a column and not a constant."""
    import pyarrow as pa

    return isinstance(value, (pa.Array, pa.ChunkedArray))


def flat(column: Any) -> Any:
    """Return a column as one array."""
    import pyarrow as pa

    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def by_distinct(rows: Callable[[CallSite], Callable[..., Any]]) -> Callable[[CallSite], Columns | None]:
    """Return a column form that computes the row form once per distinct value of the only argument that is a column."""

    def columns(site: CallSite) -> Columns | None:
        varying = [index for index, each in enumerate(site.arguments) if not each.constant]
        result_type = arrow_type(site.result)
        if len(varying) != 1 or result_type is None or arrow_type(site.arguments[varying[0]].type) is None:
            return None
        place = varying[0]
        before = [each.value for each in site.arguments[:place]]
        after = [each.value for each in site.arguments[place + 1 :]]
        if any(each is None for each in (*before, *after)):
            return None
        compute = rows(site)

        def run(*values: Any) -> Any:
            import pyarrow as pa

            encoded = flat(values[place]).dictionary_encode()
            answers = [compute(*before, each, *after) for each in encoded.dictionary.to_pylist()]
            return pa.array(answers, result_type).take(encoded.indices)

        return run

    return columns


def constants(site: CallSite, *places: int) -> list[Any] | None:
    """Return the values of arguments if all are constants and not null, else None."""
    found = [site.arguments[place].value for place in places]
    if any(not site.arguments[place].constant for place in places) or any(each is None for each in found):
        return None
    return found
