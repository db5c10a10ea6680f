"""A source that runs a Python SourceFunction in a thread of the task.

1. The thread calls `run(ctx)`. What it emits goes into a bounded buffer; it waits while the buffer is full (back pressure).
2. `read` takes from the buffer, up to the next watermark or idle mark.
3. When `run` has returned (or raised) and the buffer is empty, the reader is finished (or raises that error).

There are no positions: a restarted function begins again, unless it keeps state of its own (a CheckpointedFunction). Such
a function pauses between epochs, once all that it has emitted is taken, so that its state agrees with what was read. As in
Flink it must emit and change its state in one step, under `ctx.get_checkpoint_lock()`.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import EMPTY, Batch, ReaderContext, SplitReader, runtime_context

_CAPACITY = 16_384
_STOP_SECONDS = 5.0


@dataclass(frozen=True, eq=False)
class FunctionSource(Source):
    """Runs `function.run(ctx)`; in every subtask if `parallel`, else in one.

    >>> class Numbers:
    ...     def run(self, ctx):
    ...         for number in range(3):
    ...             ctx.collect(number)
    ...
    ...     def cancel(self):
    ...         pass
    >>> source = FunctionSource(Numbers())
    >>> source.bounded, source.may_finish, source.non_parallel
    (False, True, True)
    """

    function: Any
    parallel: bool = False
    bounded = False
    may_finish = True

    @property
    def non_parallel(self) -> bool:
        return not self.parallel

    def functions(self) -> Sequence[Any]:
        return (self.function,)

    def splits(self, parallelism: int) -> list[Split]:
        return [Split(str(index)) for index in range(parallelism if self.parallel else 1)]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return _FunctionReader(self.function, context)


class _Stopped(BaseException):
    """Ends the function's thread at its next emission after a close."""


_WATERMARK = object()
_IDLE = object()


class _Context:
    """The `ctx` of `run`. Entries of the buffer: (value, timestamp), (_WATERMARK, timestamp) or (_IDLE, None)."""

    def __init__(self, capacity: int) -> None:
        self.buffer: deque[tuple[Any, int | None]] = deque()
        self.room = threading.Event()
        self.stopped = False
        self.lock = threading.RLock()
        self._capacity = capacity

    def get_checkpoint_lock(self) -> Any:
        return self.lock

    def collect(self, element: Any) -> None:
        self._put((element, None))

    def collect_with_timestamp(self, element: Any, timestamp: int) -> None:
        self._put((element, timestamp))

    def emit_watermark(self, watermark: Any) -> None:
        self._put((_WATERMARK, watermark if isinstance(watermark, int) else watermark.timestamp))

    def mark_as_temporarily_idle(self) -> None:
        self._put((_IDLE, None))

    def _put(self, entry: tuple[Any, int | None]) -> None:
        with self.lock:
            while len(self.buffer) >= self._capacity and not self.stopped:
                self.room.clear()
                if len(self.buffer) >= self._capacity:
                    self.room.wait(1.0)
            if self.stopped:
                raise _Stopped
            self.buffer.append(entry)


class _FunctionReader(SplitReader):
    def __init__(self, function: Any, context: ReaderContext) -> None:
        self._function = function
        self._runtime = runtime_context(context)
        self._stateful = callable(getattr(function, "snapshot_state", None))
        self._held = False
        self._context = _Context(_CAPACITY)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="headrace-source-function", daemon=True)
        self._idle = False
        self._done = threading.Event()
        self._thread.start()

    def _run(self) -> None:
        try:
            self._call("open", self._runtime)
            try:
                self._function.run(self._context)
            finally:
                self._call("close")
        except _Stopped:
            pass
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def _call(self, method: str, *args: Any) -> None:
        call = getattr(self._function, method, None)
        if callable(call):
            call(*args)

    def read(self, limit: int, now: int) -> Batch:
        if self._held:
            self._let_go()
            self._await_first()
        done = self._done.is_set()
        buffer = self._context.buffer
        if not buffer:
            if done:
                if self._error is not None:
                    raise self._error
                self.finished = True
            return EMPTY
        batch = self._take(buffer, limit)
        self._context.room.set()
        return batch

    def settle(self) -> Iterator[Batch]:
        """Take what the function emits until its lock is free: it may wait for room while it holds the lock."""
        if not self._stateful or self._held:
            return
        buffer, lock = self._context.buffer, self._context.lock
        while not self._held or buffer:
            self._held = self._held or lock.acquire(timeout=0.01)
            if buffer:
                batch = self._take(buffer, len(buffer))
                self._context.room.set()
                yield batch

    def _let_go(self) -> None:
        if self._held:
            self._held = False
            with contextlib.suppress(RuntimeError):  # closed by another thread than the one that read: nobody waits
                self._context.lock.release()

    def _await_first(self) -> None:
        """Give the paused function a moment: otherwise a short epoch could end before it has done anything."""
        for _ in range(5):
            if self._context.buffer or self._done.wait(0.001):
                return

    def _take(self, buffer: deque[tuple[Any, int | None]], limit: int) -> Batch:
        values: list[Any] = []
        timestamps: list[int | None] = []
        batch = Batch(values)
        timed = False
        for _ in range(min(limit, len(buffer))):
            value, timestamp = buffer.popleft()
            if value is _WATERMARK:
                batch.watermark = timestamp
                break
            if value is _IDLE:
                batch.idle = self._idle = True
                break
            values.append(value)
            timestamps.append(timestamp)
            timed = timed or timestamp is not None
        if timed:
            batch.timestamps = timestamps
        if self._idle and (values or batch.watermark is not None) and batch.idle is None:
            batch.idle = self._idle = False
        return batch

    def position(self) -> None:
        return None

    def close(self) -> None:
        self._context.stopped = True
        self._let_go()
        self._context.room.set()
        if not self._done.is_set():
            self._function.cancel()
            self._done.wait(_STOP_SECONDS)
