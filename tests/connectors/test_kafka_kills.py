"""Kafka -> state by key -> Kafka on Spark, exactly once, through kills of the driver."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kafka_kit.broker import Broker

pytestmark = pytest.mark.spark

JOB = Path(__file__).parent / "kafka_kit" / "counting_job.py"
KEYS, EACH = 7, 100
# Where the first and the second process die: after a commit whose end they do not see, and with a manifest but no commit.
KILLS = ("commit.ambiguous:4", "manifest.post:3")


def run(
    broker: Broker, source: str, target: str, directory: Path, fault: str | None
) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k != "HEADRACE_FAULT"}
    if fault is not None:
        environment["HEADRACE_FAULT"] = f"{fault}:kill"
    command = [sys.executable, str(JOB), broker.servers, source, target, str(directory)]
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
