"""Codecs of numbers and booleans: batches are encoded as the bytes of an array.

Decides what happens to an integer that does not fit, and how floats are rounded. Composite codecs use them for columns.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import Any

from headrace.types.codecs._codec import Codec, mismatch

_INT = frozenset({int})
_FLOAT = frozenset({float})
_BOOL = frozenset({bool})

# C's long is as wide as its long long on most systems, and array() fills it in two thirds of the time.
_WIDE = "l" if array("l").itemsize == 8 else "q"

# The array type codes for integers of each width, narrowest first: 64-bit values usually fit in 32 bits.
_CODES = {8: "b", 16: "h", 32: "i", 64: "i" + _WIDE}


def _pack(code: str, values: Sequence[Any]) -> bytes:
    packed = array(code, values)
    if sys.byteorder == "big":  # encoded batches may be read on another machine
        packed.byteswap()
    return packed.tobytes()


def _unpack(code: str, data: bytes) -> list[Any]:
    if sys.byteorder == "big":
        packed: array[Any] = array(code, data)
        packed.byteswap()
        return packed.tolist()
    return memoryview(data).cast(code).tolist()  # type: ignore[call-overload,no-any-return]


class IntegerCodec(Codec):
    """The codec of ``Types.BYTE/SHORT/INT/LONG``.

    A ``bool`` becomes 0 or 1, a ``float`` or ``Decimal`` is truncated. A number that does not fit is rejected, or wraps
    around like in Java if ``wrap`` is set.

    >>> IntegerCodec("Integer", 32).convert(1.7)
    1
    >>> IntegerCodec("Byte", 8, wrap=True).coerce([1, 200])
    [1, -56]
    """

    def __init__(self, expected: str, bits: int, *, wrap: bool = False) -> None:
        super().__init__(expected)
        self._codes = _CODES[bits]
        self._low = -(1 << bits - 1)
        self._high = (1 << bits - 1) - 1
        self._wrap = wrap

    def convert(self, value: Any) -> int:
        """Return an ``int`` in range."""
        number = value
        if type(value) is not int:
            if not hasattr(type(value), "__int__") and not hasattr(type(value), "__index__"):
                raise mismatch(value, self.expected)
            try:
                number = int(value)
            except (ValueError, OverflowError, TypeError):
                raise mismatch(value, self.expected) from None
        if self._low <= number <= self._high:
            return int(number)
        if self._wrap:
            return int((number - self._low) % (2 * -self._low) + self._low)
        raise mismatch(
            value,
            f"{self.expected}, {self._low} to {self._high}",
            "declare a wider type, e.g. Types.LONG()" if self._high < 1 << 62 else "declare Types.BIG_INT()",
        )

    def settled(self, values: Sequence[Any]) -> bool:
        """Return whether all are plain ``int`` in range."""
        if not _INT.issuperset(map(type, values)):
            return False
        try:
            array(self._codes[-1], values)
        except OverflowError:
            return False
        return True

    def encode(self, values: list[Any]) -> tuple[bool, bytes]:
        """Return the bytes of the narrowest array that holds the values, and whether it is the widest one."""
        try:
            return self._packed(values)
        except (TypeError, OverflowError):
            return self._packed(self.coerce(values))

    def _packed(self, values: list[Any]) -> tuple[bool, bytes]:
        for code in self._codes[:-1]:
            try:
                return False, _pack(code, values)
            except OverflowError:
                pass
        return True, _pack(self._codes[-1], values)

    def decode(self, encoded: tuple[bool, bytes]) -> list[int]:
        widest, data = encoded
        return _unpack(self._codes[-1 if widest else 0], data)


class FloatCodec(Codec):
    """The codec of ``Types.FLOAT`` (array code ``f``) and ``Types.DOUBLE`` (``d``); integers become floats.

    >>> FloatCodec("Float", "f").convert(1.1)
    1.100000023841858
    >>> FloatCodec("Double", "d").coerce([1, 2.5])
    [1.0, 2.5]
    """

    def __init__(self, expected: str, code: str) -> None:
        super().__init__(expected)
        self._code = code

    def convert(self, value: Any) -> float:
        """Return a ``float`` of the declared precision; a number too large for 32 bits becomes infinite."""
        try:
            number: float = array(self._code, (value,))[0]
        except (TypeError, OverflowError):
            raise mismatch(value, self.expected) from None
        same = type(value) is float and (number == value or value != value)  # noqa: PLR0124 - NaN is kept as it is
        return value if same else number

    def settled(self, values: Sequence[Any]) -> bool:
        """Return whether all are plain ``float`` of the declared precision."""
        if not _FLOAT.issuperset(map(type, values)):
            return False
        return self._code == "d" or array("f", values).tolist() == values

    def encode(self, values: list[Any]) -> bytes:
        """Return the bytes of an array; building it coerces."""
        try:
            return _pack(self._code, values)
        except (TypeError, OverflowError):
            return _pack(self._code, self.coerce(values))

    def decode(self, encoded: bytes) -> list[float]:
        return _unpack(self._code, encoded)


class BooleanCodec(Codec):
    """The codec of ``Types.BOOLEAN``; a number is true unless its integer part is 0.

    >>> BooleanCodec("Boolean").coerce([True, 0, 2])
    [True, False, True]
    """

    def convert(self, value: Any) -> bool:
        if type(value) is bool:
            return value
        try:
            return int(value.__int__()) != 0
        except (AttributeError, TypeError, ValueError, OverflowError):
            raise mismatch(value, self.expected) from None

    def settled(self, values: Sequence[Any]) -> bool:
        return _BOOL.issuperset(map(type, values))
