"""JobClient: controls a running job from the program that started it.

It calls a ``JobHandle`` of the runtime (or one that talks to a service), each time in a new thread, and returns
futures like PyFlink.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from headrace.common.completable_future import CompletableFuture
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.common.job_status import JobStatus
from headrace.compatibility.names import offer_pyflink_names
from headrace.compatibility.no_jvm_object import NoJvmObject

__all__ = ["JobClient", "JobHandle"]
offer_pyflink_names(__name__)


class JobHandle(Protocol):
    """The operations of a runtime on a job; calls may block.

    >>> JobHandle.__name__
    'JobHandle'
    """

    @property
    def job_id(self) -> JobID:
        """Return the id of the job."""

    @property
    def last_epoch(self) -> Mapping[str, Any]:
        """Return statistics of the last epoch."""

    def status(self) -> JobStatus:
        """Return the state of the job."""

    def cancel(self) -> None:
        """Cancel the job and wait until it has stopped."""

    def wait(self, timeout: float | None = None) -> JobExecutionResult:
        """Wait until the job has finished. Raise its error if it failed."""

    def accumulators(self) -> Mapping[str, Any]:
        """Return the current accumulators."""

    def trigger_savepoint(self, directory: str | None) -> str:
        """Take a savepoint and return its path."""

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, directory: str | None) -> str:
        """Take a savepoint, stop the job, and return the path."""

    def rescale(self, parallelism: int) -> None:
        """Continue the job with another parallelism."""

    def checkpoint_statistics(self) -> Mapping[str, Any]:
        """Return statistics of the job's checkpoints."""


class JobClient(NoJvmObject):
    """Controls a running job.

    >>> class Finished:
    ...     job_id = JobID("0" * 32)
    ...     last_epoch = {"epoch": 3}
    ...
    ...     def status(self):
    ...         return JobStatus.FINISHED
    >>> client = JobClient(Finished())
    >>> client.get_job_status().result(), client.last_epoch["epoch"]
    (<JobStatus.FINISHED: 6>, 3)
    """

    def __init__(self, handle: JobHandle) -> None:
        """Create a client from the handle of the runtime."""
        self._handle = handle

    def get_job_id(self) -> JobID:
        """Return the id of the job."""
        return self._handle.job_id

    @property
    def last_epoch(self) -> Mapping[str, Any]:
        """Return statistics of the last epoch."""
        return self._handle.last_epoch

    def get_job_status(self) -> CompletableFuture:
        """Request the ``JobStatus``."""
        return CompletableFuture.supply(self._handle.status)

    def cancel(self) -> CompletableFuture:
        """Cancel the job; the future completes with ``None`` when it is cancelled."""
        return CompletableFuture.supply(self._handle.cancel)

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture:
        """Take a savepoint and stop the job; the future has the path of the savepoint.

        ``advance_to_end_of_event_time`` emits the maximum watermark first, so that all timers and windows fire.
        """
        handle = self._handle
        return CompletableFuture.supply(
            lambda: handle.stop_with_savepoint(advance_to_end_of_event_time, savepoint_directory), str
        )

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture:
        """Take a savepoint while the job continues; the future has its path."""
        handle = self._handle
        return CompletableFuture.supply(lambda: handle.trigger_savepoint(savepoint_directory), str)

    def get_accumulators(self) -> CompletableFuture:
        """Request the current accumulators, as a dict."""
        return CompletableFuture.supply(self._handle.accumulators, dict)

    def get_job_execution_result(self) -> CompletableFuture:
        """Return a future with the ``JobExecutionResult``, which completes when the job finishes."""
        return CompletableFuture.supply(self._handle.wait)

    def rescale(self, parallelism: int) -> CompletableFuture:
        """Change the parallelism of the job without a restart, at a checkpoint that is taken for it.

        The future fails if the job cannot have this parallelism. The job then continues with its current one.
        """
        return CompletableFuture.supply(lambda: self._handle.rescale(parallelism))

    def get_checkpoint_statistics(self) -> Mapping[str, Any]:
        """Return counts of checkpoints, and the latest ones with durations and sizes, newest first."""
        return self._handle.checkpoint_statistics()
