"""The base class of codecs, and the codec of untyped values."""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_
from typing import Any

from headrace.errors import TypeMismatchError, shortened


def mismatch(value: object, expected: str, remedy: str | None = None) -> TypeMismatchError:
    """Create the error for a value that cannot be converted to the declared type.

    >>> mismatch("x", "Long").expected
    'Long'
    """
    return TypeMismatchError(
        "A value does not have the declared type",
        seen=f"{shortened(value)} ({type(value).__name__})",
        expected=expected,
        remedy=remedy,
    )


class Codec:
    """Coerces, encodes and decodes batches of values of one type.

    A subclass implements ``convert`` and ``settled``. It overrides ``encode`` and ``decode`` where another form than
    the list of values is faster.

    >>> codec = AnyCodec("anything")
    >>> values = [1, "a"]
    >>> codec.coerce(values) is values, codec.decode(codec.encode(values)) == values
    (True, True)
    """

    def __init__(self, expected: str) -> None:
        """Create a codec; ``expected`` names the type in errors."""
        self.expected = expected

    def convert(self, value: Any) -> Any:
        """Return one value in the declared type (the same object if it has it), or raise ``TypeMismatchError``."""
        raise NotImplementedError

    def settled(self, values: Sequence[Any]) -> bool:
        """Check at C speed whether all values have the declared type; ``False`` means that each must be checked."""
        raise NotImplementedError

    def coerce(self, values: list[Any]) -> list[Any]:
        """Return the values in the declared type; the same list if nothing changes."""
        if self.settled(values):
            return values
        converted = [self.convert(value) for value in values]
        return values if all(map(is_, converted, values)) else converted

    def encode(self, values: list[Any]) -> Any:
        """Return a form of the coerced values that pickles fast."""
        return self.coerce(values)

    def decode(self, encoded: Any) -> list[Any]:
        """Return the values of the encoded form."""
        values: list[Any] = encoded
        return values


class AnyCodec(Codec):
    """The codec of arbitrary values, which it never changes.

    >>> AnyCodec("anything").convert(None) is None
    True
    """

    def convert(self, value: Any) -> Any:
        return value

    def settled(self, values: Sequence[Any]) -> bool:
        return True
