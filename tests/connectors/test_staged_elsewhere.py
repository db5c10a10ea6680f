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
KEYS, EACH = 7, 60
EXPECTED = Counter(f"k{key} {count}" for key in range(KEYS) for count in range(1, EACH + 1))
# Where the first and the second process die: with a manifest but no commit, and after a commit whose end they do not see.
KILLS = ("manifest.post:3", "commit.ambiguous:2")


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


@pytest.fixture(params=["s3", "webhdfs", "hdfs"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Place:
    """Give an empty folder on each kind of store."""
    if request.param == "s3":
        server: S3Server = request.getfixturevalue("s3")
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        return Place(f"{server.bucket()}/data", server.environment)
    hadoop: Hdfs = request.getfixturevalue("hdfs")
    address = hadoop.address if request.param == "hdfs" else hadoop.web_address
    return Place(f"{address}/{tmp_path.name}", {})


def run(script: Path, arguments: list[str], place: Place, fault: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "HEADRACE_FAULT"} | place.environment
    if fault is not None:
        environment["HEADRACE_FAULT"] = f"{fault}:kill"
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150, check=False)


def run_through_kills(
    script: Path,
    arguments: list[str],
    place: Place,
    local: Path,
    seen: Callable[[], Counter[str]],
    kills: tuple[str, ...] = KILLS,
) -> None:
    """Kill and start again, each time on an empty disk; then let the program end."""
    for fault in kills:
        killed = run(script, arguments, place, fault)
        assert killed.returncode == -signal.SIGKILL, f"{fault}: {killed.stderr[-3000:]}"
        assert not seen() - EXPECTED, "nothing twice, nothing wrong"
        assert seen() != EXPECTED, "it was killed in the midst"
        shutil.rmtree(local)
    ended = run(script, arguments, place)
    assert ended.stdout == "finished\n", ended.stderr[-3000:]
    assert seen() == EXPECTED


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
        "headrace.epoch.max-records": "20",
        "headrace.epoch.first-records": "20",
        "execution.checkpointing.interval": "1 ms",
        "restart-strategy.type": "none",
        **settings,
    }
    arguments = [broker.servers, source, target, "unused", json.dumps(chosen)]
    return arguments, lambda: Counter(value.decode() for value in broker.values(target))


def test_messages_for_kafka_survive_the_driver_and_its_disk(broker: Broker, place: Place, tmp_path: Path) -> None:
    local = tmp_path / "local"
    arguments, seen = kafka_job(broker, place, local)
    run_through_kills(COUNTING, arguments, place, local, seen)
    left = [name for name in place.names() if name.endswith(".messages")]
    assert left == [], "what was sent is not kept"
