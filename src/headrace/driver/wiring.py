"""Puts the parts of a job together: the machine, its loop, and those who perform the instructions."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from headrace.checkpoint.driver import Checkpoints
from headrace.checkpoint.in_use import Use, use_of_origin
from headrace.common.job_status import JobStatus
from headrace.config.runtime_settings import RuntimeSettings
from headrace.driver import instructions as do
from headrace.driver.collected_output import CollectedOutput
from headrace.driver.conclusion import Conclusion, Ending
from headrace.driver.current_job import CurrentJob, Program
from headrace.driver.enumerators import Enumerators
from headrace.driver.epochs import EpochRunner, Epochs
from headrace.driver.events import Event, RequestArrived, WaitOver
from headrace.driver.executor import Executor
from headrace.driver.job_machine import JobMachine
from headrace.driver.loop import Loop, Performers
from headrace.driver.pacing import Pacing
from headrace.driver.requests import Requests
from headrace.driver.rescaling import Deployment, ParallelismFile, ParallelismFollower, Rescaler
from headrace.driver.restarts import RestartPolicy
from headrace.driver.restore import Recovery
from headrace.driver.settling import Observers, Settling
from headrace.metrics.reporters.settings import Reporting
from headrace.monitoring.flame_graphs import FlameGraphs
from headrace.monitoring.job_monitor import JobMonitor
from headrace.monitoring.progress import ProgressView
from headrace.operators.clock import Clock
from headrace.state.job_folder import StateFolder


@dataclass
class JobParts:
    """What the handle of a job needs to know."""

    job: CurrentJob
    executor: Executor
    enumerators: Enumerators
    options: RuntimeSettings
    checkpoints: Checkpoints
    clock: Clock
    reporting: Reporting
    monitor: JobMonitor
    progress: ProgressView
    results: CollectedOutput
    observers: Observers
    loop: Loop
    requests: Requests
    flames: FlameGraphs = field(default_factory=FlameGraphs)
    cancelled: threading.Event = field(default_factory=threading.Event)
    finished: threading.Event = field(default_factory=threading.Event)
    seconds: float = 0.0
    """How long the job ran."""


def assemble(
    program: Program,
    executor: Executor,
    options: RuntimeSettings,
    folder: StateFolder,
    checkpoints: Checkpoints,
    policy: RestartPolicy,
    clock: Clock,
    reporting: Reporting,
    enumerators: Enumerators,
) -> JobParts:
    """Return the parts of a job that is ready to start."""
    job = CurrentJob(program, folder, checkpoints)
    monitor = JobMonitor(
        program.job_id, options.configuration, clock, checkpoints.statistics.summary, checkpoints.commit_metrics
    )
    monitor.begin(program.graph, 0)
    progress, flames = ProgressView(job.name, options.progress), FlameGraphs()
    cancelled = threading.Event()

    def entered(status: JobStatus) -> None:
        monitor.entered(status)
        if status is JobStatus.CANCELLING:
            cancelled.set()

    loop = Loop(JobMachine(job.name, policy), entered, job.name)
    parts = JobParts(
        job=job,
        executor=executor,
        enumerators=enumerators,
        options=options,
        checkpoints=checkpoints,
        clock=clock,
        reporting=reporting,
        monitor=monitor,
        progress=progress,
        results=CollectedOutput(progress, hold=checkpoints.periodic),
        observers=Observers(monitor, flames, progress, clock),
        loop=loop,
        requests=Requests(lambda request: loop.tell_and_perform(RequestArrived(request))),
        flames=flames,
        cancelled=cancelled,
    )
    origin_use = Use() if program.origin is None else use_of_origin(program.origin.directory)
    loop.performers = {**_working(parts, origin_use), **_ending(parts, origin_use, folder), **_common(parts)}
    return parts


def _working(parts: JobParts, origin_use: Use) -> Performers:
    job, options, checkpoints, results = parts.job, parts.options, parts.checkpoints, parts.results
    deployment = Deployment(parts.executor)
    pacing = Pacing(options, job.ledger.bounded)
    runner = EpochRunner(parts.executor, checkpoints, results, parts.cancelled)
    file = options.rescale_file
    follower = None if file is None else ParallelismFollower(ParallelismFile(file), parts.requests)

    def replaced(program: Program) -> None:
        checkpoints.rescaled(program.graph, program.plan)
        parts.monitor.begin(program.graph, parts.loop.machine.attempt)

    recovery = Recovery(job, checkpoints, options.durability, deployment, parts.monitor, results)
    epochs = Epochs(job, runner, parts.enumerators, checkpoints, results, pacing, options, parts.flames.wanted)
    conclusion = Conclusion(job, checkpoints, results, options.durability, origin_use)
    settling = Settling(job, checkpoints, results, pacing, parts.observers, follower, parts.cancelled)
    return {
        do.Begin: recovery.begin,
        do.GiveUpProgress: recovery.give_up_progress,
        do.PlanEpoch: epochs.plan,
        do.RunEpoch: epochs.run,
        do.TakeEpoch: epochs.take,
        do.ConcludeCheckpoint: conclusion.conclude,
        do.WriteSavepoint: conclusion.write_savepoint,
        do.Finish: conclusion.finish,
        do.SettleEpoch: settling.settle,
        do.Rescale: Rescaler(job, deployment, replaced).rescale,
    }


def _ending(parts: JobParts, origin_use: Use, folder: StateFolder) -> Performers:
    beside = {
        "progress line": parts.progress.close,
        "flame graphs": parts.flames.close,
        "metric reporters": parts.reporting.close,
        "use of what it was restored from": origin_use.close,
        "working folder": folder.remove,
    }
    durability = parts.options.durability
    ending = Ending(parts.job, parts.executor, parts.enumerators, parts.checkpoints, durability, beside)
    began = time.monotonic()

    def end(instruction: do.End) -> Iterable[Event]:
        parts.seconds = time.monotonic() - began
        parts.finished.set()
        parts.results.end()
        return ()

    return {
        do.CloseExecutor: ending.close_executor,
        do.ClearUp: ending.clear_up,
        do.Dispose: ending.dispose,
        do.End: end,
    }


def _common(parts: JobParts) -> Performers:
    def answer(instruction: do.Answer) -> Iterable[Event]:
        instruction.request.succeed(instruction.value)
        return ()

    def refuse(instruction: do.Refuse) -> Iterable[Event]:
        instruction.request.fail(instruction.error)
        return ()

    def wait(instruction: do.Wait) -> Iterable[Event]:
        parts.cancelled.wait(instruction.seconds)
        yield WaitOver()

    def report_failure(instruction: do.ReportFailure) -> Iterable[Event]:
        parts.monitor.failed(instruction.error)
        return ()

    return {do.Answer: answer, do.Refuse: refuse, do.Wait: wait, do.ReportFailure: report_failure}
