"""A source that reads lines from a server's socket.

1. A thread connects, receives and puts lines into a bounded buffer. While the buffer is full it receives nothing, and TCP
   slows the server down.
2. If the server closes the connection, the thread reconnects up to `max_retry` times (-1: always), one second apart; after
   that the source is finished. Input after the last delimiter is a line too.

There are no positions: lines that were received before a failure are lost, as in Flink.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.line_limit import MAX_LINE_BYTES, line_too_long
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import EMPTY, Batch, ReaderContext, SplitReader
from headrace.errors import InvalidProgramError, LineTooLongError
from headrace.types.typeinfo import Types

_CHUNKS = 64
_RECEIVE = 1 << 16
_RETRY_SECONDS = 1.0
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class SocketText(Source):
    """Lines from `host:port`, in one subtask.

    >>> SocketText("localhost", 9999).bounded
    False
    """

    host: str
    port: int
    delimiter: str = "\n"
    max_retry: int = 0
    """How often to reconnect; -1: always."""
    bounded = False
    may_finish = True
    non_parallel = True
    produced_type = Types.STRING()

    def __post_init__(self) -> None:
        if not 0 < self.port < 65536:
            raise InvalidProgramError("port is out of range", seen=self.port, expected="a port from 1 to 65535")
        if self.max_retry < -1:
            raise InvalidProgramError(
                "maxNumRetries must be zero or larger (num retries), or -1 (infinite retries)", seen=self.max_retry
            )
        if not self.delimiter:
            raise InvalidProgramError("The delimiter of a socket source must not be empty")

    def splits(self, parallelism: int) -> list[Split]:
        return [Split("0")]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return _SocketReader(self)


class _SocketReader(SplitReader):
    def __init__(self, source: SocketText) -> None:
        self._source = source
        self._chunks: queue.Queue[list[str]] = queue.Queue(_CHUNKS)
        self._lines: list[str] = []
        self._stop = threading.Event()
        self._done = threading.Event()
        self._error: OSError | LineTooLongError | None = None
        self._connection: socket.socket | None = None
        self._thread = threading.Thread(target=self._run, name="headrace-socket-source", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        attempts = 0
        try:
            while not self._stop.is_set():
                try:
                    self._receive()
                    self._error = None
                except OSError as error:
                    self._error = error
                except LineTooLongError as error:
                    self._error = error
                    return
                attempts += 1
                if self._source.max_retry != -1 and attempts > self._source.max_retry:
                    return
                self._stop.wait(_RETRY_SECONDS)
        finally:
            self._done.set()

    def _receive(self) -> None:
        """Serve one connection from its start to its end."""
        delimiter = self._source.delimiter.encode()
        rest = bytearray()
        address = (self._source.host, self._source.port)
        with contextlib.closing(socket.create_connection(address, _CONNECT_SECONDS)) as connection:
            self._connection = connection
            connection.settimeout(None)
            while not self._stop.is_set():
                received = connection.recv(_RECEIVE)
                if not received:
                    break
                known = max(0, len(rest) - len(delimiter) + 1)  # a delimiter may begin in what came before
                rest += received
                last = rest.rfind(delimiter, known)
                if last >= 0:
                    self._put(bytes(rest[:last]).split(delimiter))
                    del rest[: last + len(delimiter)]
                elif len(rest) > MAX_LINE_BYTES:
                    raise line_too_long(f"the socket {self._source.host}:{self._source.port}")
        if rest:
            self._put([bytes(rest)])

    def _put(self, lines: list[bytes]) -> None:
        if not lines:
            return
        texts = [line.decode(errors="replace") for line in lines]
        if self._source.delimiter == "\n":
            texts = [text.removesuffix("\r") for text in texts]
        while not self._stop.is_set():
            with contextlib.suppress(queue.Full):
                self._chunks.put(texts, timeout=0.5)
                return

    def read(self, limit: int, now: int) -> Batch:
        done = self._done.is_set()
        while len(self._lines) < limit:
            try:
                self._lines += self._chunks.get_nowait()
            except queue.Empty:
                break
        if not self._lines:
            if done:
                if self._error is not None:
                    raise self._error
                self.finished = True
            return EMPTY
        values, self._lines = self._lines[:limit], self._lines[limit:]
        return Batch(values)

    def position(self) -> None:
        return None

    def close(self) -> None:
        self._stop.set()
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join(2.0)
