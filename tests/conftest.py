"""What all tests share: running a script as a user would, and noticing processes that it leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

MARK = "HEADRACE_TEST_RUN"
GRACE_S = 15.0


@dataclass(frozen=True)
class Finished:
    """How a script ended."""

    returncode: int
    stdout: str
    stderr: str

    def report(self) -> str:
        """The end of both streams, for a failure message."""
        return f"exit code {self.returncode}\n--- stdout\n{self.stdout[-4000:]}\n--- stderr\n{self.stderr[-8000:]}"


def marked_processes(mark: str) -> list[psutil.Process]:
    """Processes that inherited this mark, however far down: drivers, JVMs, Python workers, orphans of all these."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (psutil.Error, OSError):
            continue  # gone meanwhile, or another user's
    return found


def wait_until_gone(mark: str, grace_s: float) -> list[str]:
    """Waits for the marked processes to end by themselves; ends and names those that do not."""
    deadline = time.monotonic() + grace_s
    while (left := marked_processes(mark)) and time.monotonic() < deadline:
        time.sleep(0.1)
    names = []
    for process in left:
        try:
            names.append(f"{process.pid} {' '.join(process.cmdline())[:200]}")
            process.kill()
        except psutil.Error:
            continue
    return names


@pytest.fixture
def run_script() -> Callable[..., Finished]:
    """Runs `python SCRIPT` to its end in a fresh interpreter; fails if it takes too long or leaves a process behind."""

    def run(script: Path, cwd: Path, timeout_s: float) -> Finished:
        mark = uuid.uuid4().hex
        process = subprocess.Popen(
            [sys.executable, str(script)],
            cwd=cwd,
            env={**os.environ, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            wait_until_gone(mark, 0.0)
            stdout, stderr = process.communicate()
            finished = Finished(process.returncode, stdout, stderr)
            pytest.fail(f"{script.name} was still running after {timeout_s:.0f} s\n{finished.report()}")
        finished = Finished(process.returncode, stdout, stderr)
        if left := wait_until_gone(mark, GRACE_S):
            pytest.fail(f"{script.name} left processes behind: {left}\n{finished.report()}")
        return finished

    return run
