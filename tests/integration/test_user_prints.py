"""What user code prints on Spark is on the driver's standard output: whole lines, in order, bounded, not again on a retry."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PROGRAM = """
    import os, signal, subprocess, sys, threading
    from pathlib import Path
    from headrace.common import Configuration, Types
    from headrace.datastream import MapFunction, StreamExecutionEnvironment

    HERE = Path(__file__).parent
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({
        "headrace.epoch.max-records": "100", "headrace.epoch.first-records": "100",
        "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "1",
        "restart-strategy.fixed-delay.delay": "10 ms", "execution.checkpointing.interval": "10 ms",
    })).set_parallelism(2)

    def once(name):
        mark = HERE / name
        if mark.exists():
            return False
        mark.touch()
        return True

    class Talk(MapFunction):
        def open(self, runtime_context):
            self.subtask = runtime_context.get_index_of_this_subtask()
            print("opened", self.subtask)

        def map(self, value):
            if value == 250 and once("killed"):
                print("dying", value)
                os.kill(os.getpid(), signal.SIGKILL)
            print("seen", self.subtask, end=" ")
            print(value)
            if value == 333 and once("failed"):
                print("failing", value, "with \u00fc")
                raise ValueError("333, for the first time")
            if value == 1:
                sys.stdout.write("written\\n")
                sys.stdout.buffer.write(b"bytes\\n")
                thread = threading.Thread(target=print, args=("from a thread",))
                thread.start()
                thread.join()
                print("to the log", file=sys.stderr)
            if value == 400:
                print("no newline", end="")
            return value

        def close(self):
            print("", "closed", self.subtask)

    env.from_sequence(1, 400).map(Talk(), Types.LONG()).filter(lambda value: value == 400).print()
    env.execute("talk")
    print("the end")
"""


def program(folder: Path, text: str) -> Path:
    script = folder / "talk.py"
    script.write_text(textwrap.dedent(text))
    return script


def test_lines_come_to_the_drivers_output(run_script: Callable[..., Any], tmp_path: Path) -> None:
    done = run_script(program(tmp_path, PROGRAM), tmp_path, 240)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr[-3000:]
    assert lines[-1] == "the end"
    for line in ("written", "bytes", "from a thread", "failing 333 with ü", "2> 400", "opened 0", "opened 1"):
        assert line in lines, line
    assert "to the log" in done.stderr and "to the log" not in done.stdout
    assert "no newline closed 1" in lines, "a line that is begun is ended by what comes next"
    assert "dying 250" not in lines, "a process that is killed takes along what the epoch had printed"
    seen: dict[str, list[int]] = {"0": [], "1": []}
    for line in lines:
        if line.startswith("seen "):
            _, subtask, value = line.split()
            seen[subtask].append(int(value))
    assert set(seen["0"]) == set(range(1, 201)) and set(seen["1"]) == set(range(201, 401))
    before, after = seen["1"][: seen["1"].index(333) + 1], seen["1"][seen["1"].index(333) + 1 :]
    assert before == list(range(201, 334)), "in order, and what the killed process did is there once"
    assert after == list(range(after[0], 401)) and after[0] <= 333, "after a restart, from the last checkpoint on"


CUT = """
    from headrace.common import Configuration
    from headrace.datastream import StreamExecutionEnvironment

    def talk(value):
        print(value, "x" * 1000)
        return value

    env = StreamExecutionEnvironment.get_execution_environment(
        Configuration.from_dict({"headrace.epoch.max-records": "10000", "headrace.epoch.first-records": "10000"})
    ).set_parallelism(1)
    env.from_collection(list(range(3000))).map(talk).name("talk").filter(lambda value: False).print()
    env.execute("too much")
"""


def test_too_much_is_cut_with_a_note(run_script: Callable[..., Any], tmp_path: Path) -> None:
    done = run_script(program(tmp_path, CUT), tmp_path, 240)
    *lines, note = done.stdout.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(len(lines)))
    assert 1_000_000 < len(done.stdout) < 1_100_000
    assert (
        note.startswith(f"headrace: {3000 - len(lines)} lines that ") and "talk" in note and note.endswith("cut here")
    )


@pytest.mark.parametrize("subtasks", [1, 2])
def test_the_local_executor_prints_at_once(capsys: pytest.CaptureFixture[str], subtasks: int) -> None:
    from headrace.common import Configuration
    from headrace.datastream import StreamExecutionEnvironment

    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"headrace.executor": "local"}))
    env.set_parallelism(subtasks)
    env.from_collection([1, 2]).map(lambda value: print("seen", value)).filter(lambda value: False).print()
    env.execute()
    assert sorted(capsys.readouterr().out.splitlines()) == ["seen 1", "seen 2"]
