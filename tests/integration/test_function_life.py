"""Function objects live as in Flink: opened once per subtask, attributes kept from epoch to epoch, closed once at the end."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from headrace.common import WatermarkStrategy
from headrace.common.errors import JobCancelledError, UserCodeError
from headrace.datastream import MapFunction
from headrace.testing import EndEpoch, Event, Record, event_source
from headrace.worker.slot.folder import job_folder

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.spark

EPOCHS = 50


def one_record_per_epoch(epochs: int = EPOCHS, first: int = 0) -> list[Event]:
    return [event for i in range(epochs) for event in (Record(first + i), EndEpoch())]


class Journal(MapFunction):
    """Writes its life into a folder, a file per line, so that nothing can be lost or overwritten."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.calls = 0

    def open(self, runtime_context: Any) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()
        self.note("open")

    def map(self, value: Any) -> tuple[int, int, int]:
        self.calls += 1
        return self.subtask, self.calls, os.getpid()

    def close(self) -> None:
        self.note("close")

    def note(self, what: str) -> None:
        path = Path(self.folder) / f"{what}-{self.subtask}"
        with open(path, "a") as file:
            file.write("x")


def journal(folder: Path) -> dict[str, int]:
    return {path.name: len(path.read_text()) for path in folder.iterdir()}


ONCE_EACH = {"open-0": 1, "open-1": 1, "close-0": 1, "close-1": 1}


def test_attributes_are_kept_over_fifty_epochs(make_env, tmp_path):
    env = make_env(2)
    source = event_source(one_record_per_epoch(), one_record_per_epoch(first=1000))
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "events")
    counted = numbers.rebalance().map(lambda v: v).rebalance().map(Journal(str(tmp_path)))
    counts = defaultdict(list)
    processes = defaultdict(set)
    for subtask, calls, pid in counted.execute_and_collect():
        counts[subtask].append(calls)
        processes[subtask].add(pid)
    assert sum(map(len, counts.values())) == 2 * EPOCHS
    for calls in counts.values():
        assert calls == list(range(1, len(calls) + 1))
    assert set(counts) == {0, 1}
    assert {len(pids) for pids in processes.values()} == {1}
    assert journal(tmp_path) == ONCE_EACH


def test_source_subtasks_keep_attributes_too(make_env, tmp_path):
    env = make_env(2)
    source = event_source(one_record_per_epoch(10), one_record_per_epoch(10))
    counted = env.from_source(source, WatermarkStrategy.no_watermarks(), "events").map(Journal(str(tmp_path)))
    calls = Counter((subtask, calls) for subtask, calls, _ in counted.execute_and_collect())
    assert calls == Counter({(subtask, n): 1 for subtask in (0, 1) for n in range(1, 11)})
    assert journal(tmp_path) == ONCE_EACH


@pytest.fixture
def listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[list[bytes]]]]:
    """A server on a unix socket; gives its path, and what each connection said, with b"" for its end."""
    path = str(tmp_path_factory.mktemp("s") / "s")
    said: list[list[bytes]] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(path)
        server.listen()

        def read(connection: socket.socket, lines: list[bytes]) -> None:
            with connection, connection.makefile("rb") as stream:
                lines.extend(stream)
                lines.append(b"")

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                said.append([])
                threading.Thread(target=read, args=(connection, said[-1]), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield path, said
        server.shutdown(socket.SHUT_RDWR)


class Reporter(MapFunction):
    def __init__(self, path: str) -> None:
        self.path = path

    def open(self, runtime_context: Any) -> None:
        self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.connection.connect(self.path)

    def map(self, value: int) -> int:
        self.connection.sendall(f"{value}\n".encode())
        return value

    def close(self) -> None:
        self.connection.close()


def test_a_connection_is_opened_once_per_subtask(make_env, listener):
    path, said = listener
    env = make_env(2)
    source = event_source(one_record_per_epoch(20), one_record_per_epoch(20, first=100))
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "events").key_by(lambda v: v)
    collected = list(numbers.map(Reporter(path)).execute_and_collect())
    assert len(said) == 2
    assert [lines[-1] for lines in said] == [b"", b""]
    told = [int(line) for lines in said for line in lines if line]
    assert sorted(told) == sorted(collected) == [*range(20), *range(100, 120)]


class Failing(Journal):
    def map(self, value: int) -> int:
        if value == 7:
            raise ValueError("seven is not wanted")
        return value


def test_functions_are_closed_and_processes_gone_when_user_code_fails(make_env, slots, tmp_path):
    env = make_env(2)
    source = event_source(one_record_per_epoch(20), one_record_per_epoch(20, first=100))
    stream = (
        env.from_source(source, WatermarkStrategy.no_watermarks(), "events").rebalance().map(Failing(str(tmp_path)))
    )
    stream.map(lambda v: v).name("after").print()
    job = env.submit()
    with pytest.raises(UserCodeError, match="seven is not wanted") as caught:
        job.wait()
    assert str(caught.value).startswith("Traceback")
    assert "Traceback" not in str(caught.value)[9:]
    assert caught.value.record == "7"
    assert journal(tmp_path) == ONCE_EACH
    assert_nothing_left(job, slots)


def assert_nothing_left(job: Any, slots: Any) -> None:
    folder = job_folder(str(job.job_id)[:8])
    assert not slots(folder)
    assert not list(folder.parent.glob(f"{folder.name}*"))
    assert not Path(job._parts.job.folder.path).exists()


class Slow(Journal):
    def map(self, value: int) -> int:
        threading.Event().wait(60)
        return value


@pytest.mark.parametrize("function", [Journal, Slow])
def test_cancelling_closes_functions_and_ends_processes(make_env, slots, tmp_path, function):
    """Also where user code sleeps: it is left by an exception."""
    env = make_env(2)
    source = event_source(one_record_per_epoch(1), one_record_per_epoch(1), bounded=False)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "events").rebalance().map(
        function(str(tmp_path))
    ).print()
    job = env.submit()
    wait_for(lambda: journal(tmp_path) == {"open-0": 1, "open-1": 1})
    assert len(slots(job_folder(str(job.job_id)[:8]))) == 2
    job.cancel()
    assert_nothing_left(job, slots)
    assert journal(tmp_path) == ONCE_EACH
    with pytest.raises(JobCancelledError):
        job.wait()


class Stuck(Journal):
    def close(self) -> None:
        threading.Event().wait(60)


def test_a_slot_that_does_not_close_in_time_is_killed(make_env, slots, tmp_path, monkeypatch):
    monkeypatch.setattr("headrace.worker.slot.launch.CLOSE_SECONDS", 1.0)
    env = make_env(1)
    source = event_source(one_record_per_epoch(1), bounded=False)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "events").map(Stuck(str(tmp_path))).print()
    job = env.submit()
    wait_for(lambda: journal(tmp_path) == {"open-0": 1})
    job.cancel()
    assert_nothing_left(job, slots)


def wait_for(condition: Any, seconds: float = 30.0) -> None:
    waiter = threading.Event()
    for _ in range(int(seconds / 0.02)):
        if condition():
            return
        waiter.wait(0.02)
    raise AssertionError("waited in vain")
