"""Exactly-once output while the checkpoints are on an object store or HDFS, and the driver's own disk is lost with it.

The process dies between the manifest and the commit, its local working folder is deleted, another process goes on: what a
reader of the outer system sees is what a run without a failure gives.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fsspec
import pytest

if TYPE_CHECKING:
    from kafka_kit.broker import Broker

    from hadoop_kit.hdfs import Hdfs
    from s3_server import S3Server

COUNTING = Path(__file__).parent / "kafka_kit" / "counting_job.py"
FILES = Path(__file__).with_name("file_job.py")
NUMBERS = 480
KEYS, EACH = 7, 60
EXPECTED = Counter(f"k{key} {count}" for key in range(KEYS) for count in range(1, EACH + 1))
# HDFS takes half a second to close a file, and a run writes hundreds of them.
RUN_SECONDS = 480
# Where the first and the second process die: with a manifest but no commit, and after a commit whose end they do not see.
KILLS = ("manifest.post:2", "commit.ambiguous:3")


@dataclass
class Place:
    """A folder on a store, and how programs find the store."""

    url: str
    environment: dict[str, str]

    def names(self, below: str = "") -> list[str]:
        system, path = fsspec.core.url_to_fs(f"{self.url}{below}")
        system.invalidate_cache()
        try:
            return sorted(system.find(path))
        except FileNotFoundError:
            return []


STORES = ("s3", "webhdfs", "hdfs")


def open_place(kind: str, request: pytest.FixtureRequest) -> Place:
    """Give an empty folder on a store."""
    if kind == "local":
        return Place(str(request.getfixturevalue("tmp_path") / "store"), {})
    if kind == "s3":
        server: S3Server = request.getfixturevalue("s3")
        return Place(f"{server.bucket()}/data", server.environment)
    hadoop: Hdfs = request.getfixturevalue("hdfs")
    address = hadoop.address if kind == "hdfs" else hadoop.web_address
    return Place(f"{address}/{uuid.uuid4().hex}", {})


@pytest.fixture
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Give an empty folder on each kind of store in turn; this process finds the store, too."""
    opened = open_place(request.param, request)
    for name, value in opened.environment.items():
        monkeypatch.setenv(name, value)
    return opened


def run(script: Path, arguments: list[str], place: Place, fault: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "HEADRACE_FAULT"} | place.environment
    if fault is not None:
        environment["HEADRACE_FAULT"] = f"{fault}:kill"
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)


def run_through_kills(
    script: Path,
    arguments: list[str],
    place: Place,
    local: Path,
    seen: Callable[[], Counter[str]],
    kills: tuple[str, ...] = KILLS,
    expected: Counter[str] = EXPECTED,
) -> None:
    """Kill and start again, each time on an empty disk; then let the program end."""
    for fault in kills:
        killed = run(script, arguments, place, fault)
        assert killed.returncode == -signal.SIGKILL, f"{fault}: {killed.stderr[-3000:]}"
        assert not seen() - expected, "nothing twice, nothing wrong"
        assert seen() != expected, "it was killed in the midst"
        shutil.rmtree(local)
    ended = run(script, arguments, place)
    assert ended.stdout == "finished\n", ended.stderr[-3000:]
    assert seen() == expected


def kafka_job(
    broker: Broker, place: Place, local: Path, **settings: str
) -> tuple[list[str], Callable[[], Counter[str]]]:
    source, target = broker.topic(2), broker.topic(2)
    for partition in range(2):
        broker.send(source, [f"k{n % KEYS}" for n in range(KEYS * EACH // 2)], partition)
    chosen: dict[str, Any] = {
        "execution.checkpointing.dir": f"{place.url}/checkpoints",
        "headrace.state.directory": str(local),
        "headrace.executor": "local",
        "headrace.epoch.max-records": "30",
        "headrace.epoch.first-records": "30",
        "execution.checkpointing.interval": "1 ms",
        "restart-strategy.type": "none",
        **settings,
    }
    arguments = [broker.servers, source, target, "unused", json.dumps(chosen)]
    return arguments, lambda: Counter(value.decode() for value in broker.values(target))


def no_leftovers(place: Place) -> None:
    left = [name for name in place.names() if name.rpartition("/")[2].startswith(".")]
    left += [name for name in place.names() if name.endswith((".messages", ".parquet", ".committed"))]
    assert left == [], "what was committed is not kept"


@pytest.mark.parametrize(
    "place",
    ["s3", pytest.param("webhdfs", marks=pytest.mark.long), pytest.param("hdfs", marks=pytest.mark.long)],
    indirect=True,
)
def test_messages_for_kafka_survive_the_driver_and_its_disk(broker: Broker, place: Place, tmp_path: Path) -> None:
    local = tmp_path / "local"
    arguments, seen = kafka_job(broker, place, local)
    run_through_kills(COUNTING, arguments, place, local, seen)
    no_leftovers(place)


@pytest.mark.long
@pytest.mark.parametrize(
    "fault", ["precommit.post:5", "manifest.pre:3", "commit.between:2", "commit.post:2", "gc.pre:2"]
)
@pytest.mark.parametrize("place", STORES, indirect=True)
def test_messages_for_kafka_survive_kills_anywhere(broker: Broker, place: Place, tmp_path: Path, fault: str) -> None:
    local = tmp_path / "local"
    arguments, seen = kafka_job(broker, place, local)
    run_through_kills(COUNTING, arguments, place, local, seen, (fault, "manifest.post:1"))
    no_leftovers(place)


@pytest.mark.parametrize("place", ["local", "webhdfs", "hdfs"], indirect=True)
def test_messages_of_a_job_without_periodic_checkpoints_survive_the_driver(
    broker: Broker, place: Place, tmp_path: Path
) -> None:
    """Its only manifest is written at the end, into the checkpoint directory; its working folder is a temporary one."""
    local = tmp_path / "local"
    settings = {"execution.checkpointing.interval": "0 ms", "headrace.epoch.max-records": "100000"}
    arguments, seen = kafka_job(broker, place, local, **settings)
    run_through_kills(COUNTING, arguments, place, local, seen, ("manifest.post:1",))


def file_job(place: Place, kind: str, local: Path) -> tuple[list[str], Callable[[], Counter[str]]]:
    settings = {
        "headrace.job.id": "numbers",
        "execution.checkpointing.dir": f"{place.url}/checkpoints",
        "headrace.state.directory": str(local),
        "headrace.executor": "local",
        "headrace.epoch.max-records": "30",
        "headrace.epoch.first-records": "30",
        "execution.checkpointing.interval": "1 ms",
        "restart-strategy.type": "none",
    }

    def seen() -> Counter[str]:
        found: Counter[str] = Counter()
        system, _ = fsspec.core.url_to_fs(place.url)
        for name in place.names("/output"):
            if not name.rpartition("/")[2].startswith("."):
                found.update(system.cat_file(name).decode().split())
        return found

    return [f"{place.url}/output", kind, str(NUMBERS), json.dumps(settings)], seen


@pytest.mark.parametrize(
    ("place", "kind", "kills"),
    [
        ("s3", "rows", ("manifest.post:3", "manifest.post:1")),
        ("s3", "compacted", ("manifest.post:2", "manifest.post:1")),
        pytest.param("hdfs", "rows", ("manifest.post:2",), marks=pytest.mark.long),
        pytest.param("webhdfs", "compacted", ("manifest.post:2", "manifest.post:1"), marks=pytest.mark.long),
        pytest.param("hdfs", "compacted", ("manifest.post:2", "manifest.post:1"), marks=pytest.mark.long),
    ],
    indirect=["place"],
)
def test_parts_of_files_survive_the_driver_and_its_disk(
    place: Place, kind: str, kills: tuple[str, ...], tmp_path: Path
) -> None:
    local = tmp_path / "local"
    arguments, seen = file_job(place, kind, local)
    run_through_kills(FILES, arguments, place, local, seen, kills, Counter(map(str, range(1, NUMBERS + 1))))
    no_leftovers(place)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("place", ["s3", "hdfs"], indirect=True)
def test_on_spark_messages_and_rows_survive_too(broker: Broker, place: Place, tmp_path: Path) -> None:
    """Tasks are other processes here than the driver: nobody may trust a listing that is older than their files."""
    local = tmp_path / "local"
    arguments, seen = kafka_job(broker, place, local, **{"headrace.executor": "spark"})
    run_through_kills(COUNTING, arguments, place, local, seen)
    no_leftovers(place)
