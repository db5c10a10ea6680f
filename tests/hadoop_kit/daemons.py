"""Start, watch and end the daemons of Hadoop: one JVM of 256 MB each, ended by its process id."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import psutil

from jar_folders import jar_directory

START_SECONDS = 120.0
STOP_SECONDS = 20.0
MARK = "HEADRACE_HADOOP_RUN"
"""A variable that all daemons and the containers of YARN inherit: what is left of a run is found by it."""

_LOGGING = """\
log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{HH:mm:ss} %p %c{1}: %m%n
"""
_OPEN_PACKAGES = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "util", "net", "io")]


class HadoopStartError(RuntimeError):
    """A daemon ended or did not become ready; the message shows the end of its log."""


def free_ports(count: int) -> list[int]:
    """Return ports on which nobody listens, all different."""
    with contextlib.ExitStack() as probes:
        found = []
        for _ in range(count):
            probe = probes.enter_context(contextlib.closing(socket.socket()))
            probe.bind(("127.0.0.1", 0))
            found.append(int(probe.getsockname()[1]))
    return found


def read_json(address: str) -> Any:
    """Return the JSON that stands at an address."""
    with urllib.request.urlopen(address, timeout=5) as answer:
        return json.load(answer)


class Daemons:
    """The daemons of one cluster. Leaving the context ends them and deletes their folder."""

    def __init__(self, name: str) -> None:
        self.home = Path(tempfile.mkdtemp(prefix=f"headrace-{name}-"))
        self.home.chmod(0o755)  # programs of other users may read the configuration
        self.conf = self.home / "conf"
        """What HADOOP_CONF_DIR names for clients of this cluster."""
        self.mark = uuid.uuid4().hex
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.conf.mkdir()
        (self.conf / "log4j.properties").write_text(_LOGGING)
        (self.home / "logs").mkdir()

    def write_settings(self, file: str, settings: Mapping[str, object], folder: Path | None = None) -> None:
        """Write one of Hadoop's XML files."""
        rows = (
            f"  <property><name>{escape(name)}</name><value>{escape(str(value))}</value></property>\n"
            for name, value in settings.items()
        )
        folder = folder or self.conf
        folder.mkdir(exist_ok=True)
        (folder / file).write_text(f"<configuration>\n{''.join(rows)}</configuration>\n")

    def _command(self, main: str, arguments: tuple[str, ...], conf: Path | None) -> list[str]:
        java_home = os.environ.get("JAVA_HOME")
        java = str(Path(java_home) / "bin" / "java") if java_home else "java"
        options = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *_OPEN_PACKAGES]
        options += [f"-Dhadoop.log.dir={self.home / 'logs'}", f"-Dhadoop.home.dir={self.home}"]
        folders = [str(conf)] if conf else []
        return [
            java,
            *options,
            "-cp",
            ":".join([*folders, str(self.conf), f"{jar_directory('hadoop')}/*"]),
            main,
            *arguments,
        ]

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "HADOOP_CONF_DIR": str(self.conf), MARK: self.mark}

    def run(self, name: str, main: str, *arguments: str) -> None:
        """Run a program of Hadoop to its end."""
        with self._log(name).open("ab") as log:
            command = self._command(main, arguments, None)
            done = subprocess.run(
                command,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env=self._environment(),
                timeout=START_SECONDS,
            )
        if done.returncode:
            raise HadoopStartError(f"{main} failed.\n{self.logs(name)}")

    def start_daemon(self, name: str, main: str, conf: Path | None = None) -> None:
        """Start a daemon; `conf` is a folder of settings that take precedence over the cluster's."""
        with self._log(name).open("ab") as log:
            self._running[name] = subprocess.Popen(
                self._command(main, (), conf), stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self._environment()
            )

    def wait_until(self, ready: Callable[[], bool], what: str) -> None:
        """Wait until the daemons answer as they should."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
                if ready():
                    return
            ended = [name for name, process in self._running.items() if process.poll() is not None]
            if ended or time.monotonic() > deadline:
                reason = f"ended: {', '.join(ended)}" if ended else f"not ready after {START_SECONDS:.0f} s"
                raise HadoopStartError(f"{what} did not start ({reason}).\n{self.logs()}")
            time.sleep(0.2)

    def stop_daemon(self, name: str, kill: bool = False) -> None:
        """End a daemon, or kill it."""
        process = self._running.pop(name, None)
        if process is None:
            return
        if kill:
            process.kill()
        else:
            process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop_all(self, kill: bool = False) -> None:
        """End all daemons, the last one first, and what they have left running."""
        for name in reversed(list(self._running)):
            self.stop_daemon(name, kill)
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.environ().get(MARK) == self.mark:
                    process.kill()

    def pid(self, name: str) -> int:
        """Return the process id of a running daemon."""
        return self._running[name].pid

    def remove(self) -> None:
        """End all daemons and delete the folder."""
        self.stop_all(kill=True)
        shutil.rmtree(self.home, ignore_errors=True)

    def _log(self, name: str) -> Path:
        return self.home / "logs" / f"{name}.log"

    def logs(self, name: str | None = None, characters: int = 4000) -> str:
        """Return the ends of the logs, for the message of a failed test."""
        found = [self._log(name)] if name else sorted((self.home / "logs").glob("*.log"))
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-characters:]}" for path in found)
