"""The base class of all type information."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.errors import NoJvmError, TypeMismatchError


class TypeInformation(NoJvmObject):
    """The type of a stream, a state or a field. Immutable, comparable, hashable, picklable.

    >>> TypeInformation().need_conversion()
    False
    """

    def get_java_type_info(self) -> Any:
        """Raise NoJvmError: there is no Flink JVM.

        >>> TypeInformation().get_java_type_info()
        Traceback (most recent call last):
        ...
        headrace.errors.NoJvmError: There is no JVM type in headrace [NO_JVM]
          seen:     get_java_type_info() of TypeInformation
          remedy:   pass the type itself
        """
        raise NoJvmError(
            "There is no JVM type in headrace",
            seen=f"get_java_type_info() of {type(self).__name__}",
            remedy="pass the type itself",
        )

    def need_conversion(self) -> bool:
        """Return whether ``to_internal_type`` changes a value.

        >>> TypeInformation().need_conversion()
        False
        """
        return False

    def to_internal_type(self, obj: Any) -> Any:
        """Return the internal form of a value, e.g. the days since 1970 for a date.

        >>> TypeInformation().to_internal_type(5)
        5
        """
        return obj

    def from_internal_type(self, obj: Any) -> Any:
        """Return the value of an internal form.

        >>> TypeInformation().from_internal_type(5)
        5
        """
        return obj

    def _parts(self) -> tuple[Any, ...]:
        # Types are equal if they have the same class and equal parts.
        return ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TypeInformation):
            return NotImplemented
        return self is other or (type(self) is type(other) and self._parts() == other._parts())

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._parts()))

    def __repr__(self) -> str:
        return type(self).__name__


def checked_type(value: object, what: str) -> TypeInformation:
    """Return ``value`` if it is a type; otherwise raise an error that guesses the mistake.

    >>> checked_type(int, "The element type")
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: The element type is not a TypeInformation [TYPE_MISMATCH]
      seen:     <class 'int'> (type)
      expected: a TypeInformation, e.g. Types.INT()
    """
    if isinstance(value, TypeInformation):
        return value
    name = getattr(value, "__name__", "")
    raise TypeMismatchError(
        f"{what} is not a TypeInformation",
        seen=value,
        expected="a TypeInformation, e.g. Types.INT()",
        remedy=f"call it: Types.{name}()" if callable(value) and name.isupper() else None,
    )


def checked_types(values: object, what: str) -> list[TypeInformation]:
    """Return ``values`` as a list of types; otherwise raise an error that guesses the mistake.

    >>> checked_types([TypeInformation()], "Types.TUPLE")
    [TypeInformation]
    """
    if not isinstance(values, Sequence) or isinstance(values, (str, bytes)):
        raise TypeMismatchError(
            f"{what} takes a list of field types", seen=values, expected="e.g. [Types.INT(), Types.STRING()]"
        )
    return [checked_type(value, f"Field {position} of {what}") for position, value in enumerate(values)]
