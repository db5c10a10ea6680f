"""Closes the books of an epoch: obsolete files, slow readers, metrics, progress, the pace of the next one."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from headrace.checkpoint.driver import Checkpoints
from headrace.driver.collected_output import CollectedOutput
from headrace.driver.current_job import CurrentJob
from headrace.driver.events import EpochSettled, Event
from headrace.driver.instructions import SettleEpoch
from headrace.driver.pacing import Pacing
from headrace.driver.rescaling import ParallelismFollower
from headrace.errors import HeadraceError
from headrace.graph.specs import SourceSpec
from headrace.monitoring.flame_graphs import FlameGraphs
from headrace.monitoring.job_monitor import JobMonitor
from headrace.monitoring.progress import ProgressView, epoch_facts
from headrace.operators.clock import Clock
from headrace.worker.messages import TaskAck

_log = logging.getLogger("headrace")


class Observers:
    """Everyone who is told of an epoch: metrics, flame graphs, the progress line and `last_epoch`."""

    def __init__(self, monitor: JobMonitor, flames: FlameGraphs, progress: ProgressView, clock: Clock) -> None:
        self.last_epoch: dict[str, Any] = {}
        self._monitor = monitor
        self._flames = flames
        self._progress = progress
        self._clock = clock

    def tell(
        self, job: CurrentJob, epoch: int, acks: list[TaskAck], pacing: Pacing, concluding: float, client: float
    ) -> None:
        """Tell them. `concluding`: seconds to complete the checkpoint; `client`: to wait for who reads results."""
        self._monitor.epoch_done(acks, concluding=concluding, client=client)
        self._flames.take(acks)
        graph, ledger, times = job.program.graph, job.ledger, pacing.times
        sources = {v.id for v in graph.vertices.values() if isinstance(v.head.spec, SourceSpec)}
        reports = [v for a in acks for v in a.vertices]
        read = [v.records_in for v in reports if v.vertex in sources]
        pacing.observe(read, acks)
        self.last_epoch = epoch_facts(
            graph,
            reports,
            job_id=job.program.job_id,
            epoch=epoch,
            read=sum(read),
            read_before=self.last_epoch.get("totalInputRows", 0),
            seconds=times.seconds,
            since_last=times.ran - pacing.began_before,
            watermark=ledger.watermark(),
            now=self._clock.now(),
            next_limit=pacing.limit,
        )
        self._progress.show(self.last_epoch)

    def until(self, timer: int | None) -> float | None:
        """Return the seconds until a processing-time timer fires."""
        return None if timer is None else (timer - self._clock.now()) / 1000


@dataclass(eq=False, repr=False)
class Settling:
    """Performs `SettleEpoch`."""

    job: CurrentJob
    checkpoints: Checkpoints
    results: CollectedOutput
    pacing: Pacing
    observers: Observers
    follower: ParallelismFollower | None
    cancelled: threading.Event

    def settle(self, instruction: SettleEpoch) -> Iterable[Event]:
        """Do what remains to be done for an epoch."""
        acks, job = instruction.result.acks, self.job
        _delete_obsolete(job, self.checkpoints.working_directory is not None)
        concluded = time.monotonic()
        self.results.wait_for_reader(self.cancelled)
        client = time.monotonic() - concluded
        concluding = concluded - self.pacing.times.output_done
        self.observers.tell(job, instruction.epoch, acks, self.pacing, concluding, client)
        if self.follower is not None:
            self.follower.look(job.program)
        pause = self.pacing.pause(self.observers.until(job.ledger.next_timer()))
        yield EpochSettled(instruction.epoch, job.ledger.ended, pause, self._not_closed(acks))

    def _not_closed(self, acks: list[TaskAck]) -> HeadraceError | None:
        errors = [v.not_closed for ack in acks for v in ack.vertices if v.not_closed is not None]
        for error in errors:
            _log.error("headrace: %r continues, but a function could not be closed: %s", self.job.name, error)
        return errors[0] if errors else None


def _delete_obsolete(job: CurrentJob, checkpoints_decide: bool) -> None:
    """Delete what the ledger names as obsolete, except files that the job would restart from.

    `checkpoints_decide`: checkpoints count on these very files, so they decide what is garbage.
    """
    files, job.ledger.obsolete = job.ledger.obsolete, []
    if checkpoints_decide:
        return
    origin, directory = job.program.origin, job.state_directory
    needed = {f.name for f in origin.manifest.files} if origin is not None and origin.directory == directory else set()
    job.ledger.obsolete = [file for file in files if file.name in needed]
    for file in files:
        if file.name not in needed:
            try:
                os.unlink(os.path.join(directory, file.name))
            except OSError as error:
                _log.debug("headrace: %r keeps an obsolete state file: %s", job.name, error)
