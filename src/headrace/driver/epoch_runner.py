"""Runs one epoch on the executor until its acknowledgements are consistent; retries it if part of it was lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from headrace.checkpoint.driver import Checkpoints
from headrace.driver.collected_output import CollectedOutput
from headrace.driver.executor import EpochLostError, EpochResult, Executor
from headrace.driver.ledger import Ledger
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
