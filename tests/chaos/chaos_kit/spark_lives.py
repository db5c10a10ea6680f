"""Lives on Spark: a driver in a fresh interpreter with its JVM, and the processes below it, which can be killed one by one.

All processes of a trial carry a mark in their environment, however far down they are: so they are found when their parents
are dead, and those that are left at the end are leaks.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil

from chaos_kit.lives import Life
from headrace.foundation.faultpoints import ONCE, VARIABLE
from headrace.spark.settings import DAEMON_MODULE

MARK = "HEADRACE_CHAOS"
GRACE_S = 20.0


class SparkNursery:
    """Starts drivers on Spark."""

    def __init__(self, folder: Path, mark: str, environment: dict[str, str] | None = None) -> None:
        self._folder, self._mark = folder, mark
        self._environment = environment or {}
        self._kept: list[subprocess.Popen[bytes]] = []
        self.lives: list[Life] = []
        self.left: list[str] = []

    def start(self, params: dict[str, Any], fault: str | None = None) -> Life:
        number = len(self.lives)
        token, log = self._folder / f"token-{number}", self._folder / f"log-{number}"
        scratch = self._folder / "tmp"
        scratch.mkdir(exist_ok=True)
        faults = {} if fault is None else {VARIABLE: fault, ONCE: str(token)}
        environment = {
            **os.environ,
            "TMPDIR": str(scratch),
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            MARK: self._mark,
            **self._environment,
            **faults,
        }
        if params["settings"].get("spark.master", "").startswith("spark:"):  # executors have their worker's environment
            handed = {"PYTHONPATH": environment["PYTHONPATH"], MARK: self._mark, **faults}
            settings = {f"spark.executorEnv.{name}": value for name, value in handed.items()}
            params = {**params, "settings": {**params["settings"], **settings}}
        with open(log, "wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "chaos_kit.workload", json.dumps(params)],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._kept.append(process)
        life = Life(process.pid, token, log)
        self.lives.append(life)
        return life

    def processes(self, kind: str | None = None) -> list[psutil.Process]:
        """The living processes of the trial: "slot", "worker", "daemon", "executor", "driver", "jvm", or all."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) != self._mark or process.status() == psutil.STATUS_ZOMBIE:
                    continue
                if kind is None or kind_of(process) == kind:
                    found.append(process)
            except (psutil.Error, OSError):
                continue
        return found

    def end_all(self) -> None:
        """Waits a while for all processes to end, then kills those that did not; `left` names them."""
        for life in self.lives:
            if life.code is None:
                life.kill()
        deadline = time.monotonic() + GRACE_S
        while (left := self.processes()) and time.monotonic() < deadline:
            time.sleep(0.2)
        for process in left:
            with contextlib.suppress(psutil.Error):
                self.left.append(f"{' '.join(process.cmdline())[:200]} ({process.pid})")
                process.send_signal(signal.SIGKILL)


def kind_of(process: psutil.Process) -> str:
    command = process.cmdline()
    text = " ".join(command)
    if "headrace.worker.slot.process" in command:
        return "slot"
    if "CoarseGrainedExecutorBackend" in text:
        return "executor"
    if DAEMON_MODULE in command:  # as a word of its own: the JVM's command line names the module in its settings
        parent = process.parent()
        return "worker" if parent is not None and DAEMON_MODULE in parent.cmdline() else "daemon"
    return "driver" if "chaos_kit.workload" in command else "jvm"
