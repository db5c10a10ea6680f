"""``Types``: creates the types that programs declare."""

from __future__ import annotations

from headrace.types.typeinfo._base import TypeInformation
from headrace.types.typeinfo._basic import BasicTypeInfo, PickledBytesTypeInfo
from headrace.types.typeinfo._collection import (
    BasicArrayTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
)
from headrace.types.typeinfo._composite import RowTypeInfo, TupleTypeInfo
from headrace.types.typeinfo._time import DateTypeInfo, TimestampTypeInfo, TimeTypeInfo


class Types:
    """Creates the types that a program declares.

    >>> Types.TUPLE([Types.STRING(), Types.LIST(Types.LONG())])
    TupleTypeInfo(String, ListTypeInfo<Long>)
    >>> Types.STRING(), Types.BYTE(), Types.BOOLEAN(), Types.SHORT(), Types.INT(), Types.LONG()
    (String, Byte, Boolean, Short, Integer, Long)
    >>> Types.FLOAT(), Types.DOUBLE(), Types.CHAR(), Types.BIG_INT(), Types.BIG_DEC(), Types.INSTANT()
    (Float, Double, Char, BigInteger, BigDecimal, Instant)
    >>> Types.SQL_DATE(), Types.SQL_TIME(), Types.SQL_TIMESTAMP(), Types.PICKLED_BYTE_ARRAY()
    (DateTypeInfo, TimeTypeInfo, TimestampTypeInfo, PickledByteArrayTypeInfo)
    """

    @staticmethod
    def STRING() -> TypeInformation:
        """Return the type of ``str``. May be ``None`` inside a row."""
        return BasicTypeInfo.STRING_TYPE_INFO()

    @staticmethod
    def BYTE() -> TypeInformation:
        """Return the type of an ``int`` of 8 bits."""
        return BasicTypeInfo.BYTE_TYPE_INFO()

    @staticmethod
    def BOOLEAN() -> TypeInformation:
        """Return the type of ``bool``."""
        return BasicTypeInfo.BOOLEAN_TYPE_INFO()

    @staticmethod
    def SHORT() -> TypeInformation:
        """Return the type of an ``int`` of 16 bits."""
        return BasicTypeInfo.SHORT_TYPE_INFO()

    @staticmethod
    def INT() -> TypeInformation:
        """Return the type of an ``int`` of 32 bits."""
        return BasicTypeInfo.INT_TYPE_INFO()

    @staticmethod
    def LONG() -> TypeInformation:
        """Return the type of an ``int`` of 64 bits."""
        return BasicTypeInfo.LONG_TYPE_INFO()

    @staticmethod
    def FLOAT() -> TypeInformation:
        """Return the type of a ``float`` of 32 bits."""
        return BasicTypeInfo.FLOAT_TYPE_INFO()

    @staticmethod
    def DOUBLE() -> TypeInformation:
        """Return the type of ``float``."""
        return BasicTypeInfo.DOUBLE_TYPE_INFO()

    @staticmethod
    def CHAR() -> TypeInformation:
        """Return the type of a ``str`` of one character."""
        return BasicTypeInfo.CHAR_TYPE_INFO()

    @staticmethod
    def BIG_INT() -> TypeInformation:
        """Return the type of an ``int`` of any size."""
        return BasicTypeInfo.BIG_INT_TYPE_INFO()

    @staticmethod
    def BIG_DEC() -> TypeInformation:
        """Return the type of ``decimal.Decimal``."""
        return BasicTypeInfo.BIG_DEC_TYPE_INFO()

    @staticmethod
    def INSTANT() -> TypeInformation:
        """Return the type of ``headrace.common.Instant``. May be ``None``."""
        return BasicTypeInfo.INSTANT_TYPE_INFO()

    @staticmethod
    def SQL_DATE() -> TypeInformation:
        """Return the type of ``datetime.date``."""
        return DateTypeInfo()

    @staticmethod
    def SQL_TIME() -> TypeInformation:
        """Return the type of ``datetime.time``, exact to the millisecond."""
        return TimeTypeInfo()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation:
        """Return the type of ``datetime.datetime``, exact to the millisecond."""
        return TimestampTypeInfo()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        """Return the type of any Python object, which is the default."""
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: list[TypeInformation]) -> RowTypeInfo:
        """Return the type of a row whose fields are named ``f0``, ``f1`` and so on.

        >>> Types.ROW([Types.INT(), Types.STRING()])
        RowTypeInfo(Integer, String)
        """
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: list[str], field_types: list[TypeInformation]) -> RowTypeInfo:
        """Return the type of a row with named fields.

        >>> Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])
        RowTypeInfo(id: Integer, name: String)
        """
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: list[TypeInformation]) -> TupleTypeInfo:
        """Return the type of a tuple.

        >>> Types.TUPLE([Types.INT(), Types.STRING()])
        TupleTypeInfo(Integer, String)
        """
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> PrimitiveArrayTypeInfo:
        """Return the type of a list of numbers without ``None``; of ``BYTE``, the type of ``bytes``.

        >>> Types.PRIMITIVE_ARRAY(Types.BYTE())
        PrimitiveArrayTypeInfo<Byte>
        """
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Return the type of a list of basic values; elements may be ``None``.

        >>> Types.BASIC_ARRAY(Types.STRING())
        BasicArrayTypeInfo<String>
        """
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Return the type of a list of any elements; elements may be ``None``.

        >>> Types.OBJECT_ARRAY(Types.BIG_DEC())
        ObjectArrayTypeInfo<BigDecimal>
        """
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation, value_type_info: TypeInformation) -> TypeInformation:
        """Return the type of a dict.

        >>> Types.MAP(Types.STRING(), Types.LONG())
        MapTypeInfo<String, Long>
        """
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> TypeInformation:
        """Return the type of a list without ``None``.

        >>> Types.LIST(Types.LONG())
        ListTypeInfo<Long>
        """
        return ListTypeInfo(element_type_info)
