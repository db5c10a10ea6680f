"""What the integration tests share: environments on either executor, and a look at the processes of a job."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from headrace.common import Configuration
from headrace.datastream import StreamExecutionEnvironment

sys.path.insert(0, str(Path(__file__).parent))
MakeEnvironment = Callable[..., StreamExecutionEnvironment]


@pytest.fixture
def make_env(spark: object) -> MakeEnvironment:
    """Makes environments: `make_env(parallelism, executor="spark" or "local", key=value, ...)`."""

    def make(parallelism: int = 2, executor: str = "spark", **settings: object) -> StreamExecutionEnvironment:
        configuration = Configuration()
        configuration.set_string("headrace.executor", executor)
        for key, value in settings.items():
            configuration.set_string(key.replace("__", ".").replace("_", "-"), str(value))
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(parallelism)
        return env

    return make


def slot_processes(folder: Path | None = None) -> dict[int, list[str]]:
    """The slot processes that live below `folder` (default: of any job here): process id -> its arguments."""
    below = str(folder or tempfile.gettempdir())
    found = {}
    for process in psutil.process_iter():
        try:
            command = process.cmdline()
        except (psutil.Error, OSError):
            continue
        if "headrace.worker.slot.process" in command and command[3].startswith(below):
            found[process.pid] = command[3:]
    return found


@pytest.fixture
def slots() -> Callable[..., dict[int, list[str]]]:
    """Finds slot processes."""
    return slot_processes


@pytest.fixture
def make_local_env() -> Callable[[dict[str, str]], StreamExecutionEnvironment]:
    """Makes environments on the local executor, without Spark: `make_local_env({key: value})`."""

    def make(settings: dict[str, str]) -> StreamExecutionEnvironment:
        configuration = Configuration().set_string("headrace.executor", "local")
        for key, value in settings.items():
            configuration.set_string(key, value)
        return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)

    return make
