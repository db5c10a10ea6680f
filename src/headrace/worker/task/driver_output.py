"""A task's output for the driver besides its acknowledgement: printed lines and collected records, as control frames."""

from __future__ import annotations

from typing import Any

from headrace.worker.exchange.buffers import Send
from headrace.worker.exchange.frames import DRIVER_OUTPUT, control_frame
from headrace.worker.messages import DriverOutput, TaskId

_FRAME_RECORDS = 20_000


class DriverOutputBuffer:
    """Collects output in order and sends it in frames of bounded size."""

    def __init__(self) -> None:
        self._task: TaskId = (0, 0)
        self._attempt = 0
        self._sequence = 0
        self._send: Send
        self._output = DriverOutput()
        self._count = 0

    def begin_epoch(self, task: TaskId, attempt: int, send: Send) -> None:
        self._task, self._attempt, self._send = task, attempt, send
        self._sequence, self._count, self._output = 0, 0, DriverOutput()

    def print_lines(self, lines: list[str], stderr: bool) -> None:
        self._output.printed.append((stderr, lines))
        self._counted(len(lines))

    def collect(self, collect_id: str, values: list[Any]) -> None:
        self._output.collected.append((collect_id, values))
        self._counted(len(values))

    def flush(self) -> None:
        if self._count:
            frame = control_frame(DRIVER_OUTPUT, self._task, self._attempt, self._output, self._sequence)
            self._send(*self._task, frame)
            self._sequence += 1
            self._output, self._count = DriverOutput(), 0

    def _counted(self, records: int) -> None:
        self._count += records
        if self._count >= _FRAME_RECORDS:
            self.flush()
