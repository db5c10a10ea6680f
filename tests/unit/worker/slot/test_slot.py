"""Couriers and slot processes without Spark: what is kept, what is restored, what is refused, what ends."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cloudpickle
import psutil
import pytest

from headrace.common import Configuration
from headrace.common.errors import JobExecutionError, UserCodeError
from headrace.config.worker_settings import TimeLimit
from headrace.datastream import MapFunction, StreamExecutionEnvironment
from headrace.datastream.functions import CheckpointedFunction
from headrace.datastream.state import ListStateDescriptor
from headrace.driver.enumerators import Enumerators
from headrace.driver.executor import EpochResult, read_frames
from headrace.driver.ledger import Ledger
from headrace.foundation.private_folders import LifeMark, require_private
from headrace.graph.epoch_plan import build_epoch_plan
from headrace.state.job_folder import StateFolder, remove_if_abandoned, sweep_abandoned
from headrace.worker.job_spec import make_job_spec
from headrace.worker.slot import launch
from headrace.worker.slot.courier import LevelRun, SlotLostError, connect
from headrace.worker.slot.folder import (
    executor_folder,
    job_folder,
    living_slots,
    sweep_dead_jobs,
)
from headrace.worker.slot.launch import end_slots, start_slot
from headrace.worker.slot.wire import HAS_SPEC, Request
from headrace.worker.task_name import TaskName

cloudpickle.register_pickle_by_value(sys.modules[__name__])
NAMES = (TaskName("Map", 0, 2), TaskName("Map", 1, 2))


class Job:
    """One vertex, read by hand: an epoch of a subtask is a call of `run`."""

    def __init__(self, function: Any, folder: Path, parallelism: int = 1) -> None:
        configuration = Configuration().set_string("headrace.executor", "local")
        env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(parallelism)
        env.from_sequence(1, 100_000).map(function).print()
        graph = env.get_job_graph()
        plan = build_epoch_plan(graph)
        self.id = os.urandom(16).hex()
        self.folder = folder / "slots"
        self.state = StateFolder(str(folder), self.id)
        self.spec = make_job_spec(self.id, graph, plan, watermark_records=1000, job_parameters={}, close_seconds=10.0)
        self.ledger = Ledger(self.id, graph, plan, self.state.path)
        Enumerators(graph).discover(self.ledger)
        self.limit: TimeLimit | None = None
        self.shipped = 0
        self._epochs: Counter[int] = Counter()
        self._attempt = 0
        self._lock = threading.Lock()

    def run(self, partition: int = 0, records: int = 3, *, apply: bool = True) -> EpochResult:
        level, attempt = self.level(records, partition)
        result = read_frames([frame for _, frame in level.run(partition, attempt, [])])
        if apply and result.acks:
            self.ledger.apply(result.acks)
        return result

    def level(self, records: int, partition: int = 0) -> tuple[LevelRun, int]:
        with self._lock:
            self._epochs[partition] += 1
            self._attempt += 1
            order = self.ledger.order(self._epochs[partition], records, None)
            tasks = frozenset(partition for _, partition in order.tasks)
            level = LevelRun(self.id, 0, cloudpickle.dumps(order), tasks, None, 1, self._ship, NAMES)
            return level._replace(folder=str(self.folder), limit=self.limit), self._attempt

    def _ship(self) -> bytes:
        self.shipped += 1
        return pickle.dumps(self.spec)

    def lines(self, result: EpochResult) -> list[str]:
        return [line for output in result.outputs for _, lines in output.printed for line in lines]

    def pids(self) -> list[int]:
        return list(living_slots(executor_folder(self.folder, os.getppid())))


@pytest.fixture
def make_job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Job]]:
    jobs: list[Job] = []

    def make(function: Any, parallelism: int = 1) -> Job:
        jobs.append(Job(function, tmp_path_factory.mktemp("j"), parallelism))
        return jobs[-1]

    yield make
    for job in jobs:
        end_slots(job.folder)
        job.state.remove()


class Counting(MapFunction):
    def __init__(self) -> None:
        self.calls = 0

    def map(self, value: int) -> tuple[int, int]:
        self.calls += 1
        return value, self.calls


def test_a_slot_keeps_its_subtask_from_epoch_to_epoch(make_job):
    job = make_job(Counting())
    assert job.lines(job.run()) == ["(1, 1)", "(2, 2)", "(3, 3)"]
    assert job.lines(job.run()) == ["(4, 4)", "(5, 5)", "(6, 6)"]
    assert job.shipped == 1
    assert len(job.pids()) == 1


def test_a_killed_slot_is_followed_by_one_that_reads_on_at_the_right_place(make_job):
    job = make_job(Counting())
    job.run()
    (pid,) = job.pids()
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not job.pids())
    assert job.lines(job.run()) == ["(4, 1)", "(5, 2)", "(6, 3)"]
    assert job.shipped == 2


class Dying(MapFunction):
    """Kills its own process, once."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def map(self, value: int) -> int:
        if value == 5 and not os.path.exists(self.mark):
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return value


def test_a_slot_that_dies_in_an_epoch_fails_the_courier_and_the_retry_is_exact(make_job, tmp_path):
    job = make_job(Dying(str(tmp_path / "mark")))
    assert job.lines(job.run()) == ["1", "2", "3"]
    with pytest.raises(SlotLostError, match="slot process of 'Map' .subtask 0 of 2. died"):
        job.run()
    assert job.lines(job.run()) == ["4", "5", "6"]


class Sleeping(MapFunction):
    """Stops its own process, once."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def map(self, value: int) -> int:
        if value == 5 and not os.path.exists(self.mark):
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGSTOP)
        return value


def test_a_slot_that_was_stopped_is_killed_by_its_courier(make_job, tmp_path):
    job = make_job(Sleeping(str(tmp_path / "mark")))
    assert job.lines(job.run()) == ["1", "2", "3"]
    (pid,) = job.pids()
    job.limit = TimeLimit(0.5, "headrace.task.timeout")
    with pytest.raises(SlotLostError, match="'Map' .subtask 0 of 2. did not answer and was killed"):
        job.run()
    job.limit = None
    assert job.lines(job.run()) == ["4", "5", "6"]
    assert job.pids() != [pid]


class Counted(Sleeping, CheckpointedFunction):
    """Counts in operator state."""

    def initialize_state(self, context: Any) -> None:
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("count", None))
        self.count = sum(self.state.get())

    def snapshot_state(self, context: Any) -> None:
        self.state.update([self.count])

    def map(self, value: int) -> Any:
        self.count += 1
        return super().map(value), self.count


def test_what_a_slot_does_that_slept_while_another_took_its_place_counts_for_nobody(make_job, tmp_path):
    job = make_job(Counted(str(tmp_path / "mark")))
    assert job.lines(job.run()) == ["(1, 1)", "(2, 2)", "(3, 3)"]
    (pid,) = job.pids()
    level, attempt = job.level(3)
    late: list[bytes] = []
    courier = threading.Thread(target=lambda: late.extend(frame for _, frame in level.run(0, attempt, [])))
    courier.start()
    wait_for(lambda: psutil.Process(pid).status() == psutil.STATUS_STOPPED)

    elsewhere = level._replace(folder=str(job.folder.with_name("other")))
    result = read_frames([frame for _, frame in elsewhere.run(0, attempt + 1000, [])])
    job.ledger.apply(result.acks)
    assert job.lines(result) == ["(4, 4)", "(5, 5)", "(6, 6)"]
    end_slots(Path(elsewhere.folder or ""))

    os.kill(pid, signal.SIGCONT)
    courier.join(20)
    (ack,) = read_frames(late).acks
    assert ack.state_file is not None
    assert Path(job.state.path, ack.state_file.name).exists(), "it has come to its end"
    assert ack.state_file.name not in {file.name for files in job.ledger.files.values() for file in files}
    assert job.lines(job.run()) == ["(7, 7)", "(8, 8)", "(9, 9)"]
    assert job.pids() == [pid], "it was put right by the files"


def test_what_is_done_for_a_dead_courier_counts_for_nobody(make_job):
    """The courier goes away after its request; the slot works on, and the next courier starts from the right version."""
    job = make_job(Counting())
    assert job.lines(job.run()) == ["(1, 1)", "(2, 2)", "(3, 3)"]
    level, attempt = job.level(3)
    with connect(job.folder, 0) as wire:
        wire.send(pickle.dumps(Request(level.order, (0, 0), attempt)))
        wire.flush()
        assert wire.receive() == HAS_SPEC
        wire.send(b"")
        wire.flush()
    assert job.lines(job.run()) == ["(4, 1)", "(5, 2)", "(6, 3)"]


def test_an_epoch_that_the_driver_did_not_take_is_run_again_from_the_files(make_job):
    job = make_job(Counting())
    job.run()
    assert job.lines(job.run(apply=False)) == ["(4, 4)", "(5, 5)", "(6, 6)"]
    assert job.lines(job.run()) == ["(4, 1)", "(5, 2)", "(6, 3)"]


def test_couriers_of_two_tasks_meet_at_one_slot(make_job):
    job = make_job(Counting(), parallelism=2)
    results: dict[int, list[str]] = {0: [], 1: []}
    epoch = threading.Barrier(2, timeout=60)

    def carry(partition: int) -> None:
        for _ in range(5):
            epoch.wait()  # the driver orders an epoch when all tasks have done the one before
            result = job.run(partition, apply=False)
            with job._lock:
                job.ledger.apply(result.acks)
            results[partition] += job.lines(result)

    threads = [threading.Thread(target=carry, args=(partition,)) for partition in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == [f"1> ({n}, {n})" for n in range(1, 16)]
    assert results[1] == [f"2> ({50_000 + n}, {n})" for n in range(1, 16)]
    assert len(job.pids()) == 1


def test_many_couriers_start_one_slot(make_job):
    job = make_job(Counting())
    wires: list[Any] = []
    threads = [threading.Thread(target=lambda: wires.append(connect(job.folder, 0))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for wire in wires:
        wire.close()
    assert len(wires) == 5
    assert len(job.pids()) == 1


def leave(value: int) -> int:
    if value == 2:
        sys.exit("enough")
    return value


def test_an_exit_in_user_code_is_a_failure_of_user_code(make_job):
    job = make_job(leave)
    result = job.run()
    assert isinstance(result.cause, UserCodeError)
    assert "SystemExit: enough" in str(result.cause)
    assert len(job.pids()) == 1


def test_a_job_that_cannot_be_loaded_says_so(make_job, monkeypatch):
    job = make_job(Counting())
    monkeypatch.setattr(job, "_ship", lambda: b"cno_such_module\nName\n.")
    cause = job.run().cause
    assert isinstance(cause, JobExecutionError)
    assert "No module named 'no_such_module'" in str(cause)


def test_a_slot_ends_with_the_daemon_and_clears_up(tmp_path_factory):
    """The state folder goes only if the driver is dead, too."""
    place = tmp_path_factory.mktemp("d")
    daemon = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    folder = executor_folder(place / "slots", daemon.pid)
    start_slot(folder, 0, daemon.pid)
    start_slot(folder, 1, daemon.pid)
    assert len(list(living_slots(folder))) == 2
    daemon.kill()
    daemon.wait()
    wait_for(lambda: not folder.parent.exists())


def test_state_folders_of_dead_drivers_are_removed_and_others_kept(tmp_path):
    kept = StateFolder(str(tmp_path), "a" * 32)
    code = f"import os; from headrace.state.job_folder import StateFolder; StateFolder({str(tmp_path)!r}, 'b' * 32); os._exit(0)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert len(list(tmp_path.iterdir())) == 2
    remove_if_abandoned(kept.path)
    sweep_abandoned(str(tmp_path))
    assert [str(path) for path in tmp_path.iterdir()] == [kept.path]
    kept.remove()
    assert not list(tmp_path.iterdir())


class Hanging(MapFunction):
    def map(self, value: int) -> int:
        try:
            time.sleep(60)
        finally:
            time.sleep(60)
        return value


def test_a_slot_that_will_not_end_is_killed(make_job, monkeypatch):
    monkeypatch.setattr(launch, "CLOSE_SECONDS", 0.5)
    job = make_job(Hanging())
    thread = threading.Thread(target=lambda: pytest.raises(SlotLostError, job.run))
    thread.start()
    wait_for(lambda: job.folder.exists() and job.shipped and job.pids())
    time.sleep(0.3)
    (pid,) = job.pids()
    begun = time.monotonic()
    assert end_slots(job.folder) == [pid]
    assert time.monotonic() - begun < 5
    assert not job.folder.exists()
    thread.join()


class Noting(MapFunction):
    def __init__(self, path: str) -> None:
        self.path = path

    def map(self, value: int) -> int:
        Path(self.path).touch()
        time.sleep(60)
        return value

    def close(self) -> None:
        with open(self.path, "a") as file:
            file.write("closed\n")


def test_ending_leaves_user_code_and_closes_functions_once(make_job, tmp_path):
    job = make_job(Noting(str(tmp_path / "notes")))
    thread = threading.Thread(target=lambda: pytest.raises(SlotLostError, job.run))
    thread.start()
    wait_for((tmp_path / "notes").exists)
    end_slots(job.folder)
    thread.join()
    assert (tmp_path / "notes").read_text() == "closed\n"


class ToldWhileCollecting(MapFunction):
    """The call to end comes while the garbage collector runs, after the task: Python drops what is raised there."""

    def __init__(self, path: str) -> None:
        self.path = path

    def open(self, runtime_context: Any) -> None:
        gc.callbacks.append(self.collecting)

    def collecting(self, phase: str, info: Any) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    def map(self, value: int) -> int:
        return value

    def close(self) -> None:
        Path(self.path).touch()


class Swallowing(ToldWhileCollecting):
    def open(self, runtime_context: Any) -> None: ...

    def map(self, value: int) -> int:
        with contextlib.suppress(BaseException):
            os.kill(os.getpid(), signal.SIGTERM)
        return value


class WithOwnSignals(ToldWhileCollecting):
    """Event loops that handle signals take the descriptor for signals, and leave none."""

    def open(self, runtime_context: Any) -> None:
        signal.set_wakeup_fd(-1)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM)).start()


@pytest.mark.parametrize("function", [ToldWhileCollecting, Swallowing, WithOwnSignals])
def test_a_call_to_end_that_is_swallowed_still_ends_the_slot_at_once(make_job, tmp_path, function):
    job = make_job(function(str(tmp_path / "closed")))
    assert job.lines(job.run()) == ["1", "2", "3"]
    begun = time.monotonic()
    wait_for(lambda: not job.pids())
    assert time.monotonic() - begun < launch.CLOSE_SECONDS / 2
    assert (tmp_path / "closed").exists()


def test_a_folder_of_somebody_else_is_refused(tmp_path):
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o755)  # whatever the umask
    with pytest.raises(PermissionError, match="0700"):
        executor_folder(open_folder, 1)
    link = tmp_path / "link"
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    link.symlink_to(target)
    with pytest.raises(PermissionError):
        require_private(link)
    private = executor_folder(tmp_path / "new", 1)
    assert private.stat().st_mode & 0o777 == private.parent.stat().st_mode & 0o777 == 0o700


def test_sockets_fit_even_if_the_temporary_directory_does_not(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/tmp/" + "x" * 80)
    folder = job_folder("a" * 32)
    assert folder.parent == Path("/tmp")
    assert len(str(folder)) < 60


def test_folders_of_killed_jobs_are_swept(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead = executor_folder(tmp_path / f"headrace-{os.getuid()}-{'d' * 16}", gone.pid)
    alive = executor_folder(tmp_path / f"headrace-{os.getuid()}-{'a' * 16}", os.getpid())
    for folder in (dead, alive):
        LifeMark(folder / "slot-0.pid").close()
    sweep_dead_jobs(tmp_path / f"headrace-{os.getuid()}-{'n' * 16}")
    assert not dead.parent.exists()
    assert alive.exists()


def test_jobs_that_end_at_the_same_time_may_sweep_at_the_same_time(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    stop = threading.Event()

    def come_and_go() -> None:
        for number in itertools.cycle(range(20)):
            if stop.is_set():
                return
            with contextlib.suppress(OSError):  # swept while it was being made
                executor_folder(tmp_path / f"headrace-{os.getuid()}-{number:016}", gone.pid)

    coming = threading.Thread(target=come_and_go)
    coming.start()
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: sweep_dead_jobs(tmp_path / f"headrace-{os.getuid()}-n"), range(60)))
    finally:
        stop.set()
        coming.join()


def wait_for(condition: Callable[[], Any], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
