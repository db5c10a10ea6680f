"""Logical types of columns, with the names of Flink's tables; file formats are described with them.

Decides the types, their printed form and the stream type of each. Programs import `headrace.table.DataTypes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.logical_types import (
    ArrayType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    InstantType,
    IntType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    NullType,
    RowField,
    RowType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
)
from headrace.types.typeinfo import (
    ListTypeInfo,
    LocalZonedTimestampTypeInfo,
    ObjectArrayTypeInfo,
    RowTypeInfo,
    TypeInformation,
    Types,
)


class DataTypes:
    """Creates types.

    >>> DataTypes.DECIMAL(10, 2), DataTypes.ARRAY(DataTypes.BIGINT())
    (DecimalType(10, 2, true), ArrayType(BigIntType(true), true))
    """

    @staticmethod
    def NULL() -> DataType:
        """Only null."""
        return NullType()

    @staticmethod
    def CHAR(length: int, nullable: bool = True) -> CharType:
        """Strings of a fixed length."""
        return CharType(length, is_nullable=nullable)

    @staticmethod
    def VARCHAR(length: int, nullable: bool = True) -> VarCharType:
        """Strings up to a length."""
        return VarCharType(length, is_nullable=nullable)

    @staticmethod
    def STRING(nullable: bool = True) -> VarCharType:
        """Strings."""
        return VarCharType(is_nullable=nullable)

    @staticmethod
    def BOOLEAN(nullable: bool = True) -> DataType:
        """True or false."""
        return BooleanType(is_nullable=nullable)

    @staticmethod
    def BINARY(length: int, nullable: bool = True) -> BinaryType:
        """Bytes of a fixed length."""
        return BinaryType(length, is_nullable=nullable)

    @staticmethod
    def VARBINARY(length: int, nullable: bool = True) -> VarBinaryType:
        """Bytes up to a length."""
        return VarBinaryType(length, is_nullable=nullable)

    @staticmethod
    def BYTES(nullable: bool = True) -> VarBinaryType:
        """Bytes."""
        return VarBinaryType(is_nullable=nullable)

    @staticmethod
    def DECIMAL(precision: int, scale: int, nullable: bool = True) -> DecimalType:
        """Decimal numbers."""
        return DecimalType(precision, scale, is_nullable=nullable)

    @staticmethod
    def TINYINT(nullable: bool = True) -> DataType:
        """Integers of 8 bits."""
        return TinyIntType(is_nullable=nullable)

    @staticmethod
    def SMALLINT(nullable: bool = True) -> DataType:
        """Integers of 16 bits."""
        return SmallIntType(is_nullable=nullable)

    @staticmethod
    def INT(nullable: bool = True) -> DataType:
        """Integers of 32 bits."""
        return IntType(is_nullable=nullable)

    @staticmethod
    def BIGINT(nullable: bool = True) -> DataType:
        """Integers of 64 bits."""
        return BigIntType(is_nullable=nullable)

    @staticmethod
    def FLOAT(nullable: bool = True) -> DataType:
        """Floating-point numbers of 32 bits."""
        return FloatType(is_nullable=nullable)

    @staticmethod
    def DOUBLE(nullable: bool = True) -> DataType:
        """Floating-point numbers of 64 bits."""
        return DoubleType(is_nullable=nullable)

    @staticmethod
    def DATE(nullable: bool = True) -> DataType:
        """Dates."""
        return DateType(is_nullable=nullable)

    @staticmethod
    def TIME(precision: int = 0, nullable: bool = True) -> TimeType:
        """Times of day."""
        return TimeType(precision, is_nullable=nullable)

    @staticmethod
    def TIMESTAMP(precision: int = 6, nullable: bool = True) -> TimestampType:
        """Dates with times."""
        return TimestampType(precision, is_nullable=nullable)

    @staticmethod
    def TIMESTAMP_LTZ(precision: int = 6, nullable: bool = True) -> LocalZonedTimestampType:
        """Points in time."""
        return LocalZonedTimestampType(precision, is_nullable=nullable)

    TIMESTAMP_WITH_LOCAL_TIME_ZONE = TIMESTAMP_LTZ

    @staticmethod
    def ARRAY(element_type: DataType, nullable: bool = True) -> ArrayType:
        """Arrays."""
        return ArrayType(_checked(element_type), is_nullable=nullable)

    @staticmethod
    def MAP(key_type: DataType, value_type: DataType, nullable: bool = True) -> MapType:
        """Maps."""
        return MapType(_checked(key_type), _checked(value_type), is_nullable=nullable)

    @staticmethod
    def MULTISET(element_type: DataType, nullable: bool = True) -> MultisetType:
        """Elements with the number of times each occurs."""
        return MultisetType(_checked(element_type), is_nullable=nullable)

    @staticmethod
    def ROW(row_fields: Sequence[RowField | DataType] = (), nullable: bool = True) -> RowType:
        """Rows; unnamed fields are called f0, f1 and so on."""
        named = tuple(
            each if isinstance(each, RowField) else RowField(f"f{index}", _checked(each))
            for index, each in enumerate(row_fields)
        )
        return RowType(named, is_nullable=nullable)

    @staticmethod
    def FIELD(name: str, data_type: DataType, description: str | None = None) -> RowField:
        """A field of a row."""
        return RowField(name, _checked(data_type), description)


def _checked(given: object) -> DataType:
    if not isinstance(given, DataType):
        raise TypeMismatchError("A nested type must be a DataType", seen=given, expected="e.g. DataTypes.INT()")
    return given


_STREAM_TYPES: list[tuple[type[DataType], Callable[[], TypeInformation]]] = [
    (BooleanType, Types.BOOLEAN),
    (TinyIntType, Types.BYTE),
    (SmallIntType, Types.SHORT),
    (IntType, Types.INT),
    (BigIntType, Types.LONG),
    (FloatType, Types.FLOAT),
    (DoubleType, Types.DOUBLE),
    (DecimalType, Types.BIG_DEC),
    (CharType, Types.STRING),
    (VarCharType, Types.STRING),
    (BinaryType, lambda: Types.PRIMITIVE_ARRAY(Types.BYTE())),
    (VarBinaryType, lambda: Types.PRIMITIVE_ARRAY(Types.BYTE())),
    (DateType, Types.SQL_DATE),
    (TimeType, Types.SQL_TIME),
    (TimestampType, Types.SQL_TIMESTAMP),
    (LocalZonedTimestampType, LocalZonedTimestampTypeInfo),
    (InstantType, Types.INSTANT),
]


def stream_type(data_type: DataType) -> TypeInformation:
    """Return the type that values of a column have in a stream.

    >>> stream_type(DataTypes.ROW([DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.INT()))]))
    RowTypeInfo(a: ObjectArrayTypeInfo<Integer>)
    """
    if isinstance(data_type, RowType):
        return Types.ROW_NAMED(data_type.field_names(), [stream_type(part) for part in data_type.field_types()])
    if isinstance(data_type, ArrayType):
        return Types.OBJECT_ARRAY(stream_type(data_type.element_type))
    if isinstance(data_type, MapType):
        return Types.MAP(stream_type(data_type.key_type), stream_type(data_type.value_type))
    for kind, make in _STREAM_TYPES:
        if type(data_type) is kind:
            return make()
    raise InvalidProgramError("Streams have no type for this column type", seen=data_type)


def row_type_of_stream(kind: TypeInformation | None) -> RowType:
    """Return the column types of the rows of a stream.

    >>> row_type_of_stream(Types.ROW_NAMED(["a", "b"], [Types.LONG(), Types.LIST(Types.STRING())]))
    RowType(RowField(a, BigIntType(true)),RowField(b, ArrayType(VarCharType(2147483647, true), true)))
    """
    found = _column_type(kind)
    if not isinstance(found, RowType):
        raise InvalidProgramError("The stream does not contain rows", seen=kind)
    return found


def _column_type(kind: TypeInformation | None) -> DataType:
    if isinstance(kind, RowTypeInfo):
        parts = zip(kind.get_field_names(), kind.get_field_types())
        return DataTypes.ROW([DataTypes.FIELD(name, _column_type(part)) for name, part in parts])
    if isinstance(kind, (ListTypeInfo, ObjectArrayTypeInfo)):
        return DataTypes.ARRAY(_column_type(kind.element_type))
    if kind == Types.BIG_DEC():
        return DataTypes.DECIMAL(38, 18)
    for found, make in reversed(_STREAM_TYPES):
        if kind == make():
            return found()
    raise InvalidProgramError("Columns have no type for this stream type", seen=kind)
