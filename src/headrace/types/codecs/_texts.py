"""Codecs of strings and bytes.

A column of strings is encoded as one string, joined by a character that none of them contains. This is about three
times as fast as pickling them one by one, and also checks their type.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace.types.codecs._codec import Codec, mismatch

_STR = frozenset({str})
_STR_OR_NONE = frozenset({str, type(None)})
_BYTES = frozenset({bytes})
_SEPARATOR = "\0"


class TextCodec(Codec):
    """The codec of ``Types.STRING``; may be ``None``.

    >>> codec = TextCodec("String")
    >>> codec.decode(codec.encode(["a", "b"])), codec.encode(["a", None])
    (['a', 'b'], ['a', None])
    """

    def convert(self, value: Any) -> str | None:
        """Return a plain ``str``."""
        if value is None or type(value) is str:
            return value
        if isinstance(value, str):
            return str.__str__(value)
        raise mismatch(value, self.expected)

    def settled(self, values: Sequence[Any]) -> bool:
        """Return whether all are plain ``str`` or ``None``."""
        return _STR_OR_NONE.issuperset(map(type, values))

    def encode(self, values: list[Any]) -> str | list[Any]:
        """Return the joined strings, or the list of them if they cannot be joined."""
        try:
            joined = _SEPARATOR.join(values)
        except TypeError:  # a None, or a wrong type
            return self.coerce(values)
        if joined.count(_SEPARATOR) == len(values) - 1:
            return joined
        return self.coerce(values)

    def decode(self, encoded: str | list[Any]) -> list[Any]:
        return encoded.split(_SEPARATOR) if isinstance(encoded, str) else encoded


class CharCodec(Codec):
    """The codec of ``Types.CHAR``: strings of one character.

    >>> CharCodec("Char").encode(["a", "b"])
    'ab'
    """

    def convert(self, value: Any) -> str:
        """Return a plain ``str`` of one character."""
        if isinstance(value, str) and len(value) == 1:
            return value if type(value) is str else str.__str__(value)
        raise mismatch(value, f"{self.expected}, a string of one character")

    def settled(self, values: Sequence[Any]) -> bool:
        """Return whether all are plain ``str`` of one character."""
        return _STR.issuperset(map(type, values)) and set(map(len, values)) <= {1}

    def encode(self, values: list[Any]) -> str:
        """Return one string of all characters."""
        return "".join(self.coerce(values))

    def decode(self, encoded: str) -> list[str]:
        return list(encoded)


class BytesCodec(Codec):
    """The codec of ``Types.PRIMITIVE_ARRAY(Types.BYTE())``: ``bytes``; a ``bytearray`` becomes one.

    >>> BytesCodec("bytes").coerce([bytearray(b"a")])
    [b'a']
    """

    def convert(self, value: Any) -> bytes:
        if type(value) is bytes:
            return value
        if isinstance(value, (bytes, bytearray, memoryview)):
            return bytes(value)
        raise mismatch(value, self.expected, "use bytes, e.g. bytes([1, 2])" if isinstance(value, list) else None)

    def settled(self, values: Sequence[Any]) -> bool:
        return _BYTES.issuperset(map(type, values))
