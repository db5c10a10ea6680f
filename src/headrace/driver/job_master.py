"""The job master: the loop of epochs of one job, in a thread of its own.

A turn of the loop: 1. order an epoch from the ledger; 2. run it on the executor; 3. check the acknowledgements, retry the epoch
if they are inconsistent; 4. take them in; 5. hand out printed and collected output; 6. complete a checkpoint if one was
due; 7. adapt the rate; 8. wait if nothing is there to do. It ends when all input has ended, on a failure that is not to be
survived, or when stopped or cancelled; functions are closed in every case.

A failure goes to the restart policy: the job then starts again from its last checkpoint, or from where it began.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from headrace.checkpoint import manifests
from headrace.checkpoint.disposal import discard_claimed
from headrace.checkpoint.driver import FINISHED, Checkpoints
from headrace.checkpoint.errors import FencedError, RestoreRefusedError, UntrustedStateError
from headrace.checkpoint.in_use import Use, use_of_origin
from headrace.checkpoint.origin import Origin
from headrace.checkpoint.restored_states import state_changes
from headrace.checkpoint.savepoints import write_savepoint
from headrace.common.accumulators import merged_results
from headrace.common.job_execution_result import JobExecutionResult
from headrace.common.job_id import JobID
from headrace.common.job_status import JobStatus
from headrace.config.runtime_settings import RuntimeSettings
from headrace.driver import restore
from headrace.driver.collected_output import DriverResults
from headrace.driver.enumerators import Enumerators
from headrace.driver.epoch_result import EpochResult
from headrace.driver.epoch_runner import EpochRunner
from headrace.driver.executor import Executor, ExecutorView, ThreadView
from headrace.driver.ledger import Ledger
from headrace.driver.parallelism_file import ParallelismFile
from headrace.driver.program import Program
from headrace.driver.rate import RateController, critical_path
from headrace.driver.requests import Request, Requests
from headrace.driver.rescaling import Deployment, ParallelismFollower, recut
from headrace.driver.restarts import RestartPolicy
from headrace.errors import (
    CloseTimeoutError,
    ConfigurationError,
    HeadraceError,
    JobCancelledError,
    JobExecutionError,
    StateMigrationError,
)
from headrace.graph.specs import SourceSpec
from headrace.metrics.reporters.runner import Reporting
from headrace.monitoring.flame_graphs import FlameGraphs
from headrace.monitoring.job_monitor import JobMonitor
from headrace.monitoring.job_view import JobView
from headrace.monitoring.progress import ProgressView, epoch_facts
from headrace.operators.clock import Clock
from headrace.state.job_folder import StateFolder
from headrace.worker.failures import as_headrace_error
from headrace.worker.messages import CheckpointOrder, EpochOrder, TaskAck

_EXIT_SECONDS = 15.0
_WAIT_SECONDS = 0.01
_CANCEL_GRACE_SECONDS = 1.0
"""For the epoch that runs when the job is cancelled: most end in time, and then no task is torn away."""
_EXIT_GRACE_SECONDS = 4.0
"""The same when the program ends: what Spark says of torn tasks would be its last words."""
_SHORTEST_EPOCH = 0.1
"""Seconds. An epoch aims at the interval of checkpoints, but below this it would hold hardly a record."""
_PATIENCE, _MOST_PATIENCE = 1.1, 4.0
"""By how much longer each epoch without records waits for the next one, and up to how many times as long."""
_HOPELESS = (
    CloseTimeoutError,
    ConfigurationError,
    FencedError,
    RestoreRefusedError,
    StateMigrationError,
    UntrustedStateError,
    manifests.IncompatibleStateError,
)
_log = logging.getLogger("headrace")


class JobMaster:
    """Runs one job and answers for it; satisfies `JobHandle`."""

    def __init__(
        self,
        program: Program,
        executor: Executor,
        options: RuntimeSettings,
        folder: StateFolder,
        checkpoints: Checkpoints,
        policy: RestartPolicy,
        clock: Clock,
        reporting: Reporting,
        enumerators: Enumerators,
    ) -> None:
        self.job_id = JobID(program.job_id)
        self.last_epoch: dict[str, Any] = {}
        self._program = program
        self._executor = executor
        self._options = options
        self._folder = folder
        self._checkpoints = checkpoints
        self._policy = policy
        self._origin_use = Use() if program.origin is None else use_of_origin(program.origin.directory)
        self._clock = clock
        self._ledger = Ledger(program.job_id, program.graph, program.plan, self._state_directory())
        self._enumerators = enumerators
        self._requests = Requests()
        file = options.rescale_file
        self._follower = None if file is None else ParallelismFollower(ParallelismFile(file), self._requests)
        self._deployment = Deployment(executor)
        self._restarts = 0
        self._alone_since = -1
        self._epochs = 0
        self._status = JobStatus.CREATED
        self._monitor = JobMonitor(
            program.job_id, options.configuration, clock, self.checkpoint_statistics, checkpoints.commit_metrics
        )
        self._monitor.begin(program.graph, 0)
        self._reporting = reporting
        self._flames = FlameGraphs()
        self._error: HeadraceError | None = None
        self._cancelled = threading.Event()
        self._left_alone = False
        self._stopped = self._restored = False
        self._not_closed: HeadraceError | None = None
        self._claims = options.durability.claim and options.durability.periodic
        self._finished = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=f"headrace-{program.job_id[:8]}", daemon=True)
        self._started = time.monotonic()
        self._runtime = 0.0
        self._epoch_began = self._started
        self._idle = 0
        self._progress = ProgressView(program.graph.name, options.progress)
        self._results = DriverResults(self._progress, hold=checkpoints.periodic)
        self._runner = EpochRunner(executor, checkpoints, self._results, self._cancelled)
        target = options.bounded_epoch_target if self._ledger.bounded else options.epoch_target
        interval = options.durability.settings.effective_interval
        if interval is not None:
            target = min(target, max(interval / 1000, _SHORTEST_EPOCH))
        self._rate = RateController(target, options.first_records, options.max_records)

    # -- the handle -----------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Starts the loop."""
        self._enter(JobStatus.RUNNING)
        self._progress.start()
        self._reporting.start(self._monitor.samples)
        self._thread.start()
        atexit.register(self._at_exit)

    def status(self) -> JobStatus:
        """Where the job stands."""
        return self._status

    def cancel(self) -> None:
        """Ends the job and waits until it has ended: functions are closed, processes are gone."""
        self._ask_to_end(_CANCEL_GRACE_SECONDS)
        self._finished.wait()

    def interrupt(self) -> None:
        """Ends the job like `cancel`, but because its program is interrupted: a job with a name keeps its checkpoints."""
        self._left_alone = True
        self.cancel()

    def wait(self, timeout: float | None = None) -> JobExecutionResult:
        """The job's result when it has ended; raises what made it fail."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._finished.is_set():
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"job {self.job_id} has not ended within {timeout} s")
            time.sleep(_WAIT_SECONDS)  # Ctrl-C in the midst of a wait for an event could leave the event's lock taken
        if self._error is not None:
            raise self._error.with_traceback(None)
        if self._status is JobStatus.CANCELED:
            raise JobCancelledError(f"Job {self._program.graph.name!r} ({self.job_id}) was cancelled")
        return JobExecutionResult(self.job_id, int(self._runtime * 1000), self.accumulators())

    def accumulators(self) -> dict[str, Any]:
        """Results of the accumulators so far."""
        return merged_results(report.accumulators for _, report in sorted(self._ledger.reports.items()))

    def view(self) -> JobView:
        """The job as plain data, from any thread."""
        view = self._monitor.view(self.accumulators())
        return replace(view, waiting_since_ms=self._waiting_since(view))

    def _waiting_since(self, view: JobView) -> int:
        """Since when the job runs without any executor; -1 if it has one, or does not run."""
        has_one = True
        if self._status is JobStatus.RUNNING:
            with contextlib.suppress(Exception):  # Spark is just starting or ending
                has_one = bool(self._executor.executors())
        if has_one:
            self._alone_since = -1
        elif self._alone_since < 0:
            had_one = any(subtask.start_ms >= 0 for vertex in view.vertices for subtask in vertex.subtasks)
            self._alone_since = self._clock.now() if had_one else view.state_timestamps[JobStatus.RUNNING.name]
        return self._alone_since

    def flame_graph(self, vertex_id: str, timeout: float = 10.0) -> dict[str, Any]:
        """Where the user code of a vertex spends its time, as nested `{name, value, children}`.

        Samples the vertex in the next epochs, unless that was done within the last half minute; waits for it, at most
        for `timeout` seconds.
        """
        if vertex_id not in self._program.graph.vertices:
            raise ConfigurationError(
                "The job has no such vertex", seen=vertex_id, remedy="see JobMaster.view().vertices"
            )
        if self._finished.is_set():
            timeout = 0.0
        return self._flames.of(vertex_id, timeout)

    def checkpoint_statistics(self) -> dict[str, Any]:
        """Counts and the latest checkpoints, newest first."""
        return self._checkpoints.statistics.summary()

    def executors(self) -> list[ExecutorView]:
        """The processes that the tasks of the job can run in."""
        return self._executor.executors()

    def threads(self, executor_id: str) -> list[ThreadView]:
        """What the threads of one of these processes do now."""
        return self._executor.threads(executor_id)

    def trigger_checkpoint(self) -> int:
        """Makes a checkpoint at the end of the next epoch; gives its number."""
        if not self._checkpoints.periodic:
            raise ConfigurationError(
                "The job makes no checkpoints", remedy="set execution.checkpointing.interval, or take a savepoint"
            )
        return int(self._requests.ask(Request(checkpoint=True)))

    def trigger_savepoint(self, directory: str | None) -> str:
        """Takes a savepoint at the end of the next epoch; gives its folder."""
        request = Request(savepoint=True, directory=self._savepoint_directory(directory))
        return str(self._requests.ask(request))

    def stop_with_savepoint(self, advance_to_end_of_event_time: bool, directory: str | None) -> str:
        """Takes a savepoint and ends the job; with True, event time comes to its end before."""
        where = self._savepoint_directory(directory)
        drain = advance_to_end_of_event_time
        answer = str(self._requests.ask(Request(savepoint=True, directory=where, stop=True, drain=drain)))
        self._finished.wait()
        return answer

    def rescale(self, parallelism: int) -> None:
        """Let the job go on with another parallelism from the next checkpoint on, which is made now.

        Raises if the job cannot have it; it then goes on with the one that it has.
        """
        self._requests.ask(Request(parallelism=parallelism))

    def results(self, collect_id: str) -> Iterator[Any]:
        """Collected records as they come; raises what made the job fail."""
        return self._results.read(collect_id, lambda: self._error)

    def _enter(self, status: JobStatus) -> None:
        self._status = status
        self._monitor.entered(status)

    def _savepoint_directory(self, directory: str | None) -> str:
        where = directory or self._options.durability.savepoint_directory
        if where is None:
            raise ConfigurationError(
                "There is no directory for savepoints",
                remedy="give one, or set execution.checkpointing.savepoint-dir",
            )
        return where

    def _ask_to_end(self, grace: float) -> None:
        with self._lock:
            going = not self._finished.is_set()
            if going:
                self._enter(JobStatus.CANCELLING)
                self._cancelled.set()
        if going and not self._finished.wait(grace):
            with contextlib.suppress(Exception):  # Spark itself may be gone
                self._executor.interrupt()

    def _at_exit(self) -> None:
        """The program ends and has not waited for the job: nothing of it may stay behind but what it goes on from."""
        self._left_alone = True
        self._ask_to_end(_EXIT_GRACE_SECONDS)
        self._finished.wait(_EXIT_SECONDS)

    # -- the job, with its restarts -------------------------------------------------------------------------------

    def _run(self) -> None:
        ended = JobStatus.FAILED
        try:
            self._run_through_failures()
            ended = JobStatus.CANCELED if self._cancelled.is_set() else JobStatus.FINISHED
        except BaseException as error:
            self._error = as_headrace_error(error)
            self._monitor.failed(self._error)
        finally:
            try:
                self._executor.close()
            except Exception as error:
                if self._error is None and not self._cancelled.is_set():
                    self._error, ended = as_headrace_error(error), JobStatus.FAILED
                    self._monitor.failed(self._error)
            self._leave(ended)
            if ended is JobStatus.FINISHED and self._not_closed is not None:
                # Its output is committed: so it leaves what a finished job leaves, and is not done again.
                self._error, ended = self._not_closed, JobStatus.FAILED
                self._monitor.failed(self._error)
            self._progress.close()
            self._flames.close()
            self._reporting.close()
            self._origin_use.close()
            self._folder.remove()
            self._runtime = time.monotonic() - self._started
            atexit.unregister(self._at_exit)
            with self._lock:
                self._enter(ended)
                self._finished.set()
                self._results.end()
            self._requests.close(f"Job {self._program.graph.name!r} has ended: {ended.name}")

    def _run_through_failures(self) -> None:
        """Runs the job, again after each failure that the policy lets it survive."""
        while True:
            try:
                self._begin()
                self._loop()
                return
            except Exception as error:
                failure = as_headrace_error(error)
                if self._cancelled.is_set():
                    raise
                self._requests.job_failed(failure)
                if isinstance(failure, _HOPELESS):
                    raise
                delay = self._policy.delay(time.monotonic())
                if delay is None:
                    raise
                self._give_up_progress(failure, delay)
                if self._cancelled.wait(delay):
                    return

    def _begin(self) -> None:
        """Lets the ledger stand where the job starts from, and the loop begin there."""
        program = self._program
        durability, checkpoints = self._options.durability, self._checkpoints
        origin = program.origin
        staged = origin is not None and bool(origin.manifest.committables)
        takes_over = durability.periodic or durability.job_id is not None or checkpoints.commits or staged
        manifest = checkpoints.recover(origin) if takes_over else None
        if manifest is not None and durability.periodic:
            origin = Origin(manifest, checkpoints.files)
        self._deployment.ensure(program)
        self._ledger = Ledger(program.job_id, program.graph, program.plan, self._state_directory())
        self._ledger.restarts = self._restarts
        self._monitor.begin(program.graph, self._restarts)
        self._restored = origin is not None
        self._not_closed = None
        if origin is not None:
            restore.start(self._ledger, program.graph, program.plan, origin)
            self._checkpoints.statistics.restored()
        self._stopped = manifest is not None and bool(manifest.facts.get(FINISHED))
        with self._lock:
            if not self._cancelled.is_set():
                self._enter(JobStatus.RUNNING)

    def _give_up_progress(self, failure: HeadraceError, delay: float) -> None:
        """What was done since the last checkpoint is going to be done again."""
        _log.warning("headrace: %r starts again in %.1f s: %s", self._program.graph.name, delay, failure.message)
        with self._lock:
            if not self._cancelled.is_set():
                self._enter(JobStatus.RESTARTING)
        self._restarts += 1
        self._monitor.failed(failure)
        self._results.drop()
        with contextlib.suppress(Exception):
            self._checkpoints.abandon(self._ledger)

    def _leave(self, ended: JobStatus) -> None:
        """Drops what is not to be kept of the checkpoints."""
        durability = self._options.durability
        keep = {JobStatus.CANCELED: durability.keep_on_cancel, JobStatus.FAILED: durability.keep_on_failure}
        named = durability.job_id is not None
        kept = keep.get(ended, named) or (named and self._left_alone)
        with contextlib.suppress(Exception):
            if not isinstance(self._error, FencedError):
                self._checkpoints.abandon(self._ledger)
                if kept:
                    self._checkpoints.tidy()
                else:
                    self._checkpoints.remove()
        with contextlib.suppress(Exception):
            self._checkpoints.close()
        self._enumerators.close(kept)

    def _note_closing(self, acks: Iterable[TaskAck]) -> None:
        for error in [v.not_closed for ack in acks for v in ack.vertices if v.not_closed is not None]:
            _log.error("headrace: %r goes on without the close() of a function: %s", self._program.graph.name, error)
            self._not_closed = self._not_closed or error

    # -- the loop -------------------------------------------------------------------------------------------------

    def _loop(self) -> None:
        while not self._ledger.ended and not self._stopped and not self._cancelled.is_set():
            if self._follower is not None:
                self._follower.look(self._program)
            request = self._requests.next()
            if request is not None and request.parallelism is not None and self._rescale(request, request.parallelism):
                continue
            started = time.monotonic()
            checkpoint = self._checkpoints.order(self._ledger, forced=request is not None)
            if request is not None and not checkpoint.now:
                self._refuse(request)
                request = None
            result = self._epoch(checkpoint, drain=request is not None and request.drain)
            if result is None:
                return
            if self._restored:
                self._restored = False
                restore.check_inputs(self._program.graph, self._ledger.reports)
                if changes := state_changes(self._program.graph, result.acks):
                    _log.warning("headrace: %r was restored with other states: %s", self._program.graph.name, changes)
            self._note_closing(result.acks)
            seconds = time.monotonic() - started
            self._results.take(result.outputs)
            ended = time.monotonic()
            if checkpoint.now:
                self._conclude(result.acks, request)
            self._delete_obsolete()
            concluded = time.monotonic()
            self._results.wait_for_reader(self._cancelled)
            client = time.monotonic() - concluded
            self._monitor.epoch_done(result.acks, concluding=concluded - ended, client=client)
            self._flames.take(result.acks)
            records = self._observe(self._epochs, result.acks, started, seconds)
            self._idle = 0 if records else self._idle + 1
            if self._idle and not self._ledger.ended:
                self._pause()
        if self._ledger.ended and not self._cancelled.is_set():
            self._checkpoints.finish(self._ledger)
            self._let_go_of_claimed()
        self._results.release()

    def _conclude(self, acks: list[TaskAck], request: Request | None) -> None:
        """Completes the checkpoint of an epoch, and the request that it was made for."""
        manifest = self._checkpoints.complete(self._ledger, acks)
        if manifest is not None:
            self._results.release()
            self._let_go_of_claimed()
            origin = Origin(manifest, self._checkpoint_files())
            self._ledger.settle(origin)
            if not self._checkpoints.periodic:  # it has committed output: there is nothing else to start again from
                self._start_again_from(origin)
        if request is None:
            return
        if manifest is None:
            self._refuse(request)
            if request.drain:  # the sources have been told to end: only the last checkpoint knows how to go on
                raise JobExecutionError(f"The job was drained, but its savepoint failed: {self._checkpoints.problem}")
            return
        if request.parallelism is not None:  # the next turn cuts the job differently, on this checkpoint
            return
        if request.checkpoint:
            request.succeed(manifest.epoch)
            return
        assert request.directory is not None, "savepoints have a directory"
        try:
            folder = write_savepoint(manifest, self._checkpoint_files(), request.directory)
        except Exception as error:
            request.fail(error)
            return
        self._stopped = request.stop
        request.succeed(folder)

    def _let_go_of_claimed(self) -> None:
        """The job has a checkpoint of its own, or has finished: what it was restored from is not needed any more."""
        durability = self._options.durability
        if not durability.periodic:
            return
        self._origin_use.close()
        if self._claims and durability.restore_path is not None:
            self._claims = False
            with contextlib.suppress(HeadraceError, OSError):
                discard_claimed(durability.restore_path)

    def _refuse(self, request: Request) -> None:
        """The checkpoint that the request needs could not be made; the job goes on."""
        why = self._checkpoints.problem
        request.fail(
            JobExecutionError(
                f"The {request.what} failed: its checkpoint could not be completed: {why}",
                remedy="see to the checkpoint storage, and ask again.",
            )
        )

    def _rescale(self, request: Request, parallelism: int) -> bool:
        """Cuts the job differently and answers; False: the ledger has to stand on a checkpoint first."""
        before = self._ledger
        try:
            program = self._program.with_parallelism(parallelism)
            if _parallelism(program) == _parallelism(self._program):
                request.succeed(parallelism)
                return True
            if not before.settled:
                return False
            ledger = recut(before, program, self._state_directory())
        except Exception as error:
            request.fail(error)
            return True
        if (failure := self._deployment.replace(self._program, program)) is not None:
            request.fail(
                JobExecutionError(
                    f"The {request.what} failed because the executor could not be started: {failure.message}",
                    remedy="the job goes on with the parallelism that it had.",
                )
            )
            return True
        self._program, self._ledger = program, ledger
        self._checkpoints.rescaled(program.graph, program.plan)
        self._monitor.begin(program.graph, self._restarts)
        request.succeed(parallelism)
        return True

    def _start_again_from(self, origin: Origin) -> None:
        """A failure brings the job back to this checkpoint; files of the former one are not needed for that any more."""
        before, kept = self._program.origin, {file.name for file in origin.manifest.files}
        if before is not None and before.directory == self._state_directory():
            self._ledger.obsolete += [f for f in manifests.files_of(before.manifest) if f.name not in kept]
        self._program = replace(self._program, origin=origin)
        self._origin_use.close()  # what it was restored from

    def _epoch(self, checkpoint: CheckpointOrder, drain: bool) -> EpochResult | None:
        """Runs the next epoch; None if the job was cancelled meanwhile."""
        self._epochs += 1
        whole = self._program.graph.settings.batch
        limit, seconds = (sys.maxsize, None) if whole else (self._rate.limit, self._rate.target)

        def order() -> EpochOrder:
            self._enumerators.discover(self._ledger)
            made = self._ledger.order(
                self._epochs, limit, seconds, self._options.testing_clock, checkpoint, drain=drain
            )
            in_time = self._options.time_limit(with_checkpoint=checkpoint.now and not whole)
            return replace(made, sampled=self._flames.wanted(), time_limit=in_time)

        return self._runner.run(self._ledger, order, self._program.graph.name)

    def _observe(self, epoch: int, acks: list[TaskAck], started: float, seconds: float) -> int:
        """Adapts the rate, keeps the progress; gives the records that sources read."""
        sources = {v.id for v in self._program.graph.vertices.values() if isinstance(v.head.spec, SourceSpec)}
        reports = [v for a in acks for v in a.vertices]
        read = [v.records_in for v in reports if v.vertex in sources]
        rows = sum(read)
        self._rate.observe(max(read, default=0), seconds, critical_path(acks))
        since, self._epoch_began = started + seconds - self._epoch_began, started
        self.last_epoch = epoch_facts(
            self._program.graph,
            reports,
            job_id=str(self.job_id),
            epoch=epoch,
            read=rows,
            read_before=self.last_epoch.get("totalInputRows", 0),
            seconds=seconds,
            since_last=since,
            watermark=self._ledger.watermark(),
            now=self._clock.now(),
            next_limit=self._rate.limit,
        )
        self._progress.show(self.last_epoch)
        return rows

    def _pause(self) -> None:
        """Nothing came: waits a little, longer when nothing has come for a while, but not beyond the next timer."""
        wait = self._options.idle_poll * min(_MOST_PATIENCE, _PATIENCE**self._idle)
        timer = self._ledger.next_timer()
        if timer is not None:
            wait = min(wait, max(0.0, (timer - self._clock.now()) / 1000))
        self._cancelled.wait(wait)

    def _delete_obsolete(self) -> None:
        """Files that no task needs. Where checkpoints count on these very files, they decide what is garbage."""
        files, self._ledger.obsolete = self._ledger.obsolete, []
        if self._checkpoints.working_directory is not None:
            return
        origin, directory = self._program.origin, self._state_directory()
        needed = {f.name for f in origin.manifest.files} if origin is not None and origin.directory == directory else ()
        self._ledger.obsolete = [file for file in files if file.name in needed]
        for file in files:
            if file.name not in needed:
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(directory, file.name))

    def _state_directory(self) -> str:
        return self._checkpoints.working_directory or self._folder.path

    def _checkpoint_files(self) -> str:
        return self._checkpoints.files if self._checkpoints.periodic else self._folder.path


def _parallelism(program: Program) -> dict[str, int]:
    return {vertex.id: vertex.parallelism for vertex in program.graph.vertices.values()}
