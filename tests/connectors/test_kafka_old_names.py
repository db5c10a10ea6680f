"""FlinkKafkaConsumer and FlinkKafkaProducer against a real broker: where they start, what they commit, what they promise."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from headrace.common import SimpleStringSchema, Types, WatermarkStrategy
from headrace.datastream import MapFunction
from headrace.datastream.connectors import FlinkKafkaConsumer, FlinkKafkaProducer, Semantic

if TYPE_CHECKING:
    from kafka_kit.broker import Broker

pytestmark = pytest.mark.spark  # the broker is a JVM


class UntilEnd(SimpleStringSchema):
    def is_end_of_stream(self, next_element: str) -> bool:
        return next_element == "end"


def consumer(broker: Broker, topic: str, group: str | None = None, **more: str) -> FlinkKafkaConsumer:
    properties = {"bootstrap.servers": broker.servers, "group.id": group or uuid.uuid4().hex}
    return FlinkKafkaConsumer(topic, UntilEnd(), {**properties, **{k.replace("_", "."): v for k, v in more.items()}})


def commit(broker: Broker, group: str, topic: str, offset: int) -> None:
    client = Consumer({"bootstrap.servers": broker.servers, "group.id": group})
    client.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
    client.close()


@pytest.fixture
def topic(broker: Broker) -> str:
    """Messages a, b and c of the times 1000, 2000 and 3000, then the end."""
    name = broker.topic()
    for number, text in enumerate(["a", "b", "c", "end"]):
        broker.send(name, [text], timestamp=1000 * (number + 1))
    return name


STARTS: dict[str, tuple[Callable[[Broker, str], FlinkKafkaConsumer], list[str]]] = {
    "earliest": (lambda broker, topic: consumer(broker, topic).set_start_from_earliest(), ["a", "b", "c"]),
    "timestamp": (lambda broker, topic: consumer(broker, topic).set_start_from_timestamp(1500), ["b", "c"]),
    "group": (lambda broker, topic: consumer(broker, topic, f"g-{topic}").set_start_from_group_offsets(), ["c"]),
    "group by default": (lambda broker, topic: consumer(broker, topic, f"g-{topic}"), ["c"]),
    "reset": (lambda broker, topic: consumer(broker, topic, auto_offset_reset="earliest"), ["a", "b", "c"]),
}


@pytest.mark.parametrize("start", STARTS)
def test_where_it_starts(broker: Broker, make_env: Any, topic: str, start: str) -> None:
    commit(broker, f"g-{topic}", topic, 2)
    make, expected = STARTS[start]
    with make_env(1).add_source(make(broker, topic), "old").execute_and_collect() as results:
        assert list(results) == expected


def test_from_latest(broker: Broker, make_env: Any) -> None:
    topic = broker.topic()
    broker.send(topic, ["before"] * 3)
    stream = make_env(1).add_source(consumer(broker, topic).set_start_from_latest())
    found: list[str] = []
    with stream.execute_and_collect() as results:
        for value in _while_sending(broker, topic, results):
            found.append(value)
    assert found and set(found) == {"after"}


def _while_sending(broker: Broker, topic: str, results: Any) -> Any:
    """The job finds the end of the topic at some time: messages come until it has seen one, then the last."""
    seen = threading.Event()

    def send() -> None:
        while not seen.wait(0.2):
            broker.send(topic, ["after"])
        broker.send(topic, ["end"])

    sender = threading.Thread(target=send)
    sender.start()
    try:
        for value in results:
            seen.set()
            yield value
    finally:
        seen.set()
        sender.join()


@pytest.mark.parametrize("commits", [True, False])
def test_offsets_are_committed_if_asked_for(
    broker: Broker, make_env: Any, topic: str, tmp_path: Path, commits: bool
) -> None:
    group = f"c-{topic}"
    source = consumer(broker, topic, group).set_start_from_earliest().set_commit_offsets_on_checkpoints(commits)
    env = make_env(1, execution__checkpointing__dir=str(tmp_path))
    env.enable_checkpointing(50)
    with env.add_source(source).execute_and_collect() as results:
        assert list(results) == ["a", "b", "c"]
    if not commits:
        assert broker.committed(group, topic) == [-1001], "no offset is there"
        return
    deadline = time.monotonic() + 30
    while broker.committed(group, topic)[0] < 3:
        assert time.monotonic() < deadline
        time.sleep(0.1)


class FailsOnce(MapFunction):
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def map(self, value: int) -> str:
        if value == 300 and not self.mark.exists():
            self.mark.touch()
            raise ValueError("300, for the first time")
        return str(value)


@pytest.mark.parametrize("semantic", list(Semantic))
def test_what_a_producer_promises(broker: Broker, make_env: Any, tmp_path: Path, semantic: Semantic) -> None:
    topic = broker.topic()
    env = make_env(
        1,
        execution__checkpointing__dir=str(tmp_path / "checkpoints"),
        **{
            "headrace__epoch__max-records": "50",
            "restart-strategy__type": "fixed-delay",
            "restart-strategy__fixed-delay__delay": "10 ms",
        },
    )
    env.enable_checkpointing(10)
    properties = {"bootstrap.servers": broker.servers, "transaction.timeout.ms": "60000"}
    producer = FlinkKafkaProducer(topic, SimpleStringSchema(), properties, semantic=semantic)
    numbers = env.from_sequence(1, 500).map(FailsOnce(tmp_path / "mark"), Types.STRING())
    numbers.add_sink(producer).name("old producer")
    env.execute("a producer of old")
    found = [int(value) for value in broker.values(topic)]
    assert set(found) == set(range(1, 501))
    if semantic is Semantic.EXACTLY_ONCE:
        assert sorted(found) == list(range(1, 501))


@pytest.mark.parametrize("written", [True, False])
def test_a_producer_writes_timestamps_if_asked_for(broker: Broker, make_env: Any, written: bool) -> None:
    topic = broker.topic()
    env = make_env(1)
    producer = FlinkKafkaProducer(topic, SimpleStringSchema(), {"bootstrap.servers": broker.servers})
    producer.set_write_timestamp_to_kafka(written).set_flush_on_checkpoint(True).set_log_failures_only(False)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, before: 12_345)
    env.from_collection(["a"], Types.STRING()).assign_timestamps_and_watermarks(strategy).add_sink(producer)
    env.execute()
    (message,) = broker.read(topic)
    assert (message.timestamp()[1] == 12_345) == written
