"""Runs epochs for the loop: plans them, orders them, enters their acknowledgements and closes their books.

An epoch is retried if part of it was lost, until its acknowledgements are consistent.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

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


@dataclass(eq=False, repr=False)
class EpochRunner:
    """Runs the epochs of one job."""

    executor: Executor
    checkpoints: Checkpoints
    results: CollectedOutput
    cancelled: threading.Event

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
                self.results.say(result.outputs)
                self.checkpoints.abort(result.acks)
                raise result.cause
            why = ledger.check(order, result.acks) or ""
            if not why:
                return result
            self.checkpoints.abort(result.acks)
        raise JobExecutionError(
            f"Epoch {epoch} could not be completed in {_ATTEMPTS} attempts: {why}",
            remedy="see Spark's log for lost executors.",
        )

    def _attempt(self, order: EpochOrder) -> EpochResult | None:
        try:
            result = self.executor.run_epoch(order)
        except Exception as error:
            if self.cancelled.is_set():
                _log.debug("headrace: epoch %d failed while the job was being cancelled: %s", order.epoch, error)
                return None
            raise
        if self.cancelled.is_set():
            self.checkpoints.abort(result.acks)  # the ledger will never know what is staged
            return None
        return result


@dataclass(eq=False, repr=False)
class Epochs:
    """Performs `PlanEpoch`, `RunEpoch` and `TakeEpoch`."""

    job: CurrentJob
    runner: EpochRunner
    enumerators: Enumerators
    checkpoints: Checkpoints
    results: CollectedOutput
    pacing: Pacing
    options: RuntimeSettings
    sampled: Callable[[], frozenset[str]]
    """Returns the vertices whose user code is to be sampled for a flame graph."""

    def plan(self, instruction: PlanEpoch) -> Iterable[Event]:
        """Decide whether the next epoch makes a checkpoint."""
        self.pacing.begin_epoch()
        order = self.checkpoints.order(self.job.ledger, forced=instruction.forced)
        yield EpochPlanned(order, self.checkpoints.problem)

    def run(self, instruction: RunEpoch) -> Iterable[Event]:
        epoch, attempt, checkpoint = instruction.epoch, instruction.attempt, instruction.order
        batch = self.job.program.graph.settings.batch
        limit, seconds = (sys.maxsize, None) if batch else (self.pacing.limit, self.pacing.target)
        time_limit = self.options.time_limit(with_checkpoint=checkpoint.now and not batch)
        ledger = self.job.ledger

        def order() -> EpochOrder:
            self.enumerators.discover(ledger)
            made = ledger.order(epoch, limit, seconds, self.options.testing_clock, checkpoint, instruction.drain)
            return replace(made, sampled=self.sampled(), time_limit=time_limit)

        result = self.runner.run(ledger, order, self.job.name)
        self.pacing.end_epoch()
        if result is None:
            yield EpochAbandoned(epoch, attempt=attempt)
            return
        yield EpochAcknowledged(epoch, result, attempt=attempt)
        if checkpoint.now:
            yield CheckpointAcknowledged(epoch, attempt=attempt)

    def take(self, instruction: TakeEpoch) -> Iterable[Event]:
        """Enter the acknowledgements into the ledger and hand out printed and collected output."""
        result, job = instruction.result, self.job
        job.ledger.apply(result.acks)
        if job.restored:
            job.restored = False
            graph = job.program.graph
            restore.check_inputs(graph, job.ledger.reports)
            if changes := state_changes(graph, result.acks):
                _log.warning("headrace: %r was restored with other states: %s", job.name, changes)
        self.results.take(result.outputs)
        self.pacing.end_output()
        return ()
