"""What a job's output is to its program: printed lines at once, collected records by `execute_and_collect`.

With checkpoints, collected records are held back until the checkpoint that covers them is complete, so that whoever reads
them sees each once, whatever fails. Printed lines may come twice after a failure: an epoch that a lost process made
void shows nothing, but what came after the last checkpoint is computed again after a restart, and printed again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from queue import Empty, SimpleQueue
from typing import Any

from headrace.errors import JobExecutionError
from headrace.monitoring.progress import ProgressView
from headrace.worker.messages import DriverOutput

_MOST_UNCOLLECTED = 200_000
_POLL = 0.02
_DONE = object()


class DriverResults:
    """Queues of collected records by collect id; filled by the loop, emptied by the program."""

    def __init__(self, progress: ProgressView, hold: bool) -> None:
        self._progress = progress
        self._hold = hold
        self._held: list[tuple[str, list[Any]]] = []
        self._queues: dict[str, SimpleQueue[Any]] = {}
        self.uncollected = 0
        """Records that were released and that nobody has taken yet."""
        self._ended = False
        self._lock = threading.Lock()

    def take(self, outputs: list[DriverOutput]) -> None:
        """An epoch's output: what user code has printed, then what the sinks have."""
        printed = [(stderr, "\n".join(lines) + "\n") for output in outputs for stderr, lines in output.printed]
        self._write([*_said(outputs), *printed])
        self._held += [part for output in outputs for part in output.collected]
        if not self._hold:
            self.release()

    def say(self, outputs: list[DriverOutput]) -> None:
        """What user code has printed in an epoch that failed; its other output is going to be computed again."""
        self._write(_said(outputs))

    def _write(self, texts: list[tuple[bool, str]]) -> None:
        if not texts:
            return
        try:
            with self._progress.hidden():
                for stderr, text in texts:
                    stream = sys.stderr if stderr else sys.stdout
                    stream.write(text)
                    stream.flush()
        except BrokenPipeError as error:
            raise JobExecutionError("Nobody reads what the job prints: the output was closed") from error

    def release(self) -> None:
        """What was held back is covered by a checkpoint."""
        held, self._held = self._held, []
        for collect_id, values in held:
            with self._lock:
                self.uncollected += len(values)
            self._queue(collect_id).put(values)

    def drop(self) -> None:
        """What was held back is going to be computed again."""
        self._held = []

    def wait_for_reader(self, cancelled: threading.Event) -> None:
        """Whoever takes the results may be slower than the job: it waits, its memory does not grow."""
        while self.uncollected > _MOST_UNCOLLECTED and not cancelled.wait(_POLL):
            pass

    def end(self) -> None:
        """Nothing more comes."""
        with self._lock:
            self._ended = True
            for queue in self._queues.values():
                queue.put(_DONE)

    def read(self, collect_id: str, error: Callable[[], BaseException | None]) -> Iterator[Any]:
        """Records as they come; at the end raises what `error` gives, if anything."""
        queue = self._queue(collect_id)
        while True:
            try:
                batch = queue.get(timeout=0.2)
            except Empty:
                if not self._ended or not queue.empty():
                    continue
                batch = _DONE
            if batch is _DONE:
                if (failure := error()) is not None:
                    raise failure.with_traceback(None)
                return
            with self._lock:
                self.uncollected -= len(batch)
            yield from batch

    def _queue(self, collect_id: str) -> SimpleQueue[Any]:
        with self._lock:
            queue = self._queues.get(collect_id)
            if queue is None:
                queue = self._queues[collect_id] = SimpleQueue()
                if self._ended:
                    queue.put(_DONE)
            return queue


def _said(outputs: list[DriverOutput]) -> list[tuple[bool, str]]:
    return [(False, output.said.decode(errors="replace")) for output in outputs if output.said]
