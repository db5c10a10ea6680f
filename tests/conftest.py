"""What all tests share: running a script as a user would, and noticing processes that it leaves behind."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from hypothesis import HealthCheck, settings

_HERE = str(Path(__file__).resolve().parent)
if _HERE not in sys.path:
    sys.path.append(_HERE)

if TYPE_CHECKING:
    from pyspark import SparkContext

    from hadoop_kit.hdfs import Hdfs
    from hadoop_kit.yarn import Yarn
    from s3_server import S3Server

# How fast examples are generated says something about the machine, nothing about headrace.
settings.register_profile("headrace", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("headrace")

MARK = "HEADRACE_TEST_RUN"
GRACE_S = 15.0
LONG_FIRST = (
    "chaos",
    "cluster",
    "connectors",
    "ui",
    "service",
    "integration",
    "sinks",
    "docs",
    "durability",
    "semantics",
)
"""Folders of tests that take long: they begin first, so that no process is left alone with one of them in the end."""


def pytest_configure(config: pytest.Config) -> None:
    """Let programs be interrupted: a shell that starts the tests in the background makes them ignore SIGINT, and heirs too."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also the tests that are too long for continuous integration")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="takes long: runs only with --long"))
    tests = Path(__file__).parent
    rank = {tests / folder: number for number, folder in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: next((rank[p] for p in item.path.parents if p in rank), len(rank)))


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    """Gives ports on which nobody listens."""

    def find() -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return int(probe.getsockname()[1])

    return find


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


class Running:
    """A script that runs in a fresh interpreter; all processes that it starts are marked."""

    def __init__(self, script: Path, cwd: Path, environment: dict[str, str]) -> None:
        self.script = script
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, str(script)],
            cwd=cwd,
            env={**os.environ, **environment, MARK: self.mark},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",  # paths of the checkout, where the locale has no such letters
        )

    def finish(self, timeout_s: float) -> Finished:
        """Waits for the end; fails if it takes too long or if a process is left behind."""
        try:
            stdout, stderr = self.process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            wait_until_gone(self.mark, 0.0)
            stdout, stderr = self.process.communicate()
            finished = Finished(self.process.returncode, stdout, stderr)
            pytest.fail(f"{self.script.name} was still running after {timeout_s:.0f} s\n{finished.report()}")
        finished = Finished(self.process.returncode, stdout, stderr)
        if left := wait_until_gone(self.mark, GRACE_S):
            pytest.fail(f"{self.script.name} left processes behind: {left}\n{finished.report()}")
        return finished


@pytest.fixture
def memory_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: thousands of fsyncs on a slow disk would test the disk."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="ht-", dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def other_user() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a shell command as another user of this machine (nobody); skips the test where that cannot be done."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can run a command as another user, and setpriv (util-linux) must be installed")
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*become, "sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)

    return run


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """A folder like /tmp: every user can make entries in it, and only their owners can remove them."""
    with tempfile.TemporaryDirectory(prefix="ht-", dir="/tmp") as folder:
        os.chmod(folder, 0o1777)
        yield Path(folder)


@pytest.fixture
def start_script() -> Iterator[Callable[..., Running]]:
    """Starts `python SCRIPT` in a fresh interpreter, with more environment variables if they are given."""
    started: list[Running] = []

    def start(script: Path, cwd: Path, **environment: str) -> Running:
        started.append(Running(script, cwd, environment))
        return started[-1]

    yield start
    for running in started:
        wait_until_gone(running.mark, 0.0)


@pytest.fixture
def run_script(start_script: Callable[..., Running]) -> Callable[..., Finished]:
    """Runs `python SCRIPT` to its end in a fresh interpreter; fails if it takes too long or leaves a process behind."""

    def run(script: Path, cwd: Path, timeout_s: float, **environment: str) -> Finished:
        return start_script(script, cwd, **environment).finish(timeout_s)

    return run


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkContext]:
    """The one SparkContext of this test process: local, two cores. Jobs of all tests find it by themselves."""
    from headrace.spark.context import spark_context

    yield spark_context(None, {"spark.master": "local[2,4]"})


@pytest.fixture(scope="module")
def hdfs() -> Iterator[Hdfs]:
    """A running HDFS."""
    from hadoop_kit.hdfs import Hdfs

    with Hdfs() as started:
        yield started


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """A running server with the API of S3."""
    from s3_server import S3Server

    with S3Server() as started:
        yield started


@pytest.fixture(scope="module")
def yarn() -> Iterator[Yarn]:
    """A running YARN of one node, whose default file system is the local one."""
    from hadoop_kit.yarn import Yarn

    with Yarn() as started:
        yield started
