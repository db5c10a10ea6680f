"""KafkaSink against a real broker: what arrives, under which topic and key, and that a second commit adds nothing."""

from __future__ import annotations

import os
import pickle
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.common import Types, WatermarkStrategy
from headrace.common.errors import HeadraceError, InvalidProgramError, JobExecutionError
from headrace.common.serialization import SerializationSchema, SimpleStringSchema
from headrace.connectors.base.sink_committer import Handle, StagedOutputLostError
from headrace.connectors.base.sink_writer import EpochEnd, WriterContext
from headrace.connectors.kafka import committer
from headrace.connectors.kafka.client import Sender
from headrace.datastream.connectors.base import DeliveryGuarantee
from headrace.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaOffsetsInitializer,
    KafkaPartitioner,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSinkBuilder,
    KafkaSource,
    KafkaTopicSelector,
    Semantic,
)

if TYPE_CHECKING:
    from kafka_kit.broker import Broker

pytestmark = pytest.mark.spark  # the broker is a JVM

LEAST, EXACTLY = DeliveryGuarantee.AT_LEAST_ONCE, DeliveryGuarantee.EXACTLY_ONCE


def to_topic(broker: Broker, topic: str, guarantee: DeliveryGuarantee = EXACTLY) -> KafkaSinkBuilder:
    schema = KafkaRecordSerializationSchema.builder().set_topic(topic)
    serializer = schema.set_value_serialization_schema(SimpleStringSchema()).build()
    builder = KafkaSink.builder().set_bootstrap_servers(broker.servers).set_record_serializer(serializer)
    return builder.set_delivery_guarantee(guarantee).set_transactional_id_prefix(f"p{uuid.uuid4().hex[:8]}")


class Task:
    """Subtasks of a sink and their driver, without a job."""

    def __init__(self, sink: KafkaSink, log: Path) -> None:
        self.definition = pickle.loads(pickle.dumps(sink.get_definition()))
        self.log = log
        self.epochs = 0
        self.writer = self.definition.open_writer(WriterContext("sink", "job", directory=str(log)), [])
        self.committer = self.definition.open_committer("job", "sink")

    def restart_driver(self) -> None:
        self.committer = self.definition.open_committer("job", "sink")

    def restart_task(self) -> None:
        states = [pickle.loads(pickle.dumps(self.writer.state()))]
        self.writer = self.definition.open_writer(WriterContext("sink", "job", directory=str(self.log)), states)

    def epoch(self, values: list[str], checkpoint: int, timestamps: Any = None) -> list[Handle]:
        self.epochs += 1
        self.writer.write(values, timestamps)
        name = f"sink-0-e{checkpoint:010}-g0000000001-{self.epochs}"
        payloads = self.writer.end_epoch(EpochEnd(name, checkpoint, 1))
        return [Handle(name, 0, checkpoint, 1, payload) for payload in payloads]


def texts(broker: Broker, topic: str) -> list[str]:
    return [value.decode() for value in broker.values(topic)]


def test_staged_messages_arrive_with_the_commit_and_once(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic()
    task = Task(to_topic(broker, topic).build(), tmp_path)
    first, second = task.epoch(["a", "b"], 1), task.epoch(["c"], 1)
    assert broker.values(topic, committed=False) == []
    kept = {h.payload["path"]: Path(h.payload["path"]).read_bytes() for h in (*first, *second)}
    for handle in (*first, *second):
        task.committer.commit(handle)
    assert texts(broker, topic) == ["a", "b", "c"]
    assert os.listdir(tmp_path) == []
    for path, data in kept.items():  # a driver that died before its files were deleted
        Path(path).write_bytes(data)
    task.restart_driver()
    for handle in (*first, *second):
        task.committer.commit(handle)
        task.committer.commit(handle)
    assert texts(broker, topic) == ["a", "b", "c"]
    task.restart_task()
    for handle in (*task.epoch(["d"], 1), *task.epoch(["e"], 2)):
        task.committer.commit(handle)
    assert texts(broker, topic) == ["a", "b", "c", "d", "e"]
    task.committer.close()


def test_a_commit_that_was_cut_off_is_settled_by_the_next_driver(broker: Broker, tmp_path: Path) -> None:
    """The first driver has sent the messages and dies before it commits the transaction; it is fenced."""
    topic = broker.topic()
    task = Task(to_topic(broker, topic).build(), tmp_path)
    (ready,) = task.epoch(["a"], 1)
    task.committer.commit(ready)
    (handle,) = task.epoch(["b"], 2)
    old = task.committer
    channel = old._channels[0]
    channel.sender.producer.begin_transaction()
    channel.sender.producer.produce(topic, "b")
    channel.sender.producer.flush(10)
    task.restart_driver()
    task.committer.commit(handle)
    assert texts(broker, topic) == ["a", "b"]
    with pytest.raises(Exception, match="(?i)fenced"):
        channel.sender.producer.commit_transaction(10)
    assert texts(broker, topic) == ["a", "b"]
    task.committer.close()


def test_a_broker_that_goes_away_within_a_commit_holds_nothing_up(broker: Broker, monkeypatch, tmp_path: Path) -> None:
    """Between the messages and the number of the handle: there librdkafka waits for ever."""
    topic = broker.topic()
    task = Task(to_topic(broker, topic).build(), tmp_path)
    commit_until_it_works(task, *task.epoch(["a"], 1))
    (handle,) = task.epoch(["b"], 2)
    flush = Sender.flush

    def flush_and_lose_the_broker(sender: Sender) -> None:
        flush(sender)
        broker.stop(kill=True)

    with monkeypatch.context() as patch:
        patch.setattr(Sender, "flush", flush_and_lose_the_broker)
        patch.setattr(committer, "_SECONDS", 2.0)
        with pytest.raises(JobExecutionError, match="no answer within 4 s"):
            task.committer.commit(handle)
    broker.start()
    commit_until_it_works(task, handle)
    commit_until_it_works(task, *task.epoch(["c"], 3))
    assert texts(broker, topic) == ["a", "b", "c"]
    task.committer.close()


def commit_until_it_works(task: Task, handle: Handle) -> None:
    """As the driver does: a broker that has just begun does not yet know its groups."""
    deadline = time.monotonic() + 60
    while True:
        try:
            task.committer.commit(handle)
            return
        except JobExecutionError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def test_an_aborted_handle_leaves_nothing(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic()
    task = Task(to_topic(broker, topic).build(), tmp_path)
    (handle,) = task.epoch(["a"], 1)
    assert task.committer.abort(handle)
    assert os.listdir(tmp_path) == []
    with pytest.raises(StagedOutputLostError, match="neither sent nor staged"):
        task.committer.commit(handle)
    assert broker.values(topic, committed=False) == []


class Key(SerializationSchema):
    def serialize(self, element: Any) -> bytes | None:
        return element[:1].encode() if element != "none" else None


class ByLetter(KafkaTopicSelector):
    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def apply(self, data: Any) -> str:
        return f"{self.prefix}-{data[0]}"


@pytest.mark.parametrize("guarantee", list(DeliveryGuarantee))
def test_topics_keys_and_timestamps(broker: Broker, tmp_path: Path, guarantee: DeliveryGuarantee) -> None:
    prefix = broker.topic()
    topics = [broker.topic(3, name=f"{prefix}-{letter}") for letter in "an"]
    builder = KafkaRecordSerializationSchema.builder().set_topic_selector(ByLetter(prefix))
    schema = builder.set_key_serialization_schema(Key()).set_value_serialization_schema(SimpleStringSchema()).build()
    sink = to_topic(broker, "unused", guarantee).set_record_serializer(schema).build()
    task = Task(sink, tmp_path)
    for handle in task.epoch(["a1", "none", "a2", "a3"], 1, [1000, 2000, None, 4000]):
        task.committer.commit(handle)
    task.writer.close()
    found = [(m.key(), m.value(), m.timestamp()[1], m.partition()) for m in broker.read(topics[0])]
    assert [(k, v) for k, v, _, _ in found] == [(b"a", b"a1"), (b"a", b"a2"), (b"a", b"a3")]
    assert found[0][2] == 1000 and found[2][2] == 4000 and found[1][2] > time.time() * 1000 - 60_000
    assert len({p for *_, p in found}) == 1
    assert [(m.key(), m.value()) for m in broker.read(topics[1])] == [(None, b"none")]


def test_a_topic_that_is_not_there_fails_the_epoch(broker: Broker, tmp_path: Path) -> None:
    sink = to_topic(broker, "not-there", LEAST).set_property("message.timeout.ms", "2000").build()
    task = Task(sink, tmp_path)
    with pytest.raises(JobExecutionError, match="could not be written to topic 'not-there'"):
        task.epoch(["a"], 1)


def test_a_message_that_is_too_large(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic()
    task = Task(to_topic(broker, topic, LEAST).build(), tmp_path)
    with pytest.raises(Exception, match="(?i)too large"):
        task.epoch(["x" * 2_000_000], 1)


# -- programs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("guarantee", list(DeliveryGuarantee))
def test_from_topic_to_topic(broker: Broker, make_env: Any, guarantee: DeliveryGuarantee) -> None:
    into, out = broker.topic(2), broker.topic(2)
    for partition in range(2):
        broker.send(into, [str(n) for n in range(partition, 5000, 2)], partition)
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(broker.servers)
        .set_topics(into)
        .set_group_id(f"group-{out}")
        .set_value_only_deserializer(SimpleStringSchema())
        .set_bounded(KafkaOffsetsInitializer.latest())
        .build()
    )
    env = make_env(2)
    env.enable_checkpointing(100)
    lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "in")
    lines.map(lambda text: f"{text}!", Types.STRING()).sink_to(to_topic(broker, out, guarantee).build())
    env.execute("through Kafka")
    assert sorted(texts(broker, out)) == sorted(f"{n}!" for n in range(5000))
    deadline = time.monotonic() + 10
    while broker.committed(f"group-{out}", into, [0, 1]) != [2500, 2500] and time.monotonic() < deadline:
        time.sleep(0.1)
    assert broker.committed(f"group-{out}", into, [0, 1]) == [2500, 2500]


def test_the_old_names(broker: Broker, make_env: Any) -> None:
    into, out = broker.topic(), broker.topic()
    broker.send(into, ["a", "b"])
    properties = {"bootstrap.servers": broker.servers, "group.id": f"old-{out}"}
    consumer = FlinkKafkaConsumer(into, SimpleStringSchema(), properties).set_start_from_earliest()
    producer = FlinkKafkaProducer(out, SimpleStringSchema(), properties_of(broker), semantic=Semantic.AT_LEAST_ONCE)
    env = make_env(1)
    env.add_source(consumer).add_sink(producer)
    client = env.execute_async("old names")
    deadline = time.monotonic() + 60
    while texts(broker, out) != ["a", "b"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    client.cancel().result()


def test_an_element_ends_the_old_consumer(broker: Broker, make_env: Any) -> None:
    class UntilEnd(SimpleStringSchema):
        def is_end_of_stream(self, next_element: str) -> bool:
            return next_element == "end"

    topic = broker.topic(2)
    broker.send(topic, ["a", "b", "end", "c"])
    broker.send(topic, ["d"], 1)
    properties = {"bootstrap.servers": broker.servers, "group.id": f"end-{topic}"}
    stream = make_env(1).add_source(FlinkKafkaConsumer(topic, UntilEnd(), properties).set_start_from_earliest())
    with stream.execute_and_collect() as results:
        found = list(results)
    assert set(found) - {"d"} == {"a", "b"}, "it ends, with the partition that has the mark and with the other one"


def properties_of(broker: Broker) -> dict[str, str]:
    return {"bootstrap.servers": broker.servers}


def unfinished() -> KafkaSinkBuilder:
    schema = (
        KafkaRecordSerializationSchema.builder().set_topic("t").set_value_serialization_schema(SimpleStringSchema())
    )
    return KafkaSink.builder().set_bootstrap_servers("b:9092").set_record_serializer(schema.build())


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: KafkaSink.builder().build(), InvalidProgramError, "bootstrap servers"),
        (lambda: KafkaSink.builder().set_bootstrap_servers("b").build(), InvalidProgramError, "needs a serialiser"),
        (
            lambda: unfinished().set_delivery_guarantee(EXACTLY).build(),
            InvalidProgramError,
            "prefix for its transactional",
        ),
        (lambda: unfinished().set_delivery_guarantee("EXACTLY_ONCE"), TypeError, "takes a DeliveryGuarantee"),
        (lambda: unfinished().set_transactional_id_prefix("x" * 200), InvalidProgramError, "128 bytes"),
        (lambda: unfinished().set_record_serializer(SimpleStringSchema()), TypeError, "KafkaRecordSerializationSchema"),
        (lambda: KafkaRecordSerializationSchema.builder().build(), InvalidProgramError, "need a topic"),
        (lambda: KafkaRecordSerializationSchema.builder().set_topic("t").build(), InvalidProgramError, "need a value"),
        (
            lambda: KafkaRecordSerializationSchema.builder().set_topic("t").set_topic("u"),
            InvalidProgramError,
            "already",
        ),
        (lambda: KafkaRecordSerializationSchema.builder().set_topic_selector(5), TypeError, "KafkaTopicSelector"),
    ],
)
def test_refusals(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        make()
    assert isinstance(caught.value, HeadraceError)


def test_a_partitioner_of_the_program(broker: Broker, tmp_path: Path, make_env: Callable[..., Any]) -> None:
    class ByNumber(KafkaPartitioner):
        def partition(self, record: Any, key: Any, value: Any, target_topic: str, partitions: list[int]) -> int:
            return partitions[int(value) % len(partitions)]

    for guarantee in (LEAST, EXACTLY):
        topic = broker.topic(3)
        schema = KafkaRecordSerializationSchema.builder().set_topic(topic).set_partitioner(ByNumber())
        serializer = schema.set_value_serialization_schema(SimpleStringSchema()).build()
        env = make_env(1)
        numbers = env.from_collection([str(n) for n in range(9)], Types.STRING())
        numbers.sink_to(to_topic(broker, topic, guarantee).set_record_serializer(serializer).build())
        env.execute()
        found = [(m.partition(), int(m.value())) for m in broker.read(topic)]
        assert found == [(p, n) for p in range(3) for n in range(9) if n % 3 == p]

    wrong = KafkaRecordSerializationSchema.builder().set_topic(topic).set_partitioner(lambda *parts: 3)
    env = make_env(1)
    stream = env.from_collection(["a"], Types.STRING())
    serializer = wrong.set_value_serialization_schema(SimpleStringSchema()).build()
    stream.sink_to(to_topic(broker, topic, LEAST).set_record_serializer(serializer).build())
    with pytest.raises(HeadraceError, match=r"(?s)chose no partition of topic.*one of \[0, 1, 2\]"):
        env.execute()


def test_what_is_aborted_never_arrives_and_what_has_arrived_is_not_aborted(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic()
    task = Task(to_topic(broker, topic).build(), tmp_path)
    (sent,), (dropped,) = task.epoch(["a"], 1), task.epoch(["b"], 2)
    task.committer.commit(sent)
    assert task.committer.abort(dropped) is True
    assert task.committer.abort(sent) is False
    with pytest.raises(StagedOutputLostError, match="neither sent nor staged"):
        task.committer.commit(dropped)
    task.restart_driver()  # what another driver has sent, only Kafka knows
    recovered = [replace(handle, recovered=True) for handle in (sent, *task.epoch(["c"], 3))]
    assert [task.committer.abort(handle) for handle in recovered] == [False, True]
    assert texts(broker, topic) == ["a"]
    task.committer.close()


def test_the_example(broker: Broker, example: Any) -> None:
    orders, totals = broker.topic(2), broker.topic()
    for partition, item in enumerate(("tea", "rice")):
        broker.send(orders, [f'{{"item": "{item}", "price": {price}}}' for price in (1, 2, 3)], partition)
    example("kafka_totals")["main"](broker.servers, orders, totals)
    assert sorted(texts(broker, totals)) == ["rice 1", "rice 3", "rice 6", "tea 1", "tea 3", "tea 6"]
