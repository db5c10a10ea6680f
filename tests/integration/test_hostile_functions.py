"""Functions on Spark that fork or whose close() hangs: a clear error in bounded time, whole output, no process left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from os import fork
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from headrace.common import Encoder, RestartStrategies, Types
from headrace.common.errors import CloseTimeoutError, InvalidProgramError
from headrace.datastream import MapFunction
from headrace.datastream.connectors.file_system import FileSink
from headrace.worker.slot.launch import CLOSE_SECONDS

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.spark
PATIENCE = 60.0
"""Seconds for all else that a job does on a busy machine; a close() that nobody ends takes longer."""


class Forking(MapFunction):
    """Has imported `fork` by name, before any task has started."""

    def map(self, value: int) -> int:
        child = fork()
        if child == 0:
            os._exit(0)  # if it is not refused, the task must not run twice
        os.waitpid(child, 0)
        return value


def run(env: Any, name: str, slots: Any) -> None:
    """Runs a job to its end, at which no process of it is left; raises what it raises."""
    job = env.execute_async(name)
    try:
        job.get_job_execution_result().result()
    finally:
        assert not slots(job._handle._parts.executor._folder), "no process is left"


def test_a_fork_is_refused_also_by_its_bare_name(make_env, slots):
    env = make_env(1)
    env.from_collection([1, 2], Types.LONG()).map(Forking()).name("forking").print()
    with pytest.raises(InvalidProgramError, match=r"os.fork\(\) was called in a function of the program") as raised:
        run(env, "forks", slots)
    assert raised.value.operator_name == "forking"


class Hanging(MapFunction):
    """Never comes back from close(); it cannot be left by an exception either if it is `stubborn`."""

    def __init__(self, folder: Path, stubborn: bool) -> None:
        self.folder = folder
        self.stubborn = stubborn

    def map(self, value: int) -> int:
        return value

    def close(self) -> None:
        with open(self.folder / "closes", "a") as file:
            file.write("x")
        while True:
            try:
                time.sleep(600)
            except BaseException:
                if not self.stubborn:
                    raise


class Closing(MapFunction):
    """Comes after the one that hangs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def map(self, value: int) -> int:
        return value

    def close(self) -> None:
        (self.folder / "closed").touch()


def build(env: Any, folder: Path, *, stubborn: bool = False) -> Any:
    numbers = env.from_sequence(0, 99).map(Hanging(folder, stubborn), Types.LONG()).name("hanging").uid("h")
    return numbers.map(Closing(folder), Types.LONG()).map(str, Types.STRING())


def written(folder: Path) -> list[int]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return sorted(int(line) for path in files for line in path.read_text().split())


def test_a_close_that_hangs_at_the_end_keeps_no_output_back(make_env, slots, tmp_path):
    env = with_sink(make_env, tmp_path)
    started = time.monotonic()
    with pytest.raises(CloseTimeoutError, match=f"did not return within {CLOSE_SECONDS:g} s") as raised:
        run(env, "hangs at its end", slots)
    assert time.monotonic() - started < CLOSE_SECONDS + PATIENCE
    assert "time.sleep(600)" in str(raised.value)
    assert raised.value.uid == "h"
    assert written(tmp_path / "output") == list(range(100)), "all of it, once"
    assert (tmp_path / "closes").read_text() == "x", "nothing was run again"
    assert (tmp_path / "closed").exists(), "the other functions are closed all the same"
    run(with_sink(make_env, tmp_path), "the same job", slots)
    assert written(tmp_path / "output") == list(range(100)), "a job that is started again finds itself finished"


def with_sink(make_env: Any, folder: Path) -> Any:
    """A program whose job goes on from its checkpoints if it is started again."""
    checkpoints = {"execution__checkpointing__dir": folder / "checkpoints", "execution__checkpointing__interval": "1 s"}
    env = make_env(1, headrace__job__id="hostile", **checkpoints)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(3, 10))
    sink = FileSink.for_row_format(str(folder / "output"), Encoder.simple_string_encoder()).build()
    build(env, folder).sink_to(sink)
    return env


@pytest.mark.long
def test_a_close_that_swallows_every_exception_ends_with_its_process(make_env, slots, tmp_path):
    """It cannot be left: the task fails and what it has staged is not committed, so nothing is written in part."""
    env = make_env(1)
    output = str(tmp_path / "output")
    build(env, tmp_path, stubborn=True).sink_to(
        FileSink.for_row_format(output, Encoder.simple_string_encoder()).build()
    )
    started = time.monotonic()
    with pytest.raises(CloseTimeoutError, match="did not return") as raised:
        run(env, "cannot be left", slots)
    assert time.monotonic() - started < CLOSE_SECONDS + PATIENCE
    assert raised.value.operator_name == "hanging"
    assert written(tmp_path / "output") == []


def test_a_close_that_hangs_does_not_hold_a_cancel_up(slots, tmp_path):
    command = [sys.executable, str(Path(__file__).with_name("hanging_job.py")), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    folder, seconds = done.stdout.splitlines()
    assert float(seconds) < CLOSE_SECONDS + PATIENCE
    assert not slots(Path(folder)), "no process is left"
    assert "CLOSE_TIMEOUT" in done.stderr
    assert "operator: hanging (uid h)" in done.stderr
    assert "run again" not in done.stderr, "it was not lost, it was ended"
