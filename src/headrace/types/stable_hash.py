"""A hash of keys that is the same in every process, on every machine and in every Python version.

Decides which key group a key belongs to, so results must never change. Does not use Python's own ``hash``, which is
salted for strings and may differ between versions. Consistent with ``==``: 1, 1.0, ``True`` and ``Decimal(1)`` are the
same key, as in a dict. Called by the key groups of the state package, which cache results.
"""

from __future__ import annotations

import dataclasses
import datetime
import numbers
import uuid
import zlib
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import Enum, Flag
from fractions import Fraction
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.types.java_hash import double_hash, long_hash, string_hash, to_int32
from headrace.types.row import Row

_MASK = 0xFFFFFFFF
_MICROSECOND = datetime.timedelta(microseconds=1)


def stable_hash(key: Any) -> int:
    """Return the hash of a key as a signed integer of 32 bits; for strings and 64-bit integers it is Java's.

    An object of a class of the program is hashed by its pickled state, which must not contain anything that ``==``
    ignores.

    >>> stable_hash("hello"), stable_hash(7), stable_hash((1, "a")) == stable_hash((1.0, "a"))
    (99162322, 7, True)
    >>> stable_hash(object())
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: A key must be comparable by value, this one only equals itself ...
      seen:     <object object at ...> (object)
      remedy:   let the key selector return a field or a tuple of fields, or define __eq__ and __hash__ in the class
    """
    hash_of = _BY_TYPE.get(type(key))
    return hash_of(key) if hash_of is not None else _hash_of_other(key)


def murmur(code: int) -> int:
    """Return Flink's ``MathUtils.murmurHash``: the bits of a 32-bit hash mixed, as a non-negative number.

    >>> murmur(0), murmur(1), murmur(-1)
    (593689054, 68075478, 1982413648)
    """
    # One round of MurmurHash3 (32 bits, seed 0) over four bytes, then its finalizer.
    code = (code * 0xCC9E2D51) & _MASK
    code = ((code << 15) | (code >> 17)) & _MASK
    code = (code * 0x1B873593) & _MASK
    code = ((code << 13) | (code >> 19)) & _MASK
    code = ((code * 5 + 0xE6546B64) & _MASK) ^ 4
    code = ((code ^ (code >> 16)) * 0x85EBCA6B) & _MASK
    code = ((code ^ (code >> 13)) * 0xC2B2AE35) & _MASK
    code = to_int32(code ^ (code >> 16))
    # The lowest integer has no positive counterpart.
    return abs(code) if code != -0x80000000 else 0


def _of_int(key: int) -> int:
    if -(1 << 63) <= key < 1 << 63:
        return long_hash(int(key))
    # Java's BigInteger.hashCode: over the 32-bit digits of the magnitude.
    magnitude, code = abs(int(key)), 0
    for shift in range((magnitude.bit_length() - 1) // 32 * 32, -1, -32):
        code = (code * 31 + ((magnitude >> shift) & _MASK)) & _MASK
    return to_int32(-code if key < 0 else code)


def _of_float(key: float) -> int:
    return _of_int(int(key)) if key.is_integer() else double_hash(key)


def _of_fraction(key: Fraction) -> int:
    if key.denominator == 1:
        return _of_int(key.numerator)
    try:
        near = float(key)
    except OverflowError:
        near = 0.0
    return double_hash(near) if near == key else string_hash(f"{key.numerator}/{key.denominator}")


def _of_decimal(key: Decimal) -> int:
    return _of_fraction(Fraction(key)) if key.is_finite() else double_hash(float(key))


def _of_complex(key: complex) -> int:
    return _of_float(key.real) if key.imag == 0 else _of_items((key.real, key.imag))


def _of_items(items: Iterable[Any]) -> int:
    code = 1
    for item in items:
        code = (code * 31 + stable_hash(item)) & _MASK
    return to_int32(code)


def _of_set(key: Iterable[Any]) -> int:
    return to_int32(sum(murmur(stable_hash(item)) for item in key))


def _of_dict(key: dict[Any, Any]) -> int:
    return to_int32(sum(murmur(stable_hash(name) * 31 + stable_hash(value)) for name, value in key.items()))


def _of_row(key: Row) -> int:
    names = getattr(key, "_fields", None)
    # Equal rows may have their fields in different orders.
    return _of_items(key if names is None else key.get_fields_by_names(sorted(names)))


def _of_datetime(key: datetime.datetime) -> int:
    if key.utcoffset() is not None:
        key = key.astimezone(datetime.timezone.utc)
    return string_hash(key.isoformat())


def _of_time(key: datetime.time) -> int:
    day = datetime.timedelta(hours=key.hour, minutes=key.minute, seconds=key.second, microseconds=key.microsecond)
    return _of_int((day - (key.utcoffset() or datetime.timedelta())) // _MICROSECOND)


def _of_range(key: range) -> int:
    return _of_items((len(key), *key[:1], *key[1:2]))


_BY_TYPE: dict[type, Callable[[Any], int]] = {
    str: string_hash,
    int: _of_int,
    bool: int,
    float: _of_float,
    type(None): lambda _: 0,
    tuple: _of_items,
    bytes: lambda key: to_int32(zlib.crc32(key)),
    bytearray: lambda key: to_int32(zlib.crc32(key)),
    list: _of_items,
    dict: _of_dict,
    set: _of_set,
    frozenset: _of_set,
    Row: _of_row,
    Decimal: _of_decimal,
    Fraction: _of_fraction,
    complex: _of_complex,
    datetime.datetime: _of_datetime,
    datetime.date: lambda key: _of_int(key.toordinal()),
    datetime.time: _of_time,
    datetime.timedelta: lambda key: _of_int(key // _MICROSECOND),
    uuid.UUID: lambda key: _of_int(key.int),
    range: _of_range,
}


def _hash_of_other(key: Any) -> int:
    for base, hash_of in _BY_TYPE.items():  # subclasses, such as named tuples and IntEnum; datetime precedes date
        if isinstance(key, base):
            return hash_of(key)
    if isinstance(key, Enum):
        return _of_items((type(key).__qualname__, key.value if isinstance(key, Flag) else key.name))
    if isinstance(key, numbers.Number):  # such as numpy's, which equal Python's
        return _of_int(int(key)) if isinstance(key, numbers.Integral) else _of_complex(complex(key))  # type: ignore[call-overload]
    if hasattr(type(key), "__fspath__"):  # paths pickle differently from one Python version to the next
        return stable_hash(key.__fspath__())
    if type(key).__eq__ in _IDENTITY:
        raise TypeMismatchError(
            "A key must be comparable by value, this one only equals itself",
            seen=key,
            remedy="let the key selector return a field or a tuple of fields, or define __eq__ and __hash__ in the class",
        )
    if dataclasses.is_dataclass(key):
        compared = [getattr(key, field.name) for field in dataclasses.fields(key) if field.compare]
        return _of_items((type(key).__qualname__, compared))
    reduced = key.__reduce_ex__(2)
    return string_hash(reduced) if isinstance(reduced, str) else _of_items(map(_stated, reduced))


_IDENTITY: tuple[Any, ...] = (object.__eq__, type.__eq__)


def _stated(part: Any) -> Any:
    # In the pickled state of an object, classes and functions count as their names, iterators as their items.
    if isinstance(part, tuple):
        return [_stated(item) for item in part]
    if callable(part):
        return getattr(part, "__qualname__", type(part).__qualname__)
    return list(part) if hasattr(part, "__next__") else part
