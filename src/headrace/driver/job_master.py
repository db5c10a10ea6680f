"""The handle of a running job: what programs, the service and the web UI may ask of it, from any thread.

It decides nothing: the job machine does, and the loop carries it out in a thread of its own. Listeners hear of the jobs that
this process starts; the driver must not import the service, so it knows the service by this port only.
"""

from __future__ import annotations

import atexit
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Protocol

from headrace.common.accumulators import merged_results
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.common.job_status import JobStatus
from headrace.config.configuration import Configuration
from headrace.config.headrace_keys import UI
from headrace.driver.events import CancelAsked, Started
from headrace.driver.executor import ExecutorView, ExecutorWatch, ThreadView
from headrace.driver.instructions import Instruction
from headrace.driver.job_machine import InternalError, Transition
from headrace.driver.requests import Request
from headrace.driver.wiring import JobParts
from headrace.errors import ConfigurationError, HeadraceError, JobCancelledError
from headrace.foundation.extras import need
from headrace.monitoring.job_view import JobView

_EXIT_SECONDS = 15.0
_WAIT_SECONDS = 0.01
_CANCEL_GRACE_SECONDS = 1.0
"""For the epoch that runs when the job is cancelled: most end in time, and then no task is torn away."""
_EXIT_GRACE_SECONDS = 4.0
"""The same when the program ends: Spark's complaints about torn tasks would be the last thing it prints."""
_log = logging.getLogger("headrace")


class JobMaster:
    """The handle of one job; satisfies `JobHandle`."""

    def __init__(self, parts: JobParts) -> None:
        self.job_id = JobID(parts.job.program.job_id)
        self._parts = parts
        self._machine = parts.loop.machine
        self._watch = ExecutorWatch(parts.executor, parts.clock)

    # -- its life -------------------------------------------------------------------------------------------------

    def start(self) -> None:
        first = self._parts.loop.tell(Started())
        self._parts.progress.start()
        self._parts.reporting.start(self._parts.monitor.samples)
        name = f"headrace-{str(self.job_id)[:8]}"
        threading.Thread(target=self._run, args=(first,), name=name, daemon=True).start()
        atexit.register(self._at_exit)

    def status(self) -> JobStatus:
        return self._machine.status

    def cancel(self) -> None:
        """End the job. Return when functions are closed and processes gone."""
        self._ask_to_end(_CANCEL_GRACE_SECONDS)
        self._parts.finished.wait()

    def interrupt(self) -> None:
        """End the job like `cancel`, because its program is interrupted: a job with a name keeps its checkpoints."""
        self._ask_to_end(_CANCEL_GRACE_SECONDS, interrupted=True)
        self._parts.finished.wait()

    def wait(self, timeout: float | None = None) -> JobExecutionResult:
        """Return the job's result once it finishes. Raise the error that made it fail."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._parts.finished.is_set():
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"job {self.job_id} has not ended within {timeout} s")
            time.sleep(_WAIT_SECONDS)  # Ctrl-C while waiting for an event could leave the event's lock taken
        if (error := self._error()) is not None:
            raise error.with_traceback(None)
        if self.status() is JobStatus.CANCELED:
            raise JobCancelledError(f"Job {self._parts.job.name!r} ({self.job_id}) was cancelled")
        return JobExecutionResult(self.job_id, int(self._parts.seconds * 1000), self.accumulators())

    def _run(self, first: list[Instruction]) -> None:
        try:
            self._parts.loop.run(first)
        finally:  # nobody waits for ever, whatever happens
            atexit.unregister(self._at_exit)
            if not self._parts.finished.is_set():
                self._parts.finished.set()
                self._parts.results.end()

    def _error(self) -> HeadraceError | None:
        if self._parts.finished.is_set() and not self._machine.ended:
            return InternalError(f"The loop of the job has stopped while the job was {self._machine.state.name}")
        return self._machine.error

    def _ask_to_end(self, grace: float, interrupted: bool = False) -> None:
        """Tell the machine, and interrupt the epoch that runs if it does not end in time."""
        asked = self._parts.loop.tell(CancelAsked(interrupted))
        if asked and not self._parts.finished.wait(grace):
            try:
                self._parts.executor.interrupt()
            except Exception as error:
                _log.debug("headrace: the executor could not be interrupted, Spark may be gone: %s", error)

    def _at_exit(self) -> None:
        """The program ends without waiting for the job: end it, and leave only what it can continue from."""
        self._ask_to_end(_EXIT_GRACE_SECONDS, interrupted=True)
        self._parts.finished.wait(_EXIT_SECONDS)

    # -- requests -------------------------------------------------------------------------------------------------

    def trigger_checkpoint(self) -> int:
        """Make a checkpoint at the end of the next epoch and return its number."""
        if not self._parts.checkpoints.periodic:
            raise ConfigurationError(
                "The job makes no checkpoints", remedy="set execution.checkpointing.interval, or take a savepoint"
            )
        return int(self._parts.requests.ask(Request(checkpoint=True)))

    def trigger_savepoint(self, directory: str | None) -> str:
        """Take a savepoint at the end of the next epoch and return its folder."""
        request = Request(savepoint=True, directory=self._savepoint_directory(directory))
        return str(self._parts.requests.ask(request))

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, directory: str | None) -> str:
        """Take a savepoint, end the job and return the folder. With True, event time ends first."""
        where = self._savepoint_directory(directory)
        drain = advance_to_end_of_event_time
        answer = str(self._parts.requests.ask(Request(savepoint=True, directory=where, stop=True, drain=drain)))
        self._parts.finished.wait()
        return answer

    def rescale(self, parallelism: int) -> None:
        """Change the parallelism at the next checkpoint, which is made now.

        Raise if that is not possible; the job then keeps its parallelism.
        """
        self._parts.requests.ask(Request(parallelism=parallelism))

    def _savepoint_directory(self, directory: str | None) -> str:
        where = directory or self._parts.options.durability.savepoint_directory
        if where is None:
            raise ConfigurationError(
                "There is no directory for savepoints", remedy="give one, or set execution.checkpointing.savepoint-dir"
            )
        return where

    # -- questions ------------------------------------------------------------------------------------------------

    @property
    def last_epoch(self) -> dict[str, Any]:
        """What is known of the epoch that ended last."""
        return self._parts.observers.last_epoch

    def accumulators(self) -> dict[str, Any]:
        """Return the results of the accumulators so far."""
        return merged_results(report.accumulators for _, report in sorted(self._parts.job.ledger.reports.items()))

    def results(self, collect_id: str) -> Iterator[Any]:
        """Yield collected records as they come. Raise the error that made the job fail."""
        return self._parts.results.read(collect_id, self._error)

    def view(self) -> JobView:
        """Return the job as plain data."""
        view = self._parts.monitor.view(self.accumulators())
        return replace(view, waiting_since_ms=self._watch.waiting_since(view))

    def story(self) -> list[Transition]:
        """Return the last transitions of the job machine, oldest first: for debugging."""
        return self._machine.story

    def flame_graph(self, vertex_id: str, timeout: float = 10.0) -> dict[str, Any]:
        """Return where the user code of a vertex spends its time, as nested `{name, value, children}`.

        Sample the vertex in the next epochs, unless that was done within the last half minute, and wait for it for at
        most `timeout` seconds.
        """
        if vertex_id not in self._parts.job.program.graph.vertices:
            raise ConfigurationError(
                "The job has no such vertex", seen=vertex_id, remedy="see JobMaster.view().vertices"
            )
        return self._parts.flames.of(vertex_id, 0.0 if self._parts.finished.is_set() else timeout)

    def checkpoint_statistics(self) -> dict[str, Any]:
        """Return counts and the latest checkpoints, newest first."""
        return self._parts.checkpoints.statistics.summary()

    def executors(self) -> list[ExecutorView]:
        """Return the processes that can run tasks of the job."""
        return self._parts.executor.executors()

    def threads(self, executor_id: str) -> list[ThreadView]:
        """Return the stacks of the threads of one of these processes."""
        return self._parts.executor.threads(executor_id)


_EMBEDDED = "headrace.service.embedded"


class JobListener(Protocol):
    """Follows the jobs of this process."""

    def submitting(self, job_id: str, name: str) -> None:
        """Take note that a job is about to start. If this raises, the job is not started."""

    def started(self, master: JobMaster) -> None:
        """Take note that the job runs."""


_registered: list[JobListener] = []


def listen(listener: JobListener) -> None:
    """Tell the listener of all jobs of this process from now on."""
    _registered.append(listener)


def listeners_for(configuration: Configuration) -> list[JobListener]:
    """Return the listeners for a job with this configuration."""
    if configuration.get(UI) and not _registered:
        embedded: JobListener = need(_EMBEDDED, "service", "headrace.ui").service_for(configuration)
        return [embedded]
    return list(_registered)
