"""The types of single values: numbers, strings, instants, pickled objects."""

from __future__ import annotations

from enum import Enum
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.types.time import Instant
from headrace.types.typeinfo._base import TypeInformation


class BasicType(Enum):
    """The basic types and their printed names.

    >>> BasicType.INT.value
    'Integer'
    """

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


def _creator(basic_type: BasicType) -> staticmethod[[], BasicTypeInfo]:
    def create() -> BasicTypeInfo:
        return (InstantTypeInfo if basic_type is BasicType.INSTANT else BasicTypeInfo)(basic_type)

    create.__name__ = f"{basic_type.name}_TYPE_INFO"
    create.__qualname__ = f"BasicTypeInfo.{create.__name__}"
    create.__doc__ = f"Return the type ``Types.{basic_type.name}()``."
    return staticmethod(create)


class BasicTypeInfo(TypeInformation):
    """The type of a number, a string, a boolean or an instant.

    >>> BasicTypeInfo(BasicType.LONG)
    Long
    >>> BasicTypeInfo.LONG_TYPE_INFO() == BasicTypeInfo(BasicType.LONG)
    True
    """

    def __init__(self, basic_type: BasicType) -> None:
        if not isinstance(basic_type, BasicType):
            raise TypeMismatchError("BasicTypeInfo takes a basic type", seen=basic_type, expected="a BasicType")
        self._basic_type = basic_type

    @property
    def basic_type(self) -> BasicType:
        """Return the basic type."""
        return self._basic_type

    def __eq__(self, other: object) -> bool:
        """Compare the basic types only."""
        if not isinstance(other, TypeInformation):
            return NotImplemented
        return isinstance(other, BasicTypeInfo) and self._basic_type is other._basic_type

    def __hash__(self) -> int:
        return hash((BasicTypeInfo.__name__, self._basic_type.name))

    def __repr__(self) -> str:
        return self._basic_type.value

    STRING_TYPE_INFO = _creator(BasicType.STRING)
    BOOLEAN_TYPE_INFO = _creator(BasicType.BOOLEAN)
    BYTE_TYPE_INFO = _creator(BasicType.BYTE)
    SHORT_TYPE_INFO = _creator(BasicType.SHORT)
    INT_TYPE_INFO = _creator(BasicType.INT)
    LONG_TYPE_INFO = _creator(BasicType.LONG)
    FLOAT_TYPE_INFO = _creator(BasicType.FLOAT)
    DOUBLE_TYPE_INFO = _creator(BasicType.DOUBLE)
    CHAR_TYPE_INFO = _creator(BasicType.CHAR)
    BIG_INT_TYPE_INFO = _creator(BasicType.BIG_INT)
    BIG_DEC_TYPE_INFO = _creator(BasicType.BIG_DEC)
    INSTANT_TYPE_INFO = _creator(BasicType.INSTANT)


class InstantTypeInfo(BasicTypeInfo):
    """The type of ``Instant``; its internal form is the microseconds since 1970.

    >>> BasicTypeInfo.INSTANT_TYPE_INFO().to_internal_type(Instant.of_epoch_milli(3))
    3000
    """

    def need_conversion(self) -> bool:
        """Return True."""
        return True

    def to_internal_type(self, obj: Any) -> Any:
        """Return the microseconds since 1970, in steps of a millisecond."""
        return obj.to_epoch_milli() * 1000

    def from_internal_type(self, obj: Any) -> Any:
        """Return the instant."""
        return Instant.of_epoch_milli(obj // 1000)


class PickledBytesTypeInfo(TypeInformation):
    """The type of any Python object, and of a stream without a declared type.

    >>> PickledBytesTypeInfo()
    PickledByteArrayTypeInfo
    """

    def __repr__(self) -> str:
        return "PickledByteArrayTypeInfo"
