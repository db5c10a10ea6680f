"""Another parallelism for a running job: what its next ledger stands on, how tasks are replaced, who asks by a file.

A job is cut differently only where it stands on a checkpoint, between two epochs:

1. If an epoch has run since the last checkpoint, the loop makes one first.
2. `recut` makes the ledger of the new cut from what the old ledger stands on. The old one stays valid.
3. The executor is closed and started with the new program. If that fails the old program is started again.
4. Program and ledger are replaced, and the request is answered.

If the driver dies, the job recovers from its last checkpoint with whatever parallelism it is started with.
"""

from __future__ import annotations

import logging
from dataclasses import replace

from headrace.driver import restore
from headrace.driver.executor import Executor
from headrace.driver.ledger import Ledger
from headrace.driver.parallelism_file import ParallelismFile
from headrace.driver.program import Program
from headrace.driver.requests import Request, Requests
from headrace.errors import ConfigurationError, HeadraceError
from headrace.worker.failures import as_headrace_error

__all__ = ["Deployment", "ParallelismFollower", "recut"]

_log = logging.getLogger("headrace")


def recut(before: Ledger, program: Program, directory: str) -> Ledger:
    """Give the ledger of a program that goes on where `before` stands, whatever its tasks were.

    The state comes from the files that `before` stands on, also if its own tasks have never read them. Positions come
    from `before` itself: it may have found splits, or resolved where they begin, since those files were written.
    """
    assert before.settled, "a job is cut differently only where it stands on a checkpoint"
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
    """Knows whether the executor runs the tasks of a program. It does when the job master gets it."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._running = True

    def ensure(self, program: Program) -> None:
        """Start the executor if a rescale has closed it and could start neither program."""
        if not self._running:
            self._executor.start(program.spec)
            self._running = True

    def replace(self, before: Program, after: Program) -> HeadraceError | None:
        """Replace the tasks. Give the reason if that failed: then those of `before` are to run again.

        Raises if not even these can be started; the restart strategy decides then.
        """
        try:
            self._executor.close()
        except Exception as error:  # all are closed, and what they held is in the checkpoint
            _log.warning("headrace: %r is rescaled, but a function failed to close: %s", before.graph.name, error)
        self._running = False
        try:
            self.ensure(after)
        except Exception as error:
            self.ensure(before)
            return as_headrace_error(error)
        return None


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
