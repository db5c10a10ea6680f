"""Collect what user code prints in a slot process, by subtask, for the driver to show on its standard output.

Decides what is a complete line, which subtask it belongs to, and how much an epoch may print. Costs nothing if nothing is
printed, because it replaces the stream behind `sys.stdout`. Output that bypasses `sys.stdout` (of child processes or C code)
goes to the process's own standard output.
"""

from __future__ import annotations

import io
import os
import threading
from typing import Any, cast

from headrace.worker.messages import TaskId

MOST_BYTES = 1 << 20
"""How much a subtask may print in an epoch; the rest is dropped, with a note."""


class UserOutput(io.RawIOBase):
    r"""A stream that assigns each line to the subtask that ran when it was written.

    >>> output = UserOutput(None)
    >>> output.begin((0, 1))
    >>> output.write(b"one\ntw")
    6
    >>> output.take("Map", ended=False), output.take("Map", ended=True)
    (b'one\n', b'tw\n')
    """

    def __init__(self, passed_on: Any) -> None:
        """`passed_on` is the process's own standard output."""
        self._passed_on = passed_on
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._task: TaskId | None = None
        self._open_lines: dict[tuple[TaskId | None, int], bytearray] = {}  # by task and thread
        self._lines: list[bytes] = []
        self._size = self._cut = 0
        self._gathers = True

    def as_text(self) -> io.TextIOWrapper:
        """Return the stream to use as `sys.stdout`."""
        return io.TextIOWrapper(cast("Any", self), encoding="utf-8", errors="backslashreplace", write_through=True)

    def begin(self, task: TaskId) -> None:
        """Assign everything that is printed from now on to this task."""
        self._task = task

    def take(self, name: str, ended: bool) -> bytes:
        """Return the complete lines since the last call. When a task ends, incomplete lines count as complete."""
        if not self._lines and not self._open_lines and not self._cut:
            return b""
        with self._lock:
            if ended:
                for place in [place for place in self._open_lines if place[0] == self._task]:
                    self._add(bytes(self._open_lines.pop(place)) + b"\n")
            if self._cut:
                self._lines.append(
                    f"headrace: {self._cut} lines that {name} printed in this epoch were cut here\n".encode()
                )
            taken, self._lines = b"".join(self._lines), []
            self._size = self._cut = 0
            return taken

    def pass_on(self) -> None:
        """From now on, print to the process's own standard output."""
        self._gathers = False
        left = self.take("it", ended=True)
        if left:
            self._write_through(left)

    # -- as a stream ----------------------------------------------------------------------------------------------

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        """Return the descriptor of the process's own standard output, for child processes."""
        return int(self._passed_on.fileno())

    def write(self, data: Any) -> int:
        """Keep the data. An incomplete line waits for its rest, separately for each thread."""
        text = bytes(data)
        if os.getpid() != self._pid or not self._gathers:  # a forked child's lines would be lost
            return self._write_through(text)
        with self._lock:
            place = (self._task, threading.get_ident())
            line = self._open_lines.pop(place, bytearray())
            line += text
            end = line.rfind(b"\n", len(line) - len(text)) + 1
            if end:
                self._add(bytes(line[:end]))
                del line[:end]
            elif len(line) > MOST_BYTES:
                self._add(bytes(line) + b"\n")
                line.clear()
            if line:
                self._open_lines[place] = line
        return len(text)

    def _write_through(self, text: bytes) -> int:
        self._passed_on.write(text.decode(errors="replace"))
        self._passed_on.flush()
        return len(text)

    def _add(self, lines: bytes) -> None:
        """Add complete lines, as many as fit."""
        room = MOST_BYTES - self._size
        kept = lines if len(lines) <= room else lines[: lines.rfind(b"\n", 0, room) + 1]
        if kept:
            self._lines.append(kept)
        if len(kept) < len(lines):
            self._cut += lines.count(b"\n", len(kept))
            self._size = MOST_BYTES
        else:
            self._size += len(kept)
