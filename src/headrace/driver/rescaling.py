"""Changes the parallelism of a running job: its next ledger, the tasks to replace, the file that asks for it.

The parallelism changes only at a checkpoint, between two epochs:

1. If an epoch has run since the last checkpoint, the next epoch makes one first.
2. `recut` makes the new ledger from the checkpoint that the old ledger relies on. The old one stays valid.
3. The executor is closed and started with the new program. If that fails, the old program is started again.
4. Program and ledger are replaced, and the request is answered.

If the driver dies, the job recovers from its last checkpoint with the parallelism that it is started with.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from headrace.config.config_file import parse_properties
from headrace.driver import restore
from headrace.driver.current_job import CurrentJob, Program
from headrace.driver.events import CheckpointNeeded, Event, Rescaled, RescaleRefused
from headrace.driver.executor import Executor
from headrace.driver.instructions import Rescale
from headrace.driver.ledger import Ledger
from headrace.driver.requests import Request, Requests
from headrace.errors import ConfigurationError, HeadraceError, JobExecutionError
from headrace.worker.failures import as_headrace_error

_log = logging.getLogger("headrace")


def recut(before: Ledger, program: Program, directory: str) -> Ledger:
    """Return the ledger of a program that continues where `before` is, whatever its tasks were.

    The state comes from the checkpoint that `before` relies on, even if its own tasks have never read it. Positions come
    from `before` itself: it may have found splits, or resolved where they begin, since that checkpoint.
    """
    assert before.settled, "the parallelism changes only at a checkpoint"
    ledger = Ledger(program.job_id, program.graph, program.plan, directory)
    ledger.restarts = before.restarts
    ledger.obsolete = list(before.obsolete)
    if before.stands_on is None:
        ledger.start_from(None, {}, {}, before.positions)
    else:
        # Never with the same files as they are: a subtask that had ended must not get the splits of another one.
        origin = replace(before.stands_on, own=False)
        restore.start(ledger, program.graph, program.plan, origin, before.positions)
    return ledger


class Deployment:
    """Knows whether the executor runs the tasks of a program. It does so from the start."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._running = True

    def ensure(self, program: Program) -> None:
        """Start the executor if a rescale has closed it and could not start it again."""
        if not self._running:
            self._executor.start(program.spec)
            self._running = True

    def replace(self, before: Program, after: Program) -> HeadraceError | None:
        """Replace the tasks. Return the reason if that failed and the tasks of `before` run again.

        Raise if these cannot be started either; the restart strategy then decides.
        """
        try:
            self._executor.close()
        except Exception as error:  # all are closed, and the checkpoint holds their state
            _log.warning("headrace: %r is rescaled, but a function failed to close: %s", before.graph.name, error)
        self._running = False
        try:
            self.ensure(after)
        except Exception as error:
            self.ensure(before)
            return as_headrace_error(error)
        return None


class Rescaler:
    """Performs `Rescale`. `replaced` is told that the job now runs another program."""

    def __init__(self, job: CurrentJob, deployment: Deployment, replaced: Callable[[Program], None]) -> None:
        self._job = job
        self._deployment = deployment
        self._replaced = replaced

    def rescale(self, instruction: Rescale) -> Iterable[Event]:
        """Change the parallelism, or say why that cannot be done, or that a checkpoint is needed first."""
        request, job = instruction.request, self._job
        assert request.parallelism is not None, "the request is for a parallelism"
        try:
            program = job.program.with_parallelism(request.parallelism)
            if _parallelism(program) == _parallelism(job.program):
                return [Rescaled()]
            if not job.ledger.settled:
                return [CheckpointNeeded()]
            ledger = recut(job.ledger, program, job.state_directory)
        except Exception as error:
            return [RescaleRefused(error)]
        if (failure := self._deployment.replace(job.program, program)) is not None:
            why = JobExecutionError(
                f"The {request.what} failed because the executor could not be started: {failure.message}",
                remedy="the job continues with the parallelism that it had.",
            )
            return [RescaleRefused(why)]
        job.program, job.ledger = program, ledger
        self._replaced(program)
        return [Rescaled()]


def _parallelism(program: Program) -> dict[str, int]:
    return {vertex.id: vertex.parallelism for vertex in program.graph.vertices.values()}


class ParallelismFollower:
    """Asks for the parallelism that a file names, until the job has it or cannot have it."""

    def __init__(self, file: ParallelismFile, requests: Requests) -> None:
        self._file = file
        self._requests = requests
        self._asked: Request | None = None

    def look(self, program: Program) -> None:
        """Called between epochs: post a request if the file has changed; report one that failed."""
        name = program.graph.name
        if self._asked is not None:
            if not self._asked.done.is_set():
                return
            asked, self._asked = self._asked, None
            if asked.error is not None:
                _log.warning("headrace: %r keeps its parallelism for now: %s", name, asked.error)
                if not isinstance(asked.error, ConfigurationError):
                    self._file.look_again()
        wanted = self._file.changed()
        if wanted is None:
            return
        try:
            program.with_parallelism(wanted)
        except HeadraceError as error:
            _log.warning("headrace: %r keeps its parallelism: %s", name, error.message)
        else:
            self._asked = Request(parallelism=wanted)
            self._requests.post(self._asked)


_PAUSE = 0.5


class ParallelismFile:
    r"""Checks a file now and then; returns its `parallelism.default` when the file has changed since the job began.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
    ...     watched = ParallelismFile(file.name, pause=0)
    ...     before = watched.changed()
    ...     _ = file.write("parallelism.default: 4\n"), file.flush()
    ...     before, watched.changed(), watched.changed()
    (None, 4, None)
    """

    def __init__(self, path: str, pause: float = _PAUSE) -> None:
        """Take the present content as what the job was started with."""
        self._path = path
        self._pause = pause
        self._seen = self._look()
        self._next = time.monotonic() + pause

    def changed(self) -> int | None:
        """Return the new parallelism, once for each change of the file."""
        if time.monotonic() < self._next:
            return None
        self._next = time.monotonic() + self._pause
        now = self._look()
        if now == self._seen:
            return None
        self._seen = now
        try:
            with open(self._path, encoding="utf-8") as file:
                found = parse_properties(file.read(), self._path).get("parallelism.default")
        except (OSError, ValueError):
            return None  # it is being written, or gone: nothing changes
        try:
            return int(found) if found else None
        except ValueError:
            _log.warning("headrace: parallelism.default in %s is not an integer: %r", self._path, found)
            return None

    def look_again(self) -> None:
        """Let `changed` return the parallelism once more: the job could not follow the file yet."""
        self._seen = None

    def _look(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size
