"""The way to a running job, for the program that started it.

Decides nothing: it asks a ``JobHandle``, which the runtime gives (or one that talks to a service), each time in a
thread of its own, and gives futures as PyFlink does.
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


class JobHandle(Protocol):
    """What a runtime lets others do with a job; the calls may block.

    >>> JobHandle.__name__
    'JobHandle'
    """

    @property
    def job_id(self) -> JobID:
        """The id of the job."""

    @property
    def last_epoch(self) -> Mapping[str, Any]:
        """What is known of the epoch that ended last."""

    def status(self) -> JobStatus:
        """Return the state of the job."""

    def cancel(self) -> None:
        """Cancel the job and wait until it is."""

    def wait(self, timeout: float | None = None) -> JobExecutionResult:
        """Wait until the job has ended; raise its error if it failed."""

    def accumulators(self) -> Mapping[str, Any]:
        """Return the accumulators as they are now."""

    def trigger_savepoint(self, directory: str | None) -> str:
        """Take a savepoint and give its path."""

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, directory: str | None) -> str:
        """Take a savepoint, end the job, and give the path."""

    def rescale(self, parallelism: int) -> None:
        """Let the job go on with another parallelism."""

    def checkpoint_statistics(self) -> Mapping[str, Any]:
        """Return what is known of the job's checkpoints."""


class JobClient(NoJvmObject):
    """The way to a running job.

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
        """Make a client of what the runtime gives."""
        self._handle = handle

    def get_job_id(self) -> JobID:
        """Return the id of the job."""
        return self._handle.job_id

    @property
    def last_epoch(self) -> Mapping[str, Any]:
        """What is known of the epoch that ended last."""
        return self._handle.last_epoch

    def get_job_status(self) -> CompletableFuture:
        """Ask for the ``JobStatus``."""
        return CompletableFuture.supply(self._handle.status)

    def cancel(self) -> CompletableFuture:
        """Cancel the job; the future has ``None`` when it is cancelled."""
        return CompletableFuture.supply(self._handle.cancel)

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None = None
    ) -> CompletableFuture:
        """Take a savepoint and end the job; the future has the path of the savepoint.

        ``advance_to_end_of_event_time`` sends the last watermark first, so that all timers and windows fire.
        """
        handle = self._handle
        return CompletableFuture.supply(
            lambda: handle.stop_with_savepoint(advance_to_end_of_event_time, savepoint_directory), str
        )

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture:
        """Take a savepoint while the job runs on; the future has its path."""
        handle = self._handle
        return CompletableFuture.supply(lambda: handle.trigger_savepoint(savepoint_directory), str)

    def get_accumulators(self) -> CompletableFuture:
        """Ask for the accumulators as they are now, as a dict."""
        return CompletableFuture.supply(self._handle.accumulators, dict)

    def get_job_execution_result(self) -> CompletableFuture:
        """Wait for the end of the job; the future has its ``JobExecutionResult``."""
        return CompletableFuture.supply(self._handle.wait)

    def rescale(self, parallelism: int) -> CompletableFuture:
        """Let the job go on with another parallelism, without a restart: on a checkpoint that is made for it.

        The future fails if the job cannot have it. The job then goes on with the parallelism that it has.
        """
        return CompletableFuture.supply(lambda: self._handle.rescale(parallelism))

    def get_checkpoint_statistics(self) -> Mapping[str, Any]:
        """Return counts of checkpoints, and the latest ones with their durations and sizes, newest first."""
        return self._handle.checkpoint_statistics()


offer_pyflink_names(__name__)
