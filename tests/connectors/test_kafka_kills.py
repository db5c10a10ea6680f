"""Kafka -> state by key -> Kafka on Spark, exactly once, through kills of the driver, of its processes, and of the broker."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from headrace.spark.settings import DAEMON_MODULE

if TYPE_CHECKING:
    from kafka_kit.broker import Broker

pytestmark = pytest.mark.spark

JOB = Path(__file__).parent / "kafka_kit" / "counting_job.py"
KEYS, EACH = 7, 100
# Where the first and the second process die: after a commit whose end they do not see, and with a manifest but no commit.
KILLS = ("commit.ambiguous:4", "manifest.post:3")


def run(
    broker: Broker, source: str, target: str, directory: Path, fault: str | None, **settings: str
) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "HEADRACE_FAULT"}
    if fault is not None:
        environment["HEADRACE_FAULT"] = f"{fault}:kill"
    command = [sys.executable, str(JOB), broker.servers, source, target, str(directory), json.dumps(settings)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_each_count_is_there_once(broker: Broker, tmp_path: Path) -> None:
    source, target = broker.topic(2), broker.topic(2)
    for partition in range(2):
        broker.send(source, [f"k{n % KEYS}" for n in range(KEYS * EACH // 2)], partition)
    expected = Counter(f"k{key} {count}" for key in range(KEYS) for count in range(1, EACH + 1))
    seen = 0
    for fault in KILLS:
        killed = run(broker, source, target, tmp_path, fault)
        assert killed.returncode == -signal.SIGKILL, killed.stderr[-3000:]
        so_far = Counter(value.decode() for value in broker.values(target))
        assert not so_far - expected, "nothing twice, nothing wrong"
        assert seen < sum(so_far.values()) < sum(expected.values()), "it was killed in the midst of new output"
        seen = sum(so_far.values())
    ended = run(broker, source, target, tmp_path, None)
    assert ended.stdout == "finished\n", ended.stderr[-3000:]
    assert Counter(value.decode() for value in broker.values(target)) == expected


def test_a_job_with_another_id_finishes_the_transactions(broker: Broker, tmp_path: Path) -> None:
    """It sends under the transactional ids of the job that staged the messages: what that one has sent is not sent again."""
    source, target = broker.topic(2), broker.topic(2)
    for partition in range(2):
        broker.send(source, [f"k{n % KEYS}" for n in range(KEYS * EACH // 2)], partition)
    settings = {"headrace.executor": "local", "headrace.epoch.first-records": "50"}
    killed = run(broker, source, target, tmp_path, "commit.ambiguous:3", **settings)
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-3000:]
    (path,) = (tmp_path / "checkpoints").iterdir()
    settings |= {"execution.state-recovery.path": str(path), "headrace.job.id": "another"}
    for fault in ("commit.ambiguous:1", "manifest.pre:1"):
        killed = run(broker, source, target, tmp_path, fault, **settings)
        assert killed.returncode == -signal.SIGKILL, f"{fault}: {killed.stderr[-3000:]}"
    ended = run(broker, source, target, tmp_path, None, **settings)
    assert ended.stdout == "finished\n", ended.stderr[-3000:]
    expected = Counter(f"k{key} {count}" for key in range(KEYS) for count in range(1, EACH + 1))
    assert Counter(value.decode() for value in broker.values(target)) == expected


MARK = "HEADRACE_KAFKA_KILLS"
FIRST = 150
"""Messages that are in the target before the first kill, and at least between two."""


class Job:
    """The job in a process group of its own; all its processes are known by a mark, however far down they are."""

    def __init__(self, broker: Broker, directory: Path, each: int, settings: dict[str, str]) -> None:
        self.broker, self.target = broker, broker.topic(2)
        self.expected = Counter(f"k{key} {count}" for key in range(KEYS) for count in range(1, each + 1))
        source = broker.topic(2)
        for partition in range(2):
            broker.send(source, [f"k{n % KEYS}" for n in range(KEYS * each // 2)], partition)
        self.mark = uuid.uuid4().hex
        handed = {f"spark.executorEnv.{MARK}": self.mark} if "spark.master" in settings else {}
        topics = [broker.servers, source, self.target, str(directory)]
        self._command = [sys.executable, str(JOB), *topics, json.dumps({**settings, **handed})]
        self._log = directory / "log"
        self._client = Consumer({"bootstrap.servers": broker.servers, "group.id": self.mark, "log_level": 0})
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.driver = subprocess.Popen(
                self._command, env={**os.environ, MARK: self.mark}, stdout=log, stderr=log, start_new_session=True
            )

    def kill(self, kind: str) -> None:
        if kind == "broker":
            self._kill_the_broker()
        elif kind == "driver":
            os.killpg(self.driver.pid, signal.SIGKILL)
            self.driver.wait()
            self.start()
        else:
            deadline = time.monotonic() + 60
            while not (found := list(self._processes(kind))):
                assert time.monotonic() < deadline, f"there is no {kind}"
                time.sleep(0.1)
            found[0].kill()

    def _kill_the_broker(self) -> None:
        """Within a transaction, or between two; but not while Kafka ends one.

        Kafka 4.3 alone on a machine forgets one whose end it has decided when it dies: it says then that the transaction
        has ended, and nobody can read on (seen in its logs: PrepareCommit, CompleteCommit, and no marker between them).
        """
        os.kill(self.driver.pid, signal.SIGSTOP)
        time.sleep(1)  # what the driver has asked for is done
        self.broker.stop(kill=True)
        os.kill(self.driver.pid, signal.SIGCONT)
        time.sleep(1)
        self.broker.start()

    def _processes(self, kind: str) -> Iterator[psutil.Process]:
        words = {
            "slot": "headrace.worker.slot.process",
            "daemon": DAEMON_MODULE,
            "executor": "org.apache.spark.executor.CoarseGrainedExecutorBackend",
        }
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.environ().get(MARK) == self.mark and words[kind] in process.cmdline():
                    yield process

    def arrived(self) -> int:
        """About how much the target has: markers of transactions count as well."""
        try:
            parts = [TopicPartition(self.target, partition) for partition in range(2)]
            return sum(self._client.get_watermark_offsets(part, timeout=5)[1] for part in parts)
        except KafkaException:
            return 0

    def wait_for_more(self, than: int) -> int:
        deadline = time.monotonic() + 120
        while (seen := self.arrived()) <= than:
            assert self.driver.poll() is None, f"it has ended: {self.log()}"
            assert time.monotonic() < deadline, f"nothing new: {self.log()}"
            time.sleep(0.1)
        return seen

    def log(self) -> str:
        return self._log.read_text(errors="replace")[-4000:]

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.driver.pid, signal.SIGKILL)
        self._client.close()


def counted_through(job: Job, kills: list[str]) -> None:
    """Kills one after the other, each when there is new output; then each count must be there once."""
    seen = FIRST
    for kind in kills:
        seen = job.wait_for_more(seen) + FIRST
        job.kill(kind)
    assert job.driver.wait(180) == 0, job.log()
    assert Counter(value.decode() for value in job.broker.values(job.target)) == job.expected


def test_through_kills_of_processes_and_of_the_broker(broker: Broker, tmp_path: Path) -> None:
    job = Job(broker, tmp_path, 300, {})
    try:
        counted_through(job, ["slot", "broker", "daemon"])
    finally:
        job.end()


@pytest.mark.long
def test_through_kills_of_executors(broker: Broker, tmp_path: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "chaos"))
    from chaos_kit.cluster import cluster

    with cluster(tmp_path / "cluster") as settings:
        job = Job(broker, tmp_path, 1200, settings)
        try:
            counted_through(job, ["executor", "slot", "broker", "executor", "driver", "executor"])
        finally:
            job.end()
