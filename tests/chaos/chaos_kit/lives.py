"""Lives of a driver: real processes in groups of their own, forked from a parent that has headrace loaded already.

A fork costs a tenth of a fresh interpreter; what is killed is a process with files like any other. Kills go to recorded
process ids only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace.foundation import faultpoints

LONGEST_S = 120.0
_POLL_S = 0.002


class StuckError(Exception):
    """A process did not end in time."""


@dataclass
class Life:
    """One process of the driver."""

    pid: int
    token: Path
    """Is there when the fault has happened."""
    log: Path
    began: float = field(default_factory=time.time)
    ended: float | None = None
    code: int | None = None
    """The exit code; minus the signal if one ended it."""

    @property
    def fault_happened(self) -> bool:
        return self.token.exists()

    def wait(self, longest_s: float = LONGEST_S, wake: bool = False) -> int:
        """Waits for the end; `wake`: does not let it sleep."""

        def look() -> bool:
            if wake and self._poll(os.WUNTRACED):
                self.send(signal.SIGCONT)
            return self.code is not None

        self._poll_until(look, longest_s)
        assert self.code is not None
        return self.code

    def wait_until_stopped(self, longest_s: float = LONGEST_S) -> bool:
        """Waits until it sleeps by SIGSTOP; False if it ended before."""
        stopped = False

        def look() -> bool:
            nonlocal stopped
            stopped = stopped or self._poll(os.WUNTRACED)
            return stopped or self.code is not None

        self._poll_until(look, longest_s)
        return stopped

    def kill(self) -> None:
        """Ends it with all that it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.wait()

    def send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def sleep_or_end(self, seconds: float) -> None:
        """Waits so long, or until it has ended."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.code is None:
            self._poll(0)
            time.sleep(min(_POLL_S, max(0.0, deadline - time.monotonic())))

    def _poll_until(self, done: Callable[[], bool], longest_s: float) -> None:
        deadline = time.monotonic() + longest_s
        while True:
            self._poll(0)
            if done():
                return
            if time.monotonic() > deadline:
                self.send(signal.SIGKILL)
                raise StuckError(f"process {self.pid} was still there after {longest_s:.0f} s; see {self.log}")
            time.sleep(_POLL_S)

    def _poll(self, options: int) -> bool:
        """Takes a change of state in; True if it is that the process sleeps now."""
        if self.code is not None:
            return False
        pid, status = os.waitpid(self.pid, os.WNOHANG | options)
        if pid == 0:
            return False
        if os.WIFSTOPPED(status):
            return True
        self.code, self.ended = os.waitstatus_to_exitcode(status), time.time()
        return False


class Nursery:
    """Starts lives; `before` is called in each child first (it may harm the process's view of the world)."""

    def __init__(self, folder: Path, run: Callable[[dict[str, Any]], int], prefix: str = "") -> None:
        self._folder, self._prefix = folder, prefix
        self._run = run
        self.lives: list[Life] = []

    def start(self, params: dict[str, Any], fault: str | None = None, before: Callable[[], None] | None = None) -> Life:
        number = len(self.lives)
        token, log = (self._folder / f"{self._prefix}{what}-{number}" for what in ("token", "log"))
        scratch = self._folder / "tmp"
        scratch.mkdir(exist_ok=True)
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self._live(params, fault, before, token, log, scratch)
        with contextlib.suppress(OSError):
            os.setpgid(pid, pid)
        life = Life(pid, token, log)
        self.lives.append(life)
        return life

    def _live(
        self,
        params: dict[str, Any],
        fault: str | None,
        before: Callable[[], None] | None,
        token: Path,
        log: Path,
        scratch: Path,
    ) -> None:
        code = 9
        try:
            os.setpgid(0, 0)
            descriptor = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            os.environ["TMPDIR"] = tempfile.tempdir = str(scratch)
            if fault is not None:
                faultpoints.arm(fault, str(token))
            if before is not None:
                before()
            code = self._run(params)
            sys.stdout.flush()
            sys.stderr.flush()
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
        finally:
            os._exit(code)

    def end_all(self) -> None:
        """Kills what is left of this trial."""
        for life in self.lives:
            if life.code is None:
                life.kill()
