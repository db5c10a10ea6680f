"""Tables of the program's own elements: the types of their columns, as PyFlink infers them, and their internal rows."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.generated.collection import CollectionSource
from headrace.errors import TypeMismatchError
from headrace.table.connectors.base import TableSource
from headrace.table.conversion import row_writer
from headrace.types import logical_types as t
from headrace.types.logical_types import DataType, RowField, RowType
from headrace.types.row import Row

if TYPE_CHECKING:
    from headrace.datastream import DataStream, StreamExecutionEnvironment

_TYPES: list[tuple[type, DataType]] = [
    (bool, t.BooleanType()),
    (int, t.BigIntType()),
    (float, t.DoubleType()),
    (str, t.VarCharType()),
    (bytes, t.VarBinaryType()),
    (bytearray, t.VarBinaryType()),
    (Decimal, t.DecimalType(38, 18)),
    (datetime.datetime, t.LocalZonedTimestampType()),
    (datetime.date, t.DateType()),
    (datetime.time, t.TimeType(0)),
]


class ElementSource(TableSource):
    """Internal rows of the program."""

    def __init__(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Keep the rows."""
        self.rows = list(rows)

    def stream(self, env: StreamExecutionEnvironment, name: str) -> DataStream:
        """Return the rows in their order."""
        return env.from_source(CollectionSource(self.rows), WatermarkStrategy.no_watermarks(), name)


def rows_of(
    elements: Iterable[Any], schema: Any, time_zone: str, verify: bool = True
) -> tuple[RowType, list[tuple[Any, ...]]]:
    """Return the row type and the internal rows of a program's elements.

    >>> rows_of([(1, "a"), (None, "b")], ["id", "name"], "UTC")
    (RowType(RowField(id, BigIntType(true)),RowField(name, VarCharType(2147483647, true))), [(1, 'a'), (None, 'b')])
    """
    found = list(elements)
    row_type, wrapped = _row_type(found, schema)
    write = row_writer(row_type, time_zone)
    rows = []
    for number, element in enumerate(found):
        try:
            rows.append(write((element,) if wrapped else element))
        except TypeMismatchError as error:
            raise TypeMismatchError(
                f"Element {number}: {error.message}", seen=error.seen, expected=error.expected
            ) from None
    return row_type, rows


def _row_type(elements: list[Any], schema: Any) -> tuple[RowType, bool]:
    """Return the type, and whether an element is the only value of its row."""
    if isinstance(schema, RowType):
        return schema, False
    if isinstance(schema, DataType):
        return RowType((RowField("value", schema),)), True
    if schema is not None and not (isinstance(schema, (list, tuple)) and all(isinstance(n, str) for n in schema)):
        raise TypeMismatchError(
            "The schema of from_elements is a row type or a list of names", seen=schema, expected="DataTypes.ROW([...])"
        )
    if not elements:
        raise TypeMismatchError(
            "The types of no elements cannot be inferred", remedy="pass a row type as schema: DataTypes.ROW([...])"
        )
    names = _names(elements[0], schema)
    columns: list[list[Any]] = [[] for _ in names]
    for element in elements:
        values = _values(element, names)
        if len(values) != len(names):
            raise TypeMismatchError(
                "All elements must have as many values as the first one", seen=element, expected=", ".join(names)
            )
        for column, value in zip(columns, values):
            column.append(value)
    return RowType(tuple(RowField(name, _common(name, column)) for name, column in zip(names, columns))), False


def _names(element: Any, names: Sequence[str] | None) -> list[str]:
    if isinstance(element, Mapping):
        inferred = sorted(element)
    elif isinstance(element, Row):
        inferred = list(getattr(element, "_fields", None) or [f"_{i + 1}" for i in range(len(element))])
    elif isinstance(element, (tuple, list)):
        inferred = list(getattr(element, "_fields", None) or [f"_{i + 1}" for i in range(len(element))])
    else:
        raise TypeMismatchError(
            "The columns of an element cannot be inferred",
            seen=element,
            expected="a tuple, list, dict or Row",
            remedy="pass the type as schema, such as DataTypes.INT()",
        )
    if names is None:
        return inferred
    return [*names, *inferred[len(names) :]][: max(len(inferred), len(names))]


def _values(element: Any, names: Sequence[str]) -> list[Any]:
    if isinstance(element, Mapping):
        return [element.get(name) for name in sorted(element)]
    return list(element)


def _common(name: str, values: list[Any]) -> DataType:
    found: DataType | None = None
    for value in values:
        if value is None:
            continue
        kind = inferred_type(value)
        if found is None or found == kind:
            found = kind
        elif {type(found), type(kind)} == {t.BigIntType, t.DoubleType}:
            found = t.DoubleType()
        else:
            raise TypeMismatchError(
                f"The values of column '{name}' have different types", seen=f"{found!r} and {kind!r}"
            )
    if found is None:
        raise TypeMismatchError(
            f"The type of column '{name}' cannot be inferred: all its values are None",
            remedy="pass a row type as schema: DataTypes.ROW([...])",
        )
    return found


def inferred_type(value: Any) -> DataType:
    """Return the type of a Python object.

    >>> inferred_type([1]), inferred_type(Row(a=1.5))
    (ArrayType(BigIntType(true), true), RowType(RowField(a, DoubleType(true))))
    """
    for python, kind in _TYPES:
        if isinstance(value, python):
            return kind
    if isinstance(value, Mapping) and value:
        return t.MapType(_common("key", list(value)), _common("value", list(value.values())))
    if isinstance(value, Row):
        names = _names(value, None)
        return RowType(tuple(RowField(name, inferred_type(each)) for name, each in zip(names, value)))
    if isinstance(value, list) and value:
        return t.ArrayType(_common("element", value))
    if isinstance(value, tuple):
        return RowType(tuple(RowField(f"_{i + 1}", inferred_type(each)) for i, each in enumerate(value)))
    raise TypeMismatchError(
        "The type of a value cannot be inferred", seen=value, remedy="pass a row type as schema: DataTypes.ROW([...])"
    )
