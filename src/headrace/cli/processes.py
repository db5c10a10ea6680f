"""Processes that outlive the command that started them: started, known again later, ended.

A process id says little after some time: another process may have it. So the moment at which the process began is noted
with it, and nothing is signalled whose moment is another.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["NotedProcess", "end_process", "start_process"]

_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class NotedProcess:
    """A process by id and beginning; plain values, so that it can be written down.

    >>> NotedProcess.of(os.getpid(), "me").is_alive(), NotedProcess(os.getpid(), "another time", "me").is_alive()
    (True, False)
    """

    pid: int
    began: str
    name: str

    @staticmethod
    def of(pid: int, name: str) -> NotedProcess:
        """Note a process that runs now."""
        return NotedProcess(pid, _beginning(pid) or "", name)

    def is_alive(self) -> bool:
        """Say whether it is still there, and still the same."""
        return bool(self.began) and _beginning(self.pid) == self.began


def _beginning(pid: int) -> str | None:
    """When a process began, in whatever words; None if there is none, or only its exit code is left."""
    if Path("/proc/self/stat").exists():
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        except OSError:
            return None
        return None if fields[0] in "ZX" else f"{boot} {fields[19]}"
    command = ["/bin/ps", "-o", "stat=,lstart=", "-p", str(pid)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    state, _, beginning = said.stdout.strip().partition(" ")
    return None if not state or state.startswith("Z") else beginning.strip()


def start_process(name: str, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> NotedProcess:
    """Start a process in a session of its own, with both outputs added to a log file."""
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
    """End a process, by force if it takes too long; gives whether it ended by itself."""
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
