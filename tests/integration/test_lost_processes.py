"""Processes of a running job die: Spark or the next epoch makes it good, results stay exact, the job is not restarted."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import cloudpickle
import psutil
import pytest

from headrace.common import Types, WatermarkStrategy
from headrace.datastream import KeyedProcessFunction
from headrace.datastream.state import ValueStateDescriptor
from headrace.spark.settings import DAEMON_MODULE
from headrace.testing import EndEpoch, Record, event_source

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.spark

EPOCHS, KEYS = 12, 6


class Sum(KeyedProcessFunction):
    """Sums per key in keyed state; at one record it does harm, once."""

    def __init__(self, folder: Path, harm: str) -> None:
        self.folder = str(folder)
        self.harm = harm

    def open(self, runtime_context: Any) -> None:
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))
        self.subtask = runtime_context.get_index_of_this_subtask()
        self.attempt = runtime_context.get_attempt_number()
        note(self.folder, f"open-{self.subtask}")

    def process_element(self, value: tuple[int, int], ctx: Any) -> Any:
        key, number = value
        if number == 1007 and first_time(self.folder):
            if self.harm == "kill slot":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.harm == "wait":
                while not os.path.exists(f"{self.folder}/go on"):
                    time.sleep(0.01)
        self.total.update((self.total.value() or 0) + number)
        yield key, self.total.value(), self.subtask, os.getpid(), self.attempt


def note(folder: str, what: str) -> None:
    with open(f"{folder}/{what}", "a") as file:
        file.write("x")


def first_time(folder: str) -> bool:
    try:
        os.close(os.open(f"{folder}/harm", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def build(env: Any, folder: Path, harm: str) -> Any:
    lists = [
        [e for i in range(EPOCHS) for e in (*(Record((key, start + i)) for key in range(KEYS)), EndEpoch())]
        for start in (0, 1000)
    ]
    numbers = env.from_source(event_source(*lists), WatermarkStrategy.no_watermarks(), "numbers")
    return numbers.key_by(lambda v: v[0]).process(Sum(folder, harm))


def assert_exact(rows: list[Any]) -> None:
    """Every record was added exactly once, whatever died."""
    assert len(rows) == 2 * EPOCHS * KEYS
    numbers = Counter([*range(EPOCHS), *range(1000, 1000 + EPOCHS)])
    for key in range(KEYS):
        totals = [total for k, total, *_ in rows if k == key]
        assert Counter(after - before for before, after in zip([0, *totals], totals)) == numbers
    assert {attempt for *_, attempt in rows} == {0}, "the job was not restarted"


def opens(folder: Path) -> list[int]:
    return [len((folder / f"open-{subtask}").read_text()) for subtask in (0, 1)]


def test_a_slot_that_dies_in_an_epoch(make_env, tmp_path):
    rows = list(build(make_env(2), tmp_path, "kill slot").execute_and_collect())
    assert (tmp_path / "harm").exists()
    assert_exact(rows)
    assert sorted(opens(tmp_path)) == [1, 2]


def test_a_slot_that_is_killed_from_outside(make_env, tmp_path):
    rows: list[Any] = []
    for row in build(make_env(2), tmp_path, "none").execute_and_collect():
        rows.append(row)
        if len(rows) == 3 * KEYS:
            os.kill(row[3], signal.SIGKILL)
    assert_exact(rows)
    assert sorted(opens(tmp_path)) == [1, 2]
    assert len({(subtask, pid) for _, _, subtask, pid, _ in rows}) == 3


def test_a_courier_that_dies_while_its_slot_works_on(make_env, tmp_path):
    rows: list[Any] = []
    iterator = build(make_env(2), tmp_path, "wait").execute_and_collect()

    def kill_workers() -> None:
        try:
            wait_for(tmp_path / "harm")
            time.sleep(0.2)
            for worker in python_workers():
                worker.kill()
            time.sleep(0.5)  # Spark's next courier comes while the slot is still busy for the dead one
        finally:
            (tmp_path / "go on").touch()

    thread = threading.Thread(target=kill_workers)
    thread.start()
    rows = list(iterator)
    thread.join()
    assert_exact(rows)
    assert max(opens(tmp_path)) == 2


def daemon_processes() -> list[psutil.Process]:
    """Spark's Python daemons below this process and the workers that they have forked."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has ended, perhaps as somebody else's zombie
            if DAEMON_MODULE in process.cmdline():
                found.append(process)
    return found


def python_workers() -> list[psutil.Process]:
    """The Python workers that Spark's daemons below this process have forked."""
    daemons = daemon_processes()
    pids = {p.pid for p in daemons}
    workers = [p for p in daemons if p.ppid() in pids]
    assert workers
    return workers


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_daemon_that_dies_leaves_no_slot_without_a_parent(make_env, tmp_path, slots):
    """Its workers live on for a moment: no slot may be started for them, it would never end."""
    iterator = build(make_env(2), tmp_path, "wait").execute_and_collect()
    rows: list[Any] = []

    def kill_daemons() -> None:
        try:
            wait_for(tmp_path / "harm")
            time.sleep(0.2)
            workers = {worker.pid for worker in python_workers()}
            for daemon in daemon_processes():
                if daemon.pid not in workers:
                    daemon.kill()
            time.sleep(0.5)
        finally:
            (tmp_path / "go on").touch()

    thread = threading.Thread(target=kill_daemons)
    thread.start()
    rows = list(iterator)
    thread.join()
    assert_exact(rows)
    assert not [arguments for arguments in slots().values() if arguments[2] == "1"]
