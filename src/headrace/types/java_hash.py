"""Java's hash codes of numbers and strings, and the iteration order of a ``java.util.HashMap``.

Used by ``stable_hash``, which decides key groups, and to print maps in Java's order.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterable
from typing import Any

from headrace.types.typeinfo import BasicType, BasicTypeInfo, TypeInformation

_MASK = 0xFFFFFFFF
_SHORT_TEXT = 32  # below this length, letting the number grow is faster than masking it at each character


def to_int32(number: int) -> int:
    """Return the lower 32 bits as a signed integer.

    >>> to_int32(2**31), to_int32(-1)
    (-2147483648, -1)
    """
    return ((number & _MASK) ^ 0x80000000) - 0x80000000


def long_hash(number: int) -> int:
    """Return ``Long.hashCode`` of a number of 64 bits: its two halves, exclusive or.

    >>> long_hash(7), long_hash(2**32), long_hash(-1)
    (7, 1, 0)
    """
    return to_int32(number ^ (number >> 32))


def string_hash(text: str) -> int:
    """Return ``String.hashCode``, over UTF-16 as in Java.

    >>> string_hash("hello"), string_hash("")
    (99162322, 0)
    """
    if text.isascii():
        units: Iterable[int] = text.encode("ascii")
    else:
        units = array("H", text.encode("utf-16" + _NATIVE, "surrogatepass"))
    result = 0
    if len(text) < _SHORT_TEXT:
        for unit in units:
            result = result * 31 + unit
    else:
        for unit in units:
            result = (result * 31 + unit) & _MASK
    return to_int32(result)


_NATIVE = "-le" if array("H", b"\1\0")[0] == 1 else "-be"


def double_hash(number: float) -> int:
    """Return ``Double.hashCode``; the same for all NaN values.

    >>> double_hash(1.5), double_hash(float("nan"))
    (1073217536, 2146959360)
    """
    if number != number:  # noqa: PLR0124 - NaN
        return 0x7FF80000
    return long_hash(struct.unpack(">q", struct.pack(">d", number))[0])


def _float_hash(number: float) -> int:
    return int(struct.unpack(">i", struct.pack(">f", number))[0])


_KEY_HASHES: dict[BasicType, Callable[[Any], int]] = {
    BasicType.STRING: string_hash,
    BasicType.BYTE: to_int32,
    BasicType.SHORT: to_int32,
    BasicType.INT: to_int32,
    BasicType.LONG: long_hash,
    BasicType.BOOLEAN: lambda value: 1231 if value else 1237,
    BasicType.DOUBLE: double_hash,
    BasicType.FLOAT: _float_hash,
    BasicType.CHAR: ord,
}


def hash_map_order(keys: Iterable[Any], key_type: TypeInformation, buckets: int = 4) -> list[Any]:
    """Return keys in the iteration order of a Java ``HashMap``; keys of other types keep their order.

    ``buckets`` is the initial number of buckets, which doubles as the map fills.

    >>> from headrace.common import Types
    >>> hash_map_order(["a", "b", "zz", "y", "c"], Types.STRING())
    ['zz', 'a', 'y', 'b', 'c']
    """
    ordered = list(keys)
    hash_of = _KEY_HASHES.get(key_type.basic_type) if isinstance(key_type, BasicTypeInfo) else None
    if hash_of is None or len(ordered) < 2:
        return ordered
    while len(ordered) > buckets * 0.75:
        buckets *= 2

    last = buckets - 1

    def bucket(key: Any) -> int:
        code = 0 if key is None else hash_of(key) & _MASK
        return int((code ^ (code >> 16)) & last)

    return sorted(ordered, key=bucket)
