"""Frames: what travels between subtasks and back to the driver, as bytes that Spark moves without looking inside.

Layout: 1. header (fixed struct): kind, level and partition it is for, edge, upstream subtask, sequence number, attempt;
2. payload: one pickle (protocol 5). For DATA that is a list of items, see below; for the others the message itself.
   Objects whose class cannot be found by its name (it is defined in the program's own script, or inside a function) travel
   by value, which cloudpickle does at a third of the speed.

Items of a DATA frame, in stream order:
    (RECORDS, values, timestamps, keys)   a run of records as encoded parallel lists
    (WATERMARK, timestamp)   (IDLE, bool)   (END,)   (CLOCK, milliseconds)   (MARKER, latency marker)
"""

from __future__ import annotations

import pickle
import struct
from array import array
from typing import Any, NamedTuple, cast

_HEADER = struct.Struct("<BHIIIIQ")

DATA, ACK, DRIVER_OUTPUT, FAILURE = range(4)
RECORDS, WATERMARK, IDLE, END, CLOCK, MARKER = range(6)


class Header(NamedTuple):
    """The fixed part of a frame. For control frames `edge` and `upstream` say which partition of which level sent it."""

    kind: int
    level: int
    partition: int
    edge: int
    upstream: int
    sequence: int
    attempt: int


def pack(header: Header, payload: Any) -> bytes:
    """A frame.

    >>> unpack(pack(Header(DATA, 1, 0, 0, 2, 0, 7), ["x"]))
    (Header(kind=0, level=1, partition=0, edge=0, upstream=2, sequence=0, attempt=7), ['x'])
    """
    return _HEADER.pack(*header) + _pickled(payload)


def _pickled(payload: Any) -> bytes:
    try:
        return pickle.dumps(payload, protocol=5)
    except Exception as plain_error:
        import cloudpickle

        try:
            return cloudpickle.dumps(payload, protocol=5)  # type: ignore[no-any-return]
        except Exception:
            raise _unsendable(plain_error) from plain_error


def _unsendable(error: Exception) -> Exception:
    from headrace.errors import TypeMismatchError

    return TypeMismatchError(
        f"A record cannot be sent to another process: {error}",
        expected="records that can be pickled",
        remedy="emit plain data; locks, connections, files and generators belong into the function, made in open().",
    )


def header_of(frame: bytes) -> Header:
    """The header, without touching the payload."""
    return Header(*_HEADER.unpack_from(frame))


def unpack(frame: bytes) -> tuple[Header, Any]:
    """Header and payload. Frames come from this job's own tasks only."""
    return header_of(frame), pickle.loads(memoryview(frame)[_HEADER.size :])  # noqa: S301 - made by our own task


def encode_timestamps(timestamps: list[int | None] | None) -> Any:
    """Timestamps in a form that pickles fast: bytes if all are there, the list itself if some are missing."""
    if timestamps is None:
        return None
    try:
        return array("q", cast(list[int], timestamps)).tobytes()
    except TypeError:
        return timestamps


def decode_timestamps(encoded: Any) -> list[int | None] | None:
    """The inverse of `encode_timestamps`.

    >>> decode_timestamps(encode_timestamps([3, 4])), decode_timestamps(encode_timestamps([3, None]))
    ([3, 4], [3, None])
    """
    if isinstance(encoded, bytes):
        numbers = array("q")
        numbers.frombytes(encoded)
        return numbers.tolist()  # type: ignore[return-value]
    return encoded  # type: ignore[no-any-return]
