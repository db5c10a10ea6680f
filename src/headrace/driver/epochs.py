"""Runs epochs for the loop: plans them, orders them, enters their acknowledgements and closes their books.

An epoch is retried if part of it was lost, until its acknowledgements are consistent.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace

from headrace.checkpoint.driver import Checkpoints
from headrace.checkpoint.manifests import state_changes
from headrace.config.runtime_settings import RuntimeSettings
from headrace.driver import restore
from headrace.driver.collected_output import CollectedOutput
from headrace.driver.current_job import CurrentJob
from headrace.driver.enumerators import Enumerators
from headrace.driver.events import CheckpointAcknowledged, EpochAbandoned, EpochAcknowledged, EpochPlanned, Event
from headrace.driver.executor import EpochLostError, EpochResult, Executor
from headrace.driver.instructions import PlanEpoch, RunEpoch, TakeEpoch
from headrace.driver.ledger import Ledger
from headrace.driver.pacing import Pacing
from headrace.errors import JobExecutionError
from headrace.worker.messages import EpochOrder

_ATTEMPTS = 4
_LOSSES = 2
_log = logging.getLogger("headrace")


class EpochRunner:
    """Runs the epochs of one job."""

    def __init__(
        self, executor: Executor, checkpoints: Checkpoints, results: CollectedOutput, cancelled: threading.Event
    ) -> None:
        self._executor = executor
        self._results = results
        self._checkpoints = checkpoints
        self._cancelled = cancelled

    def run(self, ledger: Ledger, make_order: Callable[[], EpochOrder], job_name: str) -> EpochResult | None:
        """Return what the ledger can take in; None if the job was cancelled. `make_order` is called for each attempt."""
        why, losses, epoch = "", 0, 0
        for _ in range(_ATTEMPTS):
            order = make_order()
            epoch = order.epoch
            try:
                result = self._attempt(order)
            except EpochLostError as error:
                losses += 1
                if losses == _LOSSES:
                    raise
                _log.warning("headrace: epoch %d of %r is retried: %s", epoch, job_name, error.seen)
                continue
            if result is None:
                return None
            if result.cause is not None:
                self._results.say(result.outputs)
                self._checkpoints.abort(result.acks)
                raise result.cause
            why = ledger.check(order, result.acks) or ""
            if not why:
                return result
            self._checkpoints.abort(result.acks)
        raise JobExecutionError(
            f"Epoch {epoch} could not be completed in {_ATTEMPTS} attempts: {why}",
            remedy="see Spark's log for lost executors.",
        )

    def _attempt(self, order: EpochOrder) -> EpochResult | None:
        try:
            result = self._executor.run_epoch(order)
        except Exception as error:
            if self._cancelled.is_set():
                _log.debug("headrace: epoch %d failed while the job was being cancelled: %s", order.epoch, error)
                return None
            raise
        if self._cancelled.is_set():
            self._checkpoints.abort(result.acks)  # the ledger will never know what is staged
            return None
        return result


class Epochs:
    """Performs `PlanEpoch`, `RunEpoch` and `TakeEpoch`."""

    def __init__(
        self,
        job: CurrentJob,
        runner: EpochRunner,
        enumerators: Enumerators,
        checkpoints: Checkpoints,
        results: CollectedOutput,
        pacing: Pacing,
        options: RuntimeSettings,
        sampled: Callable[[], frozenset[str]],
    ) -> None:
        """`sampled` returns the vertices whose user code is to be sampled for a flame graph."""
        self._job = job
        self._runner = runner
        self._enumerators = enumerators
        self._checkpoints = checkpoints
        self._results = results
        self._pacing = pacing
        self._options = options
        self._sampled = sampled

    def plan(self, instruction: PlanEpoch) -> Iterable[Event]:
        """Decide whether the next epoch makes a checkpoint."""
        self._pacing.begin_epoch()
        order = self._checkpoints.order(self._job.ledger, forced=instruction.forced)
        yield EpochPlanned(order, self._checkpoints.problem)

    def run(self, instruction: RunEpoch) -> Iterable[Event]:
        """Run the epoch to its end."""
        epoch, attempt, checkpoint = instruction.epoch, instruction.attempt, instruction.order
        batch = self._job.program.graph.settings.batch
        limit, seconds = (sys.maxsize, None) if batch else (self._pacing.limit, self._pacing.target)
        time_limit = self._options.time_limit(with_checkpoint=checkpoint.now and not batch)
        ledger = self._job.ledger

        def order() -> EpochOrder:
            self._enumerators.discover(ledger)
            made = ledger.order(epoch, limit, seconds, self._options.testing_clock, checkpoint, instruction.drain)
            return replace(made, sampled=self._sampled(), time_limit=time_limit)

        result = self._runner.run(ledger, order, self._job.name)
        self._pacing.end_epoch()
        if result is None:
            yield EpochAbandoned(epoch, attempt=attempt)
            return
        yield EpochAcknowledged(epoch, result, attempt=attempt)
        if checkpoint.now:
            yield CheckpointAcknowledged(epoch, attempt=attempt)

    def take(self, instruction: TakeEpoch) -> Iterable[Event]:
        """Enter the acknowledgements into the ledger and hand out printed and collected output."""
        result, job = instruction.result, self._job
        job.ledger.apply(result.acks)
        if job.restored:
            job.restored = False
            graph = job.program.graph
            restore.check_inputs(graph, job.ledger.reports)
            if changes := state_changes(graph, result.acks):
                _log.warning("headrace: %r was restored with other states: %s", job.name, changes)
        self._results.take(result.outputs)
        self._pacing.end_output()
        return ()
