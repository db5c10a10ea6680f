"""However a program ends, nothing of it stays: no slot, no Python daemon, no JVM, no folder; and it says what matters."""

from __future__ import annotations

import signal
import textwrap
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

HEAD = """
import os, pathlib, sys, time
from headrace.datastream import MapFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.common import WatermarkStrategy
from headrace.testing import Record, event_source

HERE = pathlib.Path(os.environ["JOURNAL"])

class Noting(MapFunction):
    def open(self, runtime_context):
        self.subtask = runtime_context.get_index_of_this_subtask()
        (HERE / f"open-{self.subtask}").touch()
    def map(self, value):
        return value
    def close(self):
        os.write(2, b"this goes nowhere when the JVM is dead\\n")  # whole lines: two processes write here
        (HERE / f"close-{self.subtask}").touch()

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
"""

ENDLESS = (
    HEAD
    + """
class Sleepy(Noting):
    def map(self, value):
        time.sleep(60)

stream = env.from_source(event_source([Record(1)], [Record(2)], bounded=False), WatermarkStrategy.no_watermarks(), "s")
stream.rebalance().map(Sleepy()).print()
env.execute("endless")
"""
)

FAILING = (
    HEAD
    + """
def divide(value):
    return 10 // (value - 3)

env.from_sequence(1, 5).map(Noting()).map(divide).name("divide").uid("divide-1").print()
env.execute("failing")
"""
)

UNWAITED = (
    HEAD
    + """
stream = env.from_source(event_source([Record(1)], [Record(2)], bounded=False), WatermarkStrategy.no_watermarks(), "s")
stream.rebalance().map(Noting()).print()
client = env.execute_async("not waited for")
while len(list(HERE.glob("open-*"))) < 2:
    time.sleep(0.05)
"""
)


@pytest.fixture
def place(tmp_path: Path) -> dict[str, Path]:
    """A temporary directory and a journal for the program under test."""
    folders = {"TMPDIR": tmp_path / "t", "JOURNAL": tmp_path / "j"}
    for folder in folders.values():
        folder.mkdir()
    return folders


def written(tmp_path: Path, text: str) -> Path:
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(text))
    return script


def strings(place: dict[str, Path]) -> dict[str, str]:
    return {name: str(path) for name, path in place.items()}


def wait_for_files(folder: Path, names: set[str], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not names <= {path.name for path in folder.iterdir()}:
        assert time.monotonic() < deadline, f"only {sorted(p.name for p in folder.iterdir())}"
        time.sleep(0.05)


def assert_clean(place: dict[str, Path]) -> None:
    left = [path.name for path in place["TMPDIR"].iterdir()]
    assert not [name for name in left if "headrace" in name], left
    assert {path.name for path in place["JOURNAL"].iterdir()} >= {"open-0", "open-1", "close-0", "close-1"}


def test_a_user_error_is_shown_once_and_first(run_script, tmp_path, place):
    finished = run_script(written(tmp_path, FAILING), tmp_path, 90, **strings(place))
    assert finished.returncode == 1
    said = finished.stderr
    assert said.count("ZeroDivisionError: integer division or modulo by zero") == 1, said
    assert "10 // (value - 3)" in said
    assert "divide (uid divide-1)" in said
    assert "record:   3" in said
    assert "\tat " not in said and "Py4J" not in said and "java" not in said.lower(), said
    assert said.startswith("this goes nowhere") or said.startswith("Traceback"), said
    assert_clean(place)


def test_ctrl_c_ends_everything_and_closes_functions(start_script, tmp_path, place):
    running = start_script(written(tmp_path, ENDLESS), tmp_path, **strings(place))
    wait_for_files(place["JOURNAL"], {"open-0", "open-1"})
    time.sleep(0.5)
    begun = time.monotonic()
    running.process.send_signal(signal.SIGINT)
    finished = running.finish(30)
    assert time.monotonic() - begun < 10
    assert finished.returncode == -signal.SIGINT, finished.report()
    assert finished.stderr.rstrip().endswith("KeyboardInterrupt"), finished.stderr
    assert_clean(place)


def test_a_killed_driver_leaves_nothing(start_script, tmp_path, place):
    running = start_script(written(tmp_path, ENDLESS), tmp_path, **strings(place))
    wait_for_files(place["JOURNAL"], {"open-0", "open-1"})
    time.sleep(0.5)
    running.process.send_signal(signal.SIGKILL)
    running.finish(30)
    assert_clean(place)


def test_a_job_that_is_not_waited_for_ends_with_the_program(run_script, tmp_path, place):
    finished = run_script(written(tmp_path, UNWAITED), tmp_path, 90, **strings(place))
    assert finished.returncode == 0, finished.report()
    assert finished.stderr == "this goes nowhere when the JVM is dead\n" * 2
    assert_clean(place)
