"""Start processes that outlive the command, recognize them later, and end them.

Process ids are reused. So the start time of a process is recorded with its id, and a process with another start time is
never signalled.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class NotedProcess:
    """A process by id and start time; plain values, so that it can be stored.

    >>> NotedProcess.of(os.getpid(), "me").is_alive(), NotedProcess(os.getpid(), "another time", "me").is_alive()
    (True, False)
    """

    pid: int
    began: str
    name: str

    @staticmethod
    def of(pid: int, name: str) -> NotedProcess:
        """Return the record of a running process."""
        return NotedProcess(pid, _beginning(pid) or "", name)

    def is_alive(self) -> bool:
        """Return whether the same process is still running."""
        return bool(self.began) and _beginning(self.pid) == self.began


def _beginning(pid: int) -> str | None:
    """Return when a process started, in any format; None if it does not exist or is a zombie."""
    if Path("/proc/self/stat").exists():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        except OSError:
            return None
        return None if fields[0] in "ZX" else f"{boot} {fields[19]}"
    command = ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    state, _, beginning = shown.stdout.strip().partition(" ")
    return None if not state or state.startswith("Z") else beginning.strip()


def start_process(name: str, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> NotedProcess:
    """Start a process in a new session; append its output and errors to a log file."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(log, "ab") as output:
        process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return NotedProcess.of(process.pid, name)


def end_process(noted: NotedProcess, seconds: float) -> bool:
    """End a process, by force if it takes too long; return whether it ended without force."""
    if not noted.is_alive():
        return True
    os.kill(noted.pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while noted.is_alive():
        if time.monotonic() > deadline:
            os.kill(noted.pid, signal.SIGKILL)
            return False
        time.sleep(_POLL_SECONDS)
    return True
