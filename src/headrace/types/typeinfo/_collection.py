"""The types of arrays, lists and maps, and the wrapper for types of the Table API."""

from __future__ import annotations

from typing import Any, ClassVar

from headrace.errors import TypeMismatchError
from headrace.types.typeinfo._base import TypeInformation, checked_type
from headrace.types.typeinfo._basic import BasicType, BasicTypeInfo

_PRIMITIVE = frozenset(
    {
        BasicType.BOOLEAN,
        BasicType.BYTE,
        BasicType.SHORT,
        BasicType.INT,
        BasicType.LONG,
        BasicType.FLOAT,
        BasicType.DOUBLE,
        BasicType.CHAR,
    }
)


class _ElementsTypeInfo(TypeInformation):
    _allowed: ClassVar[frozenset[BasicType] | None] = None

    def __init__(self, element_type: TypeInformation) -> None:
        self._element_type = checked_type(element_type, f"The element type of {type(self).__name__}")
        if self._allowed is not None:
            basic = element_type.basic_type if isinstance(element_type, BasicTypeInfo) else None
            if basic not in self._allowed:
                raise TypeMismatchError(
                    f"{type(self).__name__} cannot have these elements",
                    seen=str(element_type),
                    expected=" or ".join(sorted(allowed.value for allowed in self._allowed)),
                    remedy="use Types.OBJECT_ARRAY or Types.LIST",
                )

    @property
    def element_type(self) -> TypeInformation:
        """Return the type of the elements."""
        return self._element_type

    def _parts(self) -> tuple[Any, ...]:
        return (self._element_type,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self._element_type}>"


class PrimitiveArrayTypeInfo(_ElementsTypeInfo):
    """The type of an array of numbers or booleans without ``None``; an array of bytes is a ``bytes``.

    >>> PrimitiveArrayTypeInfo(BasicTypeInfo(BasicType.LONG))
    PrimitiveArrayTypeInfo<Long>
    """

    _allowed = _PRIMITIVE


class BasicArrayTypeInfo(_ElementsTypeInfo):
    """The type of an array of basic values; elements may be ``None``.

    >>> BasicArrayTypeInfo(BasicTypeInfo(BasicType.STRING))
    BasicArrayTypeInfo<String>
    """

    _allowed = _PRIMITIVE | {BasicType.STRING}


class ObjectArrayTypeInfo(_ElementsTypeInfo):
    """The type of an array of any elements; elements may be ``None``.

    >>> ObjectArrayTypeInfo(BasicTypeInfo(BasicType.BIG_DEC))
    ObjectArrayTypeInfo<BigDecimal>
    """


class ListTypeInfo(_ElementsTypeInfo):
    """The type of a list whose elements are not ``None``.

    >>> ListTypeInfo(BasicTypeInfo(BasicType.INT))
    ListTypeInfo<Integer>
    """

    @property
    def elem_type(self) -> TypeInformation:
        """Return the type of the elements, under PyFlink's name."""
        return self._element_type


class MapTypeInfo(TypeInformation):
    """The type of a dict; a value may be ``None``.

    >>> MapTypeInfo(BasicTypeInfo(BasicType.STRING), BasicTypeInfo(BasicType.INT))
    MapTypeInfo<String, Integer>
    """

    def __init__(self, key_type_info: TypeInformation, value_type_info: TypeInformation) -> None:
        self._key_type_info = checked_type(key_type_info, "The key type of a map")
        self._value_type_info = checked_type(value_type_info, "The value type of a map")

    @property
    def key_type_info(self) -> TypeInformation:
        """Return the type of the keys."""
        return self._key_type_info

    @property
    def value_type_info(self) -> TypeInformation:
        """Return the type of the values."""
        return self._value_type_info

    def _parts(self) -> tuple[Any, ...]:
        return (self._key_type_info, self._value_type_info)

    def __repr__(self) -> str:
        return f"MapTypeInfo<{self._key_type_info}, {self._value_type_info}>"


class ExternalTypeInfo(TypeInformation):
    """A type from the Table API; its values are those of the wrapped type.

    >>> ExternalTypeInfo(BasicTypeInfo(BasicType.INT))
    ExternalTypeInfo<Integer>
    """

    def __init__(self, type_info: TypeInformation) -> None:
        self._type_info = checked_type(type_info, "The type inside ExternalTypeInfo")

    @property
    def type_info(self) -> TypeInformation:
        """Return the wrapped type."""
        return self._type_info

    def _parts(self) -> tuple[Any, ...]:
        return (self._type_info,)

    def __repr__(self) -> str:
        return f"ExternalTypeInfo<{self._type_info}>"
