"""Begins a job from its last checkpoint, from a savepoint, or from the start, and aborts what a failure has voided."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from headrace.checkpoint.driver import FINISHED, Checkpoints
from headrace.checkpoint.model import Origin
from headrace.config.checkpoint_settings import DurabilitySettings
from headrace.driver import restore
from headrace.driver.collected_output import CollectedOutput
from headrace.driver.current_job import CurrentJob
from headrace.driver.events import Begun, Event
from headrace.driver.instructions import Begin, GiveUpProgress
from headrace.driver.rescaling import Deployment
from headrace.monitoring.job_monitor import JobMonitor

_log = logging.getLogger("headrace")


class Recovery:
    """Performs `Begin` and `GiveUpProgress`."""

    def __init__(
        self,
        job: CurrentJob,
        checkpoints: Checkpoints,
        durability: DurabilitySettings,
        deployment: Deployment,
        monitor: JobMonitor,
        results: CollectedOutput,
    ) -> None:
        self._job = job
        self._checkpoints = checkpoints
        self._durability = durability
        self._deployment = deployment
        self._monitor = monitor
        self._results = results

    def begin(self, instruction: Begin) -> Iterable[Event]:
        """Recover the last checkpoint and make the ledger that continues from it."""
        durability, checkpoints, program = self._durability, self._checkpoints, self._job.program
        origin = program.origin
        staged = origin is not None and bool(origin.manifest.committables)
        takes_over = durability.periodic or durability.job_id is not None or checkpoints.commits or staged
        manifest = checkpoints.recover(origin) if takes_over else None
        if manifest is not None and durability.periodic:
            origin = Origin(manifest, checkpoints.files)
            self._results.recovered(manifest.epoch)
        else:
            self._results.drop()
        self._deployment.ensure(program)
        self._job.ledger = ledger = self._job.new_ledger(program)
        ledger.restarts = instruction.attempt
        self._monitor.begin(program.graph, instruction.attempt)
        self._job.restored = origin is not None
        if origin is not None:
            restore.start(ledger, program.graph, program.plan, origin)
            checkpoints.statistics.restored()
        yield Begun(finished=manifest is not None and bool(manifest.facts.get(FINISHED)))

    def give_up_progress(self, instruction: GiveUpProgress) -> Iterable[Event]:
        """Abort what sinks have staged since the last checkpoint: it is computed again."""
        name, delay = self._job.name, instruction.delay
        _log.warning("headrace: %r restarts in %.1f s: %s", name, delay, instruction.error.message)
        try:
            self._checkpoints.abandon(self._job.ledger)
        except Exception as error:
            _log.warning("headrace: %r could not abort the output staged since its last checkpoint: %s", name, error)
        return ()
