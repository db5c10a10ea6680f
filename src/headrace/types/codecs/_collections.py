"""Codecs of lists, arrays and maps, which are not encoded; only their elements are coerced.

Decides where ``None`` is allowed. A batch is checked by looking at all elements of all its lists at once.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import is_
from typing import Any

from headrace.types.codecs._codec import AnyCodec, Codec, mismatch
from headrace.types.codecs._texts import TextCodec

_LIST = frozenset({list})
_DICT = frozenset({dict})
_PLAIN: tuple[Any, Any] = (object.__reduce_ex__, object.__reduce__)


def _without_none(values: list[Any]) -> list[Any]:
    return [value for value in values if value is not None]


class ListCodec(Codec):
    """The codec of lists and arrays; ``gaps`` allows ``None`` among the elements.

    >>> from headrace.types.codecs._numbers import IntegerCodec
    >>> ListCodec("list of Long", IntegerCodec("Long", 64), gaps=True).coerce([[1, None], (2.0, 3)])
    [[1, None], [2, 3]]
    """

    def __init__(self, expected: str, element: Codec, *, gaps: bool) -> None:
        super().__init__(expected)
        self._element = element
        self._gaps = gaps

    def convert(self, value: Any) -> list[Any]:
        if not isinstance(value, (list, tuple, range, array)):
            raise mismatch(value, self.expected)
        convert = self._element.convert
        gaps = self._gaps
        converted = [None if gaps and element is None else convert(element) for element in value]
        return value if type(value) is list and all(map(is_, converted, value)) else converted

    def settled(self, values: Sequence[Any]) -> bool:
        """Return whether all are lists and all their elements have their type."""
        if not _LIST.issuperset(map(type, values)):
            return False
        elements = list(chain.from_iterable(values))
        return self._element.settled(_without_none(elements) if self._gaps else elements)


class MapCodec(Codec):
    """The codec of dicts; a value may be ``None``.

    >>> from headrace.types.codecs._numbers import FloatCodec
    >>> from headrace.types.codecs._texts import TextCodec
    >>> MapCodec("map", TextCodec("String"), FloatCodec("Double", "d")).coerce([{"a": 1, "b": None}])
    [{'a': 1.0, 'b': None}]
    """

    def __init__(self, expected: str, key: Codec, value: Codec, *, objects: bool = False) -> None:
        """Create the codec of dicts with these keys and values; ``objects`` converts any object to its attributes."""
        super().__init__(expected)
        self._key = key
        self._value = value
        self._objects = objects

    def convert(self, value: Any) -> dict[Any, Any]:
        """Return a dict of converted keys and values."""
        if self._objects and not isinstance(value, Mapping):
            value = self._attributes(value)
        if not isinstance(value, Mapping):
            raise mismatch(value, self.expected)
        keys = [self._key.convert(key) for key in value]
        items = [None if item is None else self._value.convert(item) for item in value.values()]
        if type(value) is dict and all(map(is_, keys, value)) and all(map(is_, items, value.values())):
            return value
        return dict(zip(keys, items, strict=True))

    def _attributes(self, value: Any) -> Any:
        """Convert an object like PyFlink's JVM: to its attributes, and the name of its class if values are strings."""
        kind: Any = type(value)
        if not hasattr(value, "__dict__") or (kind.__reduce_ex__, kind.__reduce__) != _PLAIN or isinstance(value, type):
            return value  # it does not pickle as its attributes
        state = value.__reduce_ex__(2)[2]
        if not isinstance(state, dict):
            return value
        named = {"__class__": f"{kind.__module__}.{kind.__qualname__}"}
        return {**state, **named} if isinstance(self._value, TextCodec | AnyCodec) else state

    def settled(self, values: Sequence[Any]) -> bool:
        """Return whether all are dicts and all their keys and values have their type."""
        if not _DICT.issuperset(map(type, values)):
            return False
        if not self._key.settled(list(chain.from_iterable(values))):
            return False
        return self._value.settled(_without_none(list(chain.from_iterable(map(dict.values, values)))))
