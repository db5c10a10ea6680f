"""Frames carry everything between subtasks and back to the driver, as bytes that Spark moves without looking inside.

Layout: 1. header (fixed struct): kind, target level and partition, edge, upstream subtask, sequence number, attempt;
2. payload: one pickle (protocol 5). For DATA it is a list of items, see below; for other kinds the message itself.
   Objects whose class cannot be imported by name (it is defined in the program's main script, or inside a function) are
   pickled by value with cloudpickle, at a third of the speed.

Items of a DATA frame, in stream order:
    (RECORDS, values, timestamps, keys)   a run of records as encoded parallel lists; or a ColumnRun, with a TableKey
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
    """The fixed part of a frame. In control frames, `edge` and `upstream` are the level and partition of the sender."""

    kind: int
    level: int
    partition: int
    edge: int
    upstream: int
    sequence: int
    attempt: int


def pack(header: Header, payload: Any) -> bytes:
    """Return a frame.

    >>> unpack(pack(Header(DATA, 1, 0, 0, 2, 0, 7), ["x"]))
    (Header(kind=0, level=1, partition=0, edge=0, upstream=2, sequence=0, attempt=7), ['x'])
    """
    return _HEADER.pack(*header) + _pickled(payload)


def control_frame(kind: int, task: tuple[int, int], attempt: int, payload: Any, sequence: int = 0) -> bytes:
    """Return a frame from a task to the driver."""
    return pack(Header(kind, *task, *task, sequence, attempt), payload)


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
        remedy="emit plain data; create locks, connections, files and generators in the function's open().",
    )


def header_of(frame: bytes) -> Header:
    """Return the header without decoding the payload."""
    return Header(*_HEADER.unpack_from(frame))


def unpack(frame: bytes) -> tuple[Header, Any]:
    """Return header and payload. Frames come only from this job's own tasks."""
    return header_of(frame), pickle.loads(memoryview(frame)[_HEADER.size :])  # noqa: S301 - made by our own task


def encode_timestamps(timestamps: list[int | None] | None) -> Any:
    """Return timestamps in a form that pickles fast: as bytes, or the list itself if some are missing."""
    if timestamps is None:
        return None
    try:
        return array("q", cast(list[int], timestamps)).tobytes()
    except TypeError:
        return timestamps


def decode_timestamps(encoded: Any) -> list[int | None] | None:
    """Invert `encode_timestamps`.

    >>> decode_timestamps(encode_timestamps([3, 4])), decode_timestamps(encode_timestamps([3, None]))
    ([3, 4], [3, None])
    """
    if isinstance(encoded, bytes):
        numbers = array("q")
        numbers.frombytes(encoded)
        return numbers.tolist()  # type: ignore[return-value]
    return encoded  # type: ignore[no-any-return]
