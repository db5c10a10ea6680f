"""The logical types of columns, with the names and the printed form of Flink's tables.

`headrace.types.data_types.DataTypes` creates them. Timestamps carry whether they are time attributes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

_LONGEST = 2**31 - 1
_NOT_SHOWN = ("is_nullable", "time_attribute", "is_json")


@dataclass(frozen=True)
class DataType:
    """The base of all types.

    >>> IntType(), IntType().not_null()
    (IntType(true), IntType(false))
    """

    is_nullable: bool = field(default=True, kw_only=True)

    def nullable(self) -> Any:
        """Return the type with nulls."""
        return replace(self, is_nullable=True)

    def not_null(self) -> Any:
        """Return the type without nulls."""
        return replace(self, is_nullable=False)

    def bridged_to(self, conversion_cls: str) -> Any:
        """Return the type itself: values are Python objects, not of a Java class.

        >>> TimeType(0).bridged_to("java.sql.Time")
        TimeType(0, true)
        """
        return self

    def __repr__(self) -> str:
        """Return PyFlink's form."""
        parts = [repr(getattr(self, f.name)) for f in fields(self) if f.name not in _NOT_SHOWN]
        return f"{type(self).__name__}({', '.join([*parts, str(self.is_nullable).lower()])})"


def _plain(name: str) -> type[DataType]:
    return dataclass(frozen=True, repr=False)(type(name, (DataType,), {"__module__": __name__}))


BooleanType = _plain("BooleanType")
TinyIntType = _plain("TinyIntType")
SmallIntType = _plain("SmallIntType")
IntType = _plain("IntType")
BigIntType = _plain("BigIntType")
FloatType = _plain("FloatType")
DoubleType = _plain("DoubleType")
DateType = _plain("DateType")
NullType = _plain("NullType")


@dataclass(frozen=True, repr=False)
class _Sized(DataType):
    length: int = _LONGEST
    is_json: bool = field(default=False, kw_only=True, compare=False)
    """Whether the value is the result of JSON_OBJECT, JSON_ARRAY or JSON: such values are nested, not quoted."""


class CharType(_Sized):
    """Strings of a fixed length."""


class VarCharType(_Sized):
    """Strings up to a length."""


class BinaryType(_Sized):
    """Bytes of a fixed length."""


class VarBinaryType(_Sized):
    """Bytes up to a length."""


@dataclass(frozen=True, repr=False)
class DecimalType(DataType):
    """Decimal numbers with `precision` digits, `scale` of them after the point."""

    precision: int = 10
    scale: int = 0


@dataclass(frozen=True, repr=False)
class _Precise(DataType):
    precision: int = 6


class TimeAttribute(Enum):
    """What makes a timestamp column a time attribute."""

    ROWTIME = "*ROWTIME*"
    PROCTIME = "*PROCTIME*"


@dataclass(frozen=True, repr=False)
class _Instant(_Precise):
    time_attribute: TimeAttribute | None = field(default=None, kw_only=True, compare=False)


class TimeType(_Precise):
    """Times of day."""


class TimestampType(_Instant):
    """Dates with times."""


class LocalZonedTimestampType(_Instant):
    """Points in time: datetimes with a time zone in a stream."""


class InstantType(LocalZonedTimestampType):
    """Points in time that are instants in a stream: columns of DataFrames, and of streams with `Types.INSTANT()`."""


@dataclass(frozen=True, repr=False)
class ArrayType(DataType):
    """Arrays."""

    element_type: DataType = field(default_factory=NullType)


@dataclass(frozen=True, repr=False)
class MapType(DataType):
    """Maps."""

    key_type: DataType = field(default_factory=NullType)
    value_type: DataType = field(default_factory=NullType)


@dataclass(frozen=True, repr=False)
class MultisetType(DataType):
    """Elements with the number of times each occurs."""

    element_type: DataType = field(default_factory=NullType)


@dataclass(frozen=True, repr=False)
class YearMonthIntervalType(DataType):
    """Numbers of months; `resolution` is YEAR, MONTH or YEAR TO MONTH."""

    resolution: str = "YEAR TO MONTH"


@dataclass(frozen=True, repr=False)
class DayTimeIntervalType(DataType):
    """Durations; `resolution` is for example DAY or DAY TO SECOND."""

    resolution: str = "DAY TO SECOND"
    fraction: int = 6


@dataclass(frozen=True, repr=False)
class RawType(DataType):
    """Python objects that only user-defined functions understand."""


@dataclass(frozen=True)
class RowField:
    """A field of a row.

    >>> RowField("a", IntType())
    RowField(a, IntType(true))
    """

    name: str
    data_type: DataType
    description: str | None = None

    def __repr__(self) -> str:
        """Return the name and the type."""
        return f"RowField({self.name}, {self.data_type!r})"


@dataclass(frozen=True)
class RowType(DataType):
    """Rows of named fields.

    >>> row = RowType((RowField("a", IntType()), RowField("b", VarCharType())))
    >>> row.field_names(), row.field_types()
    (['a', 'b'], [IntType(true), VarCharType(2147483647, true)])
    """

    fields: tuple[RowField, ...] = ()

    def field_names(self) -> list[str]:
        """Return the names."""
        return [each.name for each in self.fields]

    def field_types(self) -> list[DataType]:
        """Return the types."""
        return [each.data_type for each in self.fields]

    def __len__(self) -> int:
        """Return the number of fields."""
        return len(self.fields)

    def __repr__(self) -> str:
        """Return PyFlink's form."""
        return f"RowType({','.join(map(repr, self.fields))})"
