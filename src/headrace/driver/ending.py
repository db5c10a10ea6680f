"""Ends a job: closes its functions, keeps or removes its checkpoints, releases what ran beside it.

Nothing here may keep a job from its end: whatever fails is logged, and the next step follows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from headrace.checkpoint.driver import Checkpoints
from headrace.checkpoint.errors import FencedError
from headrace.common.job_status import JobStatus
from headrace.config.checkpoint_settings import DurabilitySettings
from headrace.driver.current_job import CurrentJob
from headrace.driver.enumerators import Enumerators
from headrace.driver.events import CloseFailed, Disposed, Event, ExecutorClosed
from headrace.driver.executor import Executor
from headrace.driver.instructions import ClearUp, CloseExecutor, Dispose
from headrace.worker.failures import as_headrace_error

_log = logging.getLogger("headrace")


class Ending:
    """Performs `CloseExecutor`, `ClearUp` and `Dispose`."""

    def __init__(
        self,
        job: CurrentJob,
        executor: Executor,
        enumerators: Enumerators,
        checkpoints: Checkpoints,
        durability: DurabilitySettings,
        beside: dict[str, Callable[[], None]],
    ) -> None:
        """`beside`: what runs beside the job, by name, and how to end it."""
        self._job = job
        self._executor = executor
        self._enumerators = enumerators
        self._checkpoints = checkpoints
        self._durability = durability
        self._beside = beside

    def close_executor(self, instruction: CloseExecutor) -> Iterable[Event]:
        """Close all functions and end all processes."""
        try:
            self._executor.close()
        except Exception as error:
            _log.warning("headrace: %r could not close its executor: %s", self._job.name, error)
            yield CloseFailed(as_headrace_error(error))
        else:
            yield ExecutorClosed()

    def clear_up(self, instruction: ClearUp) -> Iterable[Event]:
        """Keep or remove the checkpoints. A driver that was fenced off touches nothing: the job is another one's."""
        kept = self._keeps(instruction)
        if not isinstance(instruction.error, FencedError):
            self._try("abort staged output", lambda: self._checkpoints.abandon(self._job.ledger))
            clear = self._checkpoints.tidy if kept else self._checkpoints.remove
            self._try("clear up its checkpoints", clear)
        self._try("close its checkpoint storage", self._checkpoints.close)
        self._enumerators.close(kept)
        return ()

    def dispose(self, instruction: Dispose) -> Iterable[Event]:
        """Release what ran beside the job."""
        for name, end in self._beside.items():
            self._try(f"end its {name}", end)
        yield Disposed()

    def _keeps(self, instruction: ClearUp) -> bool:
        """Say whether the checkpoints stay. A job with a name that was interrupted continues from them."""
        durability, named = self._durability, self._durability.job_id is not None
        keep = {JobStatus.CANCELED: durability.keep_on_cancel, JobStatus.FAILED: durability.keep_on_failure}
        return keep.get(instruction.outcome, named) or (named and instruction.interrupted)

    def _try(self, what: str, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as error:
            _log.warning("headrace: %r could not %s: %s", self._job.name, what, error)
