"""Entry keys as bytes: equal keys have equal bytes, and the bytes of one key are never the beginning of another's.

Decides where an entry is on disk. Never used in state files, which contain the keys themselves. Called by the disk
backend.

Strings, bytes, integers, ``None`` and tuples of these are written in full and can be read back: they are *faithful*.
Values that equal one of these (``True``, ``2.0``, an ``IntEnum``, a named tuple) have the same bytes, but another class.
Everything else is written as its stable hash, which different keys may share. If bytes are not faithful, the key must be
stored with the value, and compared where the bytes are only a hash.
"""

from __future__ import annotations

import numbers
import struct
from decimal import Decimal
from typing import Any

from headrace.state.opaque_key import OpaqueKey
from headrace.types.stable_hash import murmur, stable_hash

EncodedKey = tuple[bytes, bool, bool]
"""(bytes, whether they are faithful, whether they are or hold a hash)."""

_LENGTH = struct.Struct(">I")
_INTEGER = struct.Struct(">Q")
_FLOAT = struct.Struct(">d")
_OFFSET = 1 << 63  # so that negative numbers come first
_NONE, _INT, _STR, _BYTES, _TUPLE, _REAL, _HASH = b"n", b"i", b"s", b"b", b"t", b"f", b"h"


def encode_key(key: Any) -> EncodedKey:
    """Return the bytes of a key.

    >>> encode_key("a")[0].hex(), encode_key("a")[1:]
    ('730000000161', (True, False))
    >>> encode_key((1, "a"))[0] == encode_key((1.0, "a"))[0], encode_key((1.0, "a"))[1]
    (True, False)
    """
    kind = type(key)
    if kind is str:
        data = key.encode("utf-8", "surrogatepass")
        return _STR + _LENGTH.pack(len(data)) + data, True, False
    if kind is int and -_OFFSET <= key < _OFFSET:
        return _INT + _INTEGER.pack(key + _OFFSET), True, False
    if kind is tuple:
        return _tuple(key, True)
    if key is None:
        return _NONE, True, False
    if kind is bytes:
        return _BYTES + _LENGTH.pack(len(key)) + key, True, False
    return _other(key)


def _tuple(key: tuple[Any, ...], faithful: bool) -> EncodedKey:
    parts = [_TUPLE, _LENGTH.pack(len(key))]
    hashed = False
    for item in key:
        data, item_faithful, item_hashed = encode_key(item)
        parts.append(data)
        faithful = faithful and item_faithful
        hashed = hashed or item_hashed
    return b"".join(parts), faithful, hashed


def _other(key: Any) -> EncodedKey:
    if isinstance(key, str):
        return encode_key(str.__str__(key))[0], False, False
    if isinstance(key, bytes):
        return encode_key(bytes(key))[0], False, False
    if isinstance(key, tuple):
        return _tuple(key, False)
    if isinstance(key, (numbers.Number, Decimal)):
        data = _number(key)
        if data is not None:
            return data, False, False
    form = key.frozen if type(key) is OpaqueKey else key
    return _HASH + _LENGTH.pack(murmur(stable_hash(form))), False, True


def _number(key: Any) -> bytes | None:
    """Return the bytes of a number that equals a small integer or a float."""
    try:
        whole = int(key)
        if whole == key:
            return _INT + _INTEGER.pack(whole + _OFFSET) if -_OFFSET <= whole < _OFFSET else None
        near = float(key)
        return _REAL + _FLOAT.pack(near) if near == key else None
    except (TypeError, ValueError, OverflowError):  # complex, nan, infinity
        return None


def decode_key(data: bytes) -> Any:
    """Return the key of faithful bytes.

    >>> decode_key(encode_key(("a", (-5, None), b"x"))[0])
    ('a', (-5, None), b'x')
    """
    return _decode(data, 0)[0]


def _decode(data: bytes, at: int) -> tuple[Any, int]:
    tag = data[at : at + 1]
    at += 1
    if tag == _NONE:
        return None, at
    if tag == _INT:
        return _INTEGER.unpack_from(data, at)[0] - _OFFSET, at + _INTEGER.size
    (length,) = _LENGTH.unpack_from(data, at)
    at += _LENGTH.size
    if tag == _TUPLE:
        items = []
        for _ in range(length):
            item, at = _decode(data, at)
            items.append(item)
        return tuple(items), at
    body = data[at : at + length]
    return (body.decode("utf-8", "surrogatepass") if tag == _STR else body), at + length
