"""Hands a job's output to its program: printed lines at once, collected records through `execute_and_collect`.

With checkpoints, collected records are held back until the checkpoint that covers them is complete, so that a reader sees
each of them once, whatever fails. Printed lines may appear twice: an epoch that was lost with a process prints nothing,
but everything since the last checkpoint is computed and printed again after a restart.
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


class CollectedOutput:
    """Queues of collected records by collect id; filled by the loop, emptied by the program."""

    def __init__(self, progress: ProgressView, hold: bool) -> None:
        self._progress = progress
        self._hold = hold
        self._held: list[tuple[str, list[Any]]] = []
        self._sealed = 0
        """How much of it the checkpoint covers that is being made."""
        self._last = 0
        """The number of the last checkpoint that is known to be complete."""
        self._queues: dict[str, SimpleQueue[Any]] = {}
        self.uncollected = 0
        """Records that were released and that nobody has read yet."""
        self._ended = False
        self._lock = threading.Lock()

    def take(self, outputs: list[DriverOutput]) -> None:
        """Take in an epoch's output: what user code has printed, then what the sinks have."""
        printed = [(stderr, "\n".join(lines) + "\n") for output in outputs for stderr, lines in output.printed]
        self._write([*_said(outputs), *printed])
        self._held += [part for output in outputs for part in output.collected]
        if not self._hold:
            self.release()

    def say(self, outputs: list[DriverOutput]) -> None:
        """Print what user code has printed in an epoch that failed. Its other output will be computed again."""
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
            raise JobExecutionError("The output that the job prints to was closed") from error

    def seal(self) -> None:
        """Mark what is held back: a checkpoint that covers it is about to be made."""
        self._sealed = len(self._held)

    def completed(self, number: int) -> None:
        """Release what was held back: checkpoint `number` covers it."""
        self._last = number
        self.release()

    def recovered(self, number: int) -> None:
        """The job continues from a checkpoint: release what it covers, drop what will be computed again.

        A failure may strike after the checkpoint has become durable and before its output was released.
        """
        del self._held[self._sealed if number > self._last else 0 :]
        self.completed(number)

    def release(self) -> None:
        """Let the program read what was held back."""
        held, self._held, self._sealed = self._held, [], 0
        for collect_id, values in held:
            with self._lock:
                self.uncollected += len(values)
            self._queue(collect_id).put(values)

    def drop(self) -> None:
        """Drop what was held back: it will be computed again."""
        self._held, self._sealed = [], 0

    def wait_for_reader(self, cancelled: threading.Event) -> None:
        """Wait for a reader that is slower than the job, so that memory does not grow."""
        while self.uncollected > _MOST_UNCOLLECTED and not cancelled.wait(_POLL):
            pass

    def end(self) -> None:
        """Let readers know that nothing more comes."""
        with self._lock:
            self._ended = True
            for queue in self._queues.values():
                queue.put(_DONE)

    def read(self, collect_id: str, error: Callable[[], BaseException | None]) -> Iterator[Any]:
        """Yield records as they come. At the end, raise the error that `error` returns, if any."""
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
