"""The protocol between a courier and a slot process: messages with a length prefix over a unix socket.

1. The courier sends a pickled `Request`. 2. The slot answers whether it has the job's spec, and receives it if not. 3. The
courier sends the task's frames, up to an empty one. 4. The slot sends the task's frames, up to an empty one. A slot is
ended by a signal. Light: couriers import this module.
"""

from __future__ import annotations

import signal
import socket
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from headrace.config.worker_settings import TimeLimit

NEEDS_SPEC, HAS_SPEC = b"needs spec", b"has spec"
END_OF_FRAMES = b""
TIMEOUT_GRACE = 2.0
"""Seconds after a task's deadline: if its slot has not ended itself by then, its courier kills it."""
STACK_SIGNAL = signal.SIGUSR2
"""Makes a slot that cannot do anything else write its stack to a file."""
_LENGTH = struct.Struct("<Q")
_CHUNK = 1 << 20


class Request(NamedTuple):
    """One task's part of an epoch. `order` is a pickled EpochOrder."""

    order: bytes
    task_id: tuple[int, int]
    attempt: int
    limit: TimeLimit | None = None


class Wire:
    """Sends and receives byte strings. An empty one marks the end of a series."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = connection.makefile("rb", buffering=_CHUNK)
        self._writer = connection.makefile("wb", buffering=_CHUNK)

    def wait_at_most(self, seconds: float) -> None:
        """Raise TimeoutError from calls that wait longer than this for the other side."""
        self._connection.settimeout(seconds)

    def send(self, message: bytes) -> None:
        """Send a message (buffered)."""
        self._writer.write(_LENGTH.pack(len(message)))
        self._writer.write(message)

    def flush(self) -> None:
        self._writer.flush()

    def receive(self) -> bytes:
        """Return the next message. Raise EOFError if the other side closed the connection."""
        prefix = self._reader.read(_LENGTH.size)
        if len(prefix) < _LENGTH.size:
            raise EOFError("the other side closed the connection")
        (length,) = _LENGTH.unpack(prefix)
        message: bytes = self._reader.read(length)
        if len(message) < length:
            raise EOFError("the other side closed the connection in the middle of a message")
        return message

    def receive_all(self) -> list[bytes]:
        """Return the messages up to the end of the series."""
        messages = []
        while message := self.receive():
            messages.append(message)
        return messages

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        for stream in (self._reader, self._writer, self._connection):
            try:
                stream.close()
            except OSError:
                continue
