"""Convert the argument of `key_by` (a function, a KeySelector, a position or a field name) to a plain callable.

Called by the stream classes; the callables run in the tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions import KeySelector, MapFunction, RuntimeContext
from headrace.types.row import Row
from headrace.types.typeinfo import RowTypeInfo, TupleTypeInfo, TypeInformation


@dataclass(frozen=True)
class FieldByName:
    """Extracts a field by name: of a Row, of a mapping, or an attribute of any other object.

    >>> FieldByName("user")({"user": "ann"})
    'ann'
    >>> FieldByName("imag")(3 + 4j)
    4.0
    """

    name: str

    def __call__(self, element: Any) -> Any:
        """Return the field of ``element``."""
        if isinstance(element, (Row, Mapping)):
            return element[self.name]
        return getattr(element, self.name)


class KeyAndElement(MapFunction):
    """Returns a row of the key of an element and the element.

    >>> KeyAndElement(len).map("abc")
    <Row(3, 'abc')>
    """

    def __init__(self, selector: Callable[[Any], Any]) -> None:
        """Set the result of `key_function`."""
        self._selector = selector
        owner = getattr(selector, "__self__", None)
        self._owner = owner if isinstance(owner, KeySelector) else None

    def open(self, runtime_context: RuntimeContext) -> None:
        """Open the key selector."""
        if self._owner is not None:
            self._owner.open(runtime_context)

    def close(self) -> None:
        """Close the key selector."""
        if self._owner is not None:
            self._owner.close()

    def map(self, value: Any) -> Row:
        """Return the row."""
        return Row(self._selector(value), value)


def key_function(given: object, element_type: TypeInformation | None) -> Callable[[Any], Any]:
    """Return the callable of a key selector.

    For a `KeySelector` it is the bound `get_key`, so that the task finds the object to open in ``__self__``.

    >>> key_function(1, None)(("a", "b"))
    'b'
    >>> key_function(None, None)
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: Parameter key_selector should be type of KeySelector or a callable function. [TYPE_MISMATCH]
      seen:     None
      expected: a function, a KeySelector, the position of a field, or its name
    """  # noqa: E501 - the message is PyFlink's
    if isinstance(given, KeySelector):
        return given.get_key
    if isinstance(given, int) and not isinstance(given, bool):
        _check_position(given, element_type)
        return itemgetter(given)
    if isinstance(given, str):
        return _named_field(given, element_type)
    if callable(given) and not (isinstance(given, type) and issubclass(given, KeySelector)):
        return given
    raise TypeMismatchError(
        "Parameter key_selector should be type of KeySelector or a callable function.",
        seen="None" if given is None else given,
        expected="a function, a KeySelector, the position of a field, or its name",
        remedy=f"pass an object: {given.__name__}()" if isinstance(given, type) else None,
    )


def key_type_of(given: object, element_type: TypeInformation | None) -> TypeInformation | None:
    """Return the type of the key if the stream's type determines it: for a position or name in a tuple or row.

    >>> from headrace.common import Types
    >>> key_type_of(1, Types.TUPLE([Types.INT(), Types.STRING()]))
    String
    """
    if isinstance(given, bool) or not isinstance(given, (int, str)):
        return None
    if isinstance(element_type, RowTypeInfo):
        names = element_type.get_field_names()
        position = names.index(given) if isinstance(given, str) else given
        return element_type.get_field_types()[position]
    if isinstance(element_type, TupleTypeInfo) and isinstance(given, int):
        return element_type.get_field_types()[given]
    return None


def _named_field(name: str, element_type: TypeInformation | None) -> Callable[[Any], Any]:
    if isinstance(element_type, RowTypeInfo):
        names = list(element_type.get_field_names())
        if name not in names:
            raise InvalidProgramError(
                f"The stream has no field {name!r} to key by", expected=f"one of {', '.join(names)}"
            )
        return itemgetter(names.index(name))
    if isinstance(element_type, TupleTypeInfo):
        raise InvalidProgramError(
            "The fields of a tuple have no names", seen=name, remedy="key by position: key_by(0) is the first field"
        )
    return FieldByName(name)


def _check_position(position: int, element_type: TypeInformation | None) -> None:
    if isinstance(element_type, (RowTypeInfo, TupleTypeInfo)):
        count = len(element_type.get_field_types())
        if not -count <= position < count:
            raise InvalidProgramError(
                f"The stream has no field {position} to key by", expected=f"a position from 0 to {count - 1}"
            )
