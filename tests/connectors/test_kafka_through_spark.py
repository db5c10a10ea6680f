"""Kafka by way of Spark's own connector, which is a jar: the example, in a process with a Spark of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jar_folders import jar_directory

if TYPE_CHECKING:
    from kafka_kit.broker import Broker

pytestmark = pytest.mark.spark

EXAMPLE = Path(__file__).parents[2] / "examples" / "servers" / "kafka_through_spark.py"


@pytest.mark.long
def test_a_topic_as_a_batch_and_as_a_streaming_frame(broker: Broker) -> None:
    topic = broker.topic(2)
    for number, item in enumerate(["tea", "rice", "tea", "salt", "tea"]):
        broker.send(topic, [str(number + 1)], partition=number % 2, key=item)
    command = [sys.executable, str(EXAMPLE), broker.servers, topic, str(jar_directory("spark-kafka"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == [
        "batch: tea 1 from 0/0",
        "batch: tea 3 from 0/1",
        "batch: tea 5 from 0/2",
        "batch: rice 2 from 1/0",
        "batch: salt 4 from 1/1",
        "streaming: rice 2",
        "streaming: salt 4",
        "streaming: tea 9",
    ], done.stderr[-4000:]
