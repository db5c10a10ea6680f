"""Length-prefixed messages over a unix socket, between a courier and a slot process."""

from __future__ import annotations

import socket
import struct

_LENGTH = struct.Struct("<Q")
_CHUNK = 1 << 20
END_OF_FRAMES = b""


class Wire:
    """Sends and receives byte strings. An empty one marks the end of a series."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._reader = connection.makefile("rb", buffering=_CHUNK)
        self._writer = connection.makefile("wb", buffering=_CHUNK)

    def wait_at_most(self, seconds: float) -> None:
        """Lets what waits for the other side for longer raise TimeoutError."""
        self._connection.settimeout(seconds)

    def send(self, message: bytes) -> None:
        """Sends a message (buffered)."""
        self._writer.write(_LENGTH.pack(len(message)))
        self._writer.write(message)

    def flush(self) -> None:
        """Pushes what is buffered."""
        self._writer.flush()

    def receive(self) -> bytes:
        """The next message; EOFError if the other side is gone."""
        prefix = self._reader.read(_LENGTH.size)
        if len(prefix) < _LENGTH.size:
            raise EOFError("the other side has closed the connection")
        (length,) = _LENGTH.unpack(prefix)
        message: bytes = self._reader.read(length)
        if len(message) < length:
            raise EOFError("the other side has closed the connection in a message")
        return message

    def receive_all(self) -> list[bytes]:
        """Messages up to the end of the series."""
        messages = []
        while message := self.receive():
            messages.append(message)
        return messages

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        for stream in (self._reader, self._writer, self._connection):
            try:
                stream.close()
            except OSError:
                continue
