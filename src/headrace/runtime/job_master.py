"""The job master: the loop of epochs of one job, in a thread of its own.

A turn of the loop: 1. order an epoch from the ledger; 2. run it on the executor; 3. check the acknowledgements, repeat the epoch
if they are not of one piece; 4. take them in; 5. hand out printed and collected output; 6. adapt the rate; 7. wait if nothing is
there to do. It ends when all input has ended, on a failure, or when cancelled; functions are closed in every case.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from queue import Empty, Queue
from typing import Any

from headrace.common.accumulators import merged_results
from headrace.common.errors import HeadraceError, JobCancelledError, JobExecutionError, StateError
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.common.job_status import JobStatus
from headrace.graph.job_graph import JobGraph
from headrace.graph.specs import SourceSpec
from headrace.operators.clock import Clock
from headrace.runtime.epoch_result import EpochLostError, EpochResult, read_frames
from headrace.runtime.executor import Executor
from headrace.runtime.ledger import Ledger
from headrace.runtime.options import RuntimeOptions
from headrace.runtime.progress import ProgressView, describe_vertices, known_time, timestamp
from headrace.runtime.rate import RateController
from headrace.runtime.task.internal_error import as_headrace_error
from headrace.runtime.task.messages import EpochOrder, TaskAck
from headrace.runtime.task.state_folder import StateFolder

_ATTEMPTS_PER_EPOCH = 4
_LOSSES_PER_EPOCH = 2
_EXIT_SECONDS = 15.0
_MOST_UNCOLLECTED = 200_000
_COLLECT_POLL = 0.02
_DONE = object()
_log = logging.getLogger("headrace")


class JobMaster:
    """Runs one job and answers for it; satisfies `JobHandle`."""

    def __init__(
        self,
        job_id: str,
        graph: JobGraph,
        ledger: Ledger,
        executor: Executor,
        options: RuntimeOptions,
        state_folder: StateFolder,
        clock: Clock,
    ) -> None:
        self.job_id = JobID(job_id)
        self.last_epoch: dict[str, Any] = {}
        self._graph = graph
        self._ledger = ledger
        self._executor = executor
        self._options = options
        self._state_folder = state_folder
        self._clock = clock
        self._status = JobStatus.CREATED
        self._error: HeadraceError | None = None
        self._cancelled = threading.Event()
        self._finished = threading.Event()
        self._collected: dict[str, Queue[Any]] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"headrace-{job_id[:8]}", daemon=True)
        self._started = time.monotonic()
        self._runtime = 0.0
        self._epoch_began = self._started
        self._uncollected = 0
        self._progress = ProgressView(graph.name, options.progress)
        batch = graph.settings.batch
        target = options.bounded_epoch_target if ledger.bounded else options.epoch_target
        self._rate = RateController(target, options.first_records, options.max_records)
        self._one_epoch = batch

    # -- the handle -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the loop."""
        self._status = JobStatus.RUNNING
        self._progress.start()
        self._thread.start()
        atexit.register(self._at_exit)

    def status(self) -> JobStatus:
        """Where the job stands."""
        return self._status

    def cancel(self) -> None:
        """Ends the job and waits until it has ended: functions are closed, processes are gone."""
        self._ask_to_end()
        self._finished.wait()

    def wait(self, timeout: float | None = None) -> JobExecutionResult:
        """The job's result when it has ended; raises what made it fail."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._finished.wait(0.2):
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"job {self.job_id} has not ended within {timeout} s")
        if self._error is not None:
            raise self._error.with_traceback(None)
        if self._status is JobStatus.CANCELED:
            raise JobCancelledError(f"Job {self._graph.name!r} ({self.job_id}) was cancelled")
        return JobExecutionResult(self.job_id, int(self._runtime * 1000), self.accumulators())

    def accumulators(self) -> dict[str, Any]:
        """Results of the accumulators so far."""
        return merged_results(report.accumulators for _, report in sorted(self._ledger.reports.items()))

    def trigger_savepoint(self, directory: str | None) -> str:
        """Not there yet."""
        raise _no_savepoints()

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, directory: str | None) -> str:
        """Not there yet."""
        raise _no_savepoints()

    def results(self, collect_id: str) -> Iterator[Any]:
        """Collected records as they come; raises what made the job fail."""
        queue = self._queue(collect_id)
        while True:
            try:
                batch = queue.get(timeout=0.2)
            except Empty:
                if not self._finished.is_set() or not queue.empty():
                    continue
                batch = _DONE
            if batch is _DONE:
                if self._error is not None:
                    raise self._error.with_traceback(None)
                return
            with self._lock:
                self._uncollected -= len(batch)
            yield from batch

    def _ask_to_end(self) -> None:
        with self._lock:
            going = not self._finished.is_set()
            if going:
                self._status = JobStatus.CANCELLING
                self._cancelled.set()
        if going:
            with contextlib.suppress(Exception):  # Spark itself may be gone
                self._executor.interrupt()

    def _at_exit(self) -> None:
        """The program ends and has not waited for the job: nothing of it may stay behind."""
        self._ask_to_end()
        self._finished.wait(_EXIT_SECONDS)

    # -- the loop -------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        ended = JobStatus.FAILED
        try:
            self._loop()
            ended = JobStatus.CANCELED if self._cancelled.is_set() else JobStatus.FINISHED
        except BaseException as error:
            self._error = as_headrace_error(error)
        finally:
            try:
                self._executor.close()
            except Exception as error:
                if self._error is None and not self._cancelled.is_set():
                    self._error, ended = as_headrace_error(error), JobStatus.FAILED
            self._progress.close()
            self._state_folder.remove()
            self._runtime = time.monotonic() - self._started
            atexit.unregister(self._at_exit)
            with self._lock:
                self._status = ended
                self._finished.set()
                for queue in self._collected.values():
                    queue.put(_DONE)

    def _loop(self) -> None:
        epoch = 0
        while not self._ledger.ended and not self._cancelled.is_set():
            epoch += 1
            started = time.monotonic()
            result = self._epoch(epoch)
            if result is None:
                return
            seconds = time.monotonic() - started
            self._hand_out(result)
            self._delete_obsolete()
            records = self._observe(epoch, result.acks, started, seconds)
            if not records and not self._ledger.ended:
                self._pause()

    def _epoch(self, epoch: int) -> EpochResult | None:
        """Runs an epoch until its acknowledgements are of one piece; None if the job was cancelled meanwhile."""
        limit, seconds = (sys.maxsize, None) if self._one_epoch else (self._rate.limit, self._rate.target)
        why, losses = "", 0
        for _ in range(_ATTEMPTS_PER_EPOCH):
            order = self._ledger.order(epoch, limit, seconds, self._options.testing_clock)
            try:
                result = self._attempt(order)
            except EpochLostError as error:
                losses += 1
                if losses == _LOSSES_PER_EPOCH:
                    raise
                _log.warning("headrace: epoch %d of %r is run again: %s", epoch, self._graph.name, error.seen)
                continue
            if result is None:
                return None
            if result.cause is not None:
                raise result.cause
            why = self._ledger.check(order, result.acks) or ""
            if not why:
                self._ledger.apply(result.acks)
                return result
        raise JobExecutionError(
            f"Epoch {epoch} could not be completed in {_ATTEMPTS_PER_EPOCH} attempts: {why}",
            remedy="see Spark's log for lost executors; speculation should be off.",
        )

    def _attempt(self, order: EpochOrder) -> EpochResult | None:
        try:
            frames = self._executor.run_epoch(order)
        except Exception:
            if self._cancelled.is_set():
                return None
            raise
        return None if self._cancelled.is_set() else read_frames(frames)

    def _hand_out(self, result: EpochResult) -> None:
        printed = [part for output in result.outputs for part in output.printed]
        if printed:
            try:
                with self._progress.hidden():
                    for stderr, lines in printed:
                        stream = sys.stderr if stderr else sys.stdout
                        stream.write("\n".join(lines) + "\n")
                        stream.flush()
            except BrokenPipeError as error:
                raise JobExecutionError("Nobody reads what the job prints: the output was closed") from error
        for output in result.outputs:
            for collect_id, values in output.collected:
                with self._lock:
                    self._uncollected += len(values)
                self._queue(collect_id).put(values)
        # Whoever takes the results may be slower than the job: it waits, its memory does not grow.
        while self._uncollected > _MOST_UNCOLLECTED and not self._cancelled.wait(_COLLECT_POLL):
            pass

    def _observe(self, epoch: int, acks: list[TaskAck], started: float, seconds: float) -> int:
        """Adapts the rate, keeps the progress; gives the records that sources read."""
        sources = {v.id for v in self._graph.vertices.values() if isinstance(v.head.spec, SourceSpec)}
        reports = [v for a in acks for v in a.vertices]
        read = [v.records_in for v in reports if v.vertex in sources]
        rows = sum(read)
        self._rate.observe(max(read, default=0), seconds, _critical_path(acks))
        watermark = known_time(self._ledger.watermark())
        since, self._epoch_began = started + seconds - self._epoch_began, started
        self.last_epoch = {
            "id": str(self.job_id),
            "name": self._graph.name,
            "timestamp": timestamp(),
            "epochId": epoch,
            "numInputRows": rows,
            "totalInputRows": self.last_epoch.get("totalInputRows", 0) + rows,
            "inputRowsPerSecond": rows / since if since else 0.0,
            "processedRowsPerSecond": rows / seconds if seconds else 0.0,
            "durationMs": {"epoch": round(seconds * 1000)},
            "watermark": watermark,
            "watermarkLagMs": None if watermark is None else self._clock.now() - watermark,
            "nextEpochLimit": self._rate.limit,
            "vertices": describe_vertices(reports, {v.id: v.name for v in self._graph.vertices.values()}),
        }
        self._progress.show(self.last_epoch)
        return rows

    def _pause(self) -> None:
        """Nothing came: waits a little, but not beyond the next timer."""
        wait = self._options.idle_poll
        timer = self._ledger.next_timer()
        if timer is not None:
            wait = min(wait, max(0.0, (timer - self._clock.now()) / 1000))
        self._cancelled.wait(wait)

    def _delete_obsolete(self) -> None:
        files, self._ledger.obsolete = self._ledger.obsolete, []
        for file in files:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self._state_folder.path, file.name))

    def _queue(self, collect_id: str) -> Queue[Any]:
        with self._lock:
            queue = self._collected.get(collect_id)
            if queue is None:
                queue = self._collected[collect_id] = Queue()
                if self._finished.is_set():
                    queue.put(_DONE)
            return queue


def _critical_path(acks: list[TaskAck]) -> float:
    """How long the epoch's work took if every level waits for its longest task."""
    longest: dict[int, float] = {}
    for ack in acks:
        busy = sum(v.busy_seconds for v in ack.vertices)
        longest[ack.task[0]] = max(busy, longest.get(ack.task[0], 0.0))
    return sum(longest.values())


def _no_savepoints() -> HeadraceError:
    return StateError(
        "Savepoints are not available in this version", remedy="see the limits page of the documentation."
    )
