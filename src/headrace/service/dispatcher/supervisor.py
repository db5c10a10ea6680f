"""Supervise the jobs of a store: start their processes, and repeatedly perform what `decide`, a pure function, returns.

Only the leading dispatcher runs a supervisor. The processes are independent of it: they keep running if the dispatcher is
killed, and the next one finds them by the locks that they hold.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from enum import Enum

from headrace.config.config_file import CONF_DIR_VARIABLE, CONFIGURATION_FILE_VARIABLE, PROPERTIES_VARIABLE
from headrace.service.job_folder import End, JobFolder, Starts

_HOUR = 3_600_000
_STARTING = 5_000
"""How many milliseconds a process that another dispatcher started may need to take its lock."""
_CANCEL_GRACE = 30_000
_LONGEST_DELAY = 30_000


class Action(Enum):
    """What the supervisor does next."""

    NOTHING = "nothing"
    START = "start"
    KILL = "kill"
    CANCELED = "record that it was cancelled"
    FAILED = "record that it failed"


@dataclass(frozen=True)
class Facts:
    """The observed state of a job. Times are in milliseconds."""

    now: int
    ended: bool
    alive: bool
    """Whether a process holds the lock of the job, or this dispatcher started one that lives."""
    started_here: bool
    """Whether this dispatcher started the last process, and so knows whether it lives."""
    wished_at: int | None
    starts: Starts
    restart_attempts: int


def decide(facts: Facts) -> Action:
    """Return the next action.

    >>> job = Facts(100_000, False, False, True, None, Starts(), 3)
    >>> decide(job)
    <Action.START: 'start'>
    """
    if facts.ended:
        return Action.NOTHING
    if facts.alive:
        overdue = facts.wished_at is not None and facts.now - facts.wished_at > _CANCEL_GRACE
        return Action.KILL if overdue else Action.NOTHING
    if facts.wished_at is not None:
        return Action.CANCELED
    return _without_process(facts)


def _without_process(facts: Facts) -> Action:
    """Start a job that has no process and is not to be cancelled, but not too often and not too quickly."""
    starts = facts.starts.starts
    if not starts:
        return Action.START
    since = facts.now - starts[-1]
    if not facts.started_here and since < _STARTING:
        return Action.NOTHING
    crashes = sum(1 for at in facts.starts.crashes if facts.now - at < _HOUR)
    if crashes >= facts.restart_attempts:
        return Action.FAILED
    delay = min(_LONGEST_DELAY, 0 if crashes == 0 else 500 * 2**crashes)
    return Action.START if since >= delay else Action.NOTHING


_ROUND_SECONDS = 0.25
_log = logging.getLogger("headrace.service")


class Supervisor:
    """A thread that watches all jobs that have not ended."""

    def __init__(self, restart_attempts: int) -> None:
        self._restart_attempts = restart_attempts
        self._lock = threading.Lock()
        self._jobs: dict[str, JobFolder] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="headrace-supervisor", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop watching. The jobs keep running."""
        self._stopped.set()
        self._thread.join()

    def watch(self, folder: JobFolder) -> None:
        """Watch this job too; start it at once if it is not running."""
        with self._lock:
            self._jobs[folder.job_id] = folder
            self._look_after(folder)

    def _run(self) -> None:
        while not self._stopped.wait(_ROUND_SECONDS):
            with self._lock:
                for folder in list(self._jobs.values()):
                    try:
                        self._look_after(folder)
                    except OSError as error:
                        _log.error("job %s: cannot use its folder: %s", folder.job_id, error)

    def _look_after(self, folder: JobFolder) -> None:
        process = self._processes.get(folder.job_id)
        lives = process is not None and process.poll() is None  # poll also reaps a child that has ended
        ended = folder.end() is not None
        if ended and not lives:
            self._jobs.pop(folder.job_id, None)
            self._processes.pop(folder.job_id, None)
            return
        facts = Facts(
            now=time.time_ns() // 1_000_000,
            ended=ended,
            alive=lives or folder.lock.is_taken(),
            started_here=process is not None,
            wished_at=folder.wished_at(),
            starts=folder.starts(),
            restart_attempts=self._restart_attempts,
        )
        self._act(folder, facts, decide(facts))

    def _act(self, folder: JobFolder, facts: Facts, action: Action) -> None:
        if action is Action.START:
            self._start(folder, facts)
        elif action is Action.KILL:
            self._kill(folder)
        elif action is Action.CANCELED:
            folder.write(End("CANCELED", facts.now))
        elif action is Action.FAILED:
            folder.write(End("FAILED", facts.now, "The process of the job master was lost too often."))

    def _start(self, folder: JobFolder, facts: Facts) -> None:
        starts = facts.starts
        if starts.starts:
            _log.warning("job %s: its process was lost, restarting it", folder.job_id)
            starts = replace(starts, crashes=(*starts.crashes, facts.now))
        folder.write(replace(starts, starts=(*starts.starts, facts.now)))
        environment = {k: v for k, v in os.environ.items() if k not in (CONF_DIR_VARIABLE, PROPERTIES_VARIABLE)}
        environment[CONFIGURATION_FILE_VARIABLE] = str(folder.configuration_file)
        with folder.log.open("ab") as log:
            self._processes[folder.job_id] = subprocess.Popen(
                [sys.executable, "-m", "headrace.service.job_process", str(folder.path)],
                cwd=folder.path,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        _log.info("job %s: process %d", folder.job_id, self._processes[folder.job_id].pid)

    def _kill(self, folder: JobFolder) -> None:
        """Kill a process that ignores its cancellation. The lock proves that the recorded process is still the same."""
        control = folder.control()
        if control is not None and folder.lock.is_taken():
            _log.warning("job %s: did not end after its cancellation, killing its process", folder.job_id)
            try:
                os.kill(control.pid, signal.SIGKILL)
            except OSError as error:
                _log.warning("job %s: %s", folder.job_id, error)
