"""How the disk backend stores values: one byte for the form, then a pickle.

Decides when the entry key must be stored with the value: when it cannot be read from its bytes on disk (``entry_codec``).
Called by the tables and timers of the disk backend. Everything it reads was written by this process.
"""

from __future__ import annotations

import pickle
from typing import Any

from headrace.errors import StateError, shortened
from headrace.state.safe_pickle import BY_VALUE, PLAIN, dump

__all__ = ["pack_listed", "pack_value", "unpack", "unpack_listed"]

_VALUE = b"v"
_LISTED = b"l"
_FIRST_VALUE = _VALUE[0]


def pack_value(value: Any) -> bytes:
    """Return the bytes of a value whose key can be read from the bytes it is stored under."""
    return _VALUE + _pickled(value)


def pack_listed(entries: list[tuple[Any, Any]]) -> bytes:
    """Return the bytes of ``(entry key, value)`` pairs that are stored under the same bytes."""
    return _LISTED + _pickled(entries)


def unpack_listed(data: bytes) -> list[tuple[Any, Any]] | None:
    """Return the pairs; None if it is a single value."""
    return None if data[0] == _FIRST_VALUE else pickle.loads(memoryview(data)[1:])  # noqa: S301 - written by this process


def unpack(data: bytes, entry_key: Any, missing: Any) -> Any:
    """Return the value of an entry, ``missing`` if it is not among those stored here.

    >>> unpack(pack_value([1]), "a", None), unpack(pack_listed([(1.5, "x")]), 1.5, None)
    ([1], 'x')
    """
    if data[0] == _FIRST_VALUE:
        return pickle.loads(memoryview(data)[1:])  # noqa: S301 - written by this process
    for key, value in pickle.loads(memoryview(data)[1:]):  # noqa: S301 - written by this process
        if key == entry_key:
            return value
    return missing


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value, protocol=5)
    except Exception:
        try:
            codec, data = dump(value)
        except Exception as error:
            raise StateError(
                f"A value cannot be kept on disk: {type(error).__name__}: {error}",
                seen=shortened(value),
                remedy="keep only picklable values in state: no locks, connections, generators or open files",
            ) from error
        assert codec in (PLAIN, BY_VALUE)  # pickle loads both
        return data
