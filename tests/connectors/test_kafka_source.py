"""KafkaSource against a real broker: which messages it reads, where it stops, what it says when it cannot."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

from headrace.common import Types, WatermarkStrategy
from headrace.common.errors import (
    BadRecordError,
    ConfigurationError,
    HeadraceError,
    InvalidProgramError,
    JobExecutionError,
)
from headrace.common.serialization import ByteArraySchema, DeserializationSchema, SimpleStringSchema
from headrace.common.time import Duration
from headrace.connectors.base.split_enumerator import SplitProgress
from headrace.connectors.base.split_reader import ReaderContext
from headrace.datastream import ProcessFunction
from headrace.datastream.connectors.base import DeliveryGuarantee
from headrace.datastream.connectors.kafka import (
    KafkaOffsetResetStrategy,
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaSourceBuilder,
    KafkaTopicPartition,
)

if TYPE_CHECKING:
    from kafka_kit.broker import Broker

Contents = Callable[..., list[Any]]
pytestmark = pytest.mark.spark  # the broker is a JVM

LATEST = KafkaOffsetsInitializer.latest()


def texts(broker: Broker, *topics: str) -> KafkaSourceBuilder:
    builder = KafkaSource.builder().set_bootstrap_servers(broker.servers)
    if topics:
        builder.set_topics(*topics)
    return builder.set_value_only_deserializer(SimpleStringSchema())


@pytest.fixture(scope="module")
def numbers(broker: Broker) -> str:
    """A topic with 0 to 9 in partition 0 and 10 to 14 in partition 1, a second of event time apart."""
    topic = broker.topic(2)
    for number in range(10):
        broker.send(topic, [str(number)], timestamp=1_000_000 + number * 1000)
    for number in range(10, 15):
        broker.send(topic, [str(number)], 1, timestamp=1_000_000 + number * 1000)
    return topic


def as_texts(numbers: range) -> list[str]:
    return [str(n) for n in numbers]


def test_all_partitions_of_topics_are_read_up_to_their_end(broker: Broker, numbers: str, contents: Contents) -> None:
    other = broker.topic()
    broker.send(other, ["x"])
    source = texts(broker, numbers, other).set_bounded(LATEST).build()
    assert contents(source) == [*as_texts(range(15)), "x"]


def test_a_pattern_matches_whole_names(broker: Broker, contents: Contents) -> None:
    for name in ("pat-a", "pat-b", "pat-b-not"):
        broker.send(broker.topic(name=name), [name])
    source = texts(broker).set_topic_pattern("pat-[ab]").set_bounded(LATEST).build()
    assert contents(source) == ["pat-a", "pat-b"]


def test_only_the_given_partitions_are_read(broker: Broker, numbers: str, contents: Contents) -> None:
    source = texts(broker).set_partitions({KafkaTopicPartition(numbers, 1)}).set_bounded(LATEST).build()
    assert contents(source) == as_texts(range(10, 15))


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (KafkaOffsetsInitializer.earliest(), as_texts(range(15))),
        (KafkaOffsetsInitializer.latest(), []),
        (KafkaOffsetsInitializer.timestamp(1_008_000), ["8", "9", *as_texts(range(10, 15))]),
        (KafkaOffsetsInitializer.timestamp(1_012_000), ["12", "13", "14"]),
        (KafkaOffsetsInitializer.timestamp(9_000_000), []),
    ],
)
def test_where_reading_starts(
    broker: Broker, numbers: str, contents: Contents, start: KafkaOffsetsInitializer, expected: list[str]
) -> None:
    source = texts(broker, numbers).set_starting_offsets(start).set_bounded(LATEST).build()
    assert contents(source) == expected


def test_given_offsets_then_the_groups_then_the_strategy(broker: Broker, numbers: str, contents: Contents) -> None:
    first = KafkaTopicPartition(numbers, 0)
    given = texts(broker, numbers).set_bounded(LATEST).set_group_id("given")
    start = KafkaOffsetsInitializer.offsets({first: 7}, KafkaOffsetResetStrategy.LATEST)
    assert contents(given.set_starting_offsets(start).build()) == ["7", "8", "9"]
    given.build().get_definition().enumerator().notify_checkpoint_complete({f"{numbers}-1": 3})
    wait_for(lambda: broker.committed("given", numbers, [1]) == [3])
    assert contents(given.set_starting_offsets(start).build()) == ["7", "8", "9", "13", "14"]


def test_committed_offsets_need_a_strategy_where_there_are_none(
    broker: Broker, numbers: str, contents: Contents
) -> None:
    source = texts(broker, numbers).set_bounded(LATEST).set_group_id("never committed")
    with pytest.raises(
        JobExecutionError, match=r"There is no offset to start at in partition 0 of topic '.*'(?s:.*)reset"
    ):
        contents(source.set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()).build())
    earliest = KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.EARLIEST)
    assert contents(source.set_starting_offsets(earliest).build()) == as_texts(range(15))


def test_stopping_offsets(broker: Broker, numbers: str, contents: Contents) -> None:
    stop = {KafkaTopicPartition(numbers, 0): 4, KafkaTopicPartition(numbers, 1): 1}
    source = texts(broker, numbers).set_bounded(KafkaOffsetsInitializer.offsets(stop)).build()
    assert contents(source) == ["0", "1", "2", "3", "10"]
    by_time = texts(broker, numbers).set_bounded(KafkaOffsetsInitializer.timestamp(1_002_000)).build()
    assert contents(by_time) == ["0", "1"]


def test_a_stop_beyond_the_end_is_waited_for(broker: Broker) -> None:
    topic = broker.topic()
    broker.send(topic, ["a", "b"])
    stop = KafkaOffsetsInitializer.offsets({KafkaTopicPartition(topic, 0): 3})
    definition = texts(broker, topic).set_bounded(stop).build().get_definition()
    reader = definition.open_reader(definition.enumerator().start(1)[0], None, ReaderContext())
    values: list[str] = []
    wait_for(lambda: (values.extend(reader.read(10, 0).values), len(values) == 2)[1])
    assert not reader.finished
    broker.send(topic, ["c", "d"])
    wait_for(lambda: (values.extend(reader.read(10, 0).values), reader.finished)[1])
    assert values == ["a", "b", "c"]
    reader.close()


def wait_for(done: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def test_a_reader_goes_on_exactly_at_a_position(broker: Broker, numbers: str) -> None:
    definition = texts(broker, numbers).set_bounded(LATEST).build().get_definition()
    split = next(s for s in definition.enumerator().start(1) if s.id.endswith("-0"))
    values: list[str] = []
    position: Any = None
    for size in (1, 3, 2, 100):
        definition = pickle.loads(pickle.dumps(definition))
        reader = definition.open_reader(split, position, ReaderContext())
        values += next(filter(None, (reader.read(size, 0).values for _ in range(1000))))
        position = reader.position()
        reader.close()
    assert values == as_texts(range(10))
    assert definition.open_reader(split, position, ReaderContext()).finished


def test_batches_have_the_timestamps_of_messages(broker: Broker, numbers: str) -> None:
    definition = texts(broker, numbers).set_bounded(LATEST).build().get_definition()
    reader = definition.open_reader(definition.enumerator().start(1)[0], None, ReaderContext())
    batch = reader.read(2, 0)
    while not batch.values:
        batch = reader.read(2, 0)
    assert batch.timestamps is not None
    assert (batch.values[0], batch.timestamps[0]) == ("0", 1_000_000)
    reader.close()


class Whole(KafkaRecordDeserializationSchema):
    def deserialize(self, record: Any) -> Any:
        if record.value() is None:
            return None
        return record.topic(), record.partition(), record.offset(), record.key(), record.value(), record.headers()


def test_whole_messages(broker: Broker, contents: Contents) -> None:
    topic = broker.topic()
    broker.send(topic, [b"v"], key=b"k", headers=[("h", b"1")])
    broker.send(topic, [None], key=b"k")
    broker.send(topic, [b""])
    builder = KafkaSource.builder().set_bootstrap_servers(broker.servers).set_topics(topic)
    source = builder.set_deserializer(Whole()).set_bounded(LATEST).build()
    assert contents(source) == [(topic, 0, 0, b"k", b"v", [("h", b"1")]), (topic, 0, 2, None, b"", None)]


class Number(DeserializationSchema):
    def deserialize(self, message: bytes) -> Any:
        return int(message) if message != b"skip" else None

    def get_produced_type(self) -> Any:
        return Types.LONG()


def numbered(broker: Broker, topic: str) -> KafkaSource:
    builder = KafkaSource.builder().set_bootstrap_servers(broker.servers).set_topics(topic)
    return builder.set_value_only_deserializer(Number()).set_bounded(LATEST).build()


def test_none_leaves_a_message_out(broker: Broker, contents: Contents) -> None:
    topic = broker.topic()
    broker.send(topic, ["1", "skip", "skip", "2", "skip"])
    source = numbered(broker, topic)
    assert contents(source) == [1, 2]
    assert str(source.get_definition().produced_type) == "Long"


@pytest.mark.parametrize(("bad", "seen"), [("x", "b'x'"), (None, "no value")])
def test_a_bad_message_is_named(broker: Broker, contents: Contents, bad: str | None, seen: str) -> None:
    topic = broker.topic()
    broker.send(topic, ["1", "2", bad, "4"])
    with pytest.raises(BadRecordError, match=rf"offset 2 of partition 0 of topic '{topic}'") as caught:
        contents(numbered(broker, topic))
    assert caught.value.seen == seen


def test_transactions_end_bounded_reading_too(broker: Broker, contents: Contents) -> None:
    """The last offsets are markers of transactions, which are no messages."""
    topic = broker.topic()
    producer = Producer({"bootstrap.servers": broker.servers, "transactional.id": topic})
    producer.init_transactions(30)
    for value, commit in (("a", True), ("b", False), ("c", True)):
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.flush(30)
        (producer.commit_transaction if commit else producer.abort_transaction)(30)
    source = texts(broker, topic).set_bounded(LATEST)
    assert contents(source.set_property("isolation.level", "read_committed").build()) == ["a", "c"]
    uncommitted = texts(broker, topic).set_bounded(LATEST).build()
    assert contents(uncommitted) == ["a", "b", "c"]


def test_an_offset_that_was_deleted(broker: Broker) -> None:
    topic = broker.topic()
    broker.send(topic, as_texts(range(10)))
    definition = texts(broker, topic).set_bounded(LATEST).build().get_definition()
    split = definition.enumerator().start(1)[0]
    broker.delete_records(topic, 0, 5)
    reader = definition.open_reader(split, 2, ReaderContext())
    with pytest.raises(JobExecutionError, match="offset 2 does not exist(?s:.*)from 5 to 10(?s:.*)auto.offset.reset"):
        wait_for(lambda: bool(reader.read(10, 0).values))
    reader.close()
    lossy = (
        texts(broker, topic).set_bounded(LATEST).set_property("auto.offset.reset", "earliest").build().get_definition()
    )
    reader = lossy.open_reader(split, 2, ReaderContext())
    values: list[str] = []
    wait_for(lambda: (values.extend(reader.read(10, 0).values), reader.finished)[1])
    assert values == as_texts(range(5, 10))
    reader.close()


def test_a_topic_that_is_not_there(broker: Broker, contents: Contents) -> None:
    with pytest.raises(JobExecutionError, match="There is no topic 'missing' in Kafka"):
        contents(texts(broker, "missing").set_bounded(LATEST).build())
    topic = broker.topic(1)
    with pytest.raises(JobExecutionError, match="There are no such partitions"):
        contents(texts(broker).set_partitions({KafkaTopicPartition(topic, 1)}).set_bounded(LATEST).build())


@pytest.mark.slow
def test_a_topic_that_is_deleted_while_it_is_read(broker: Broker) -> None:
    topic = broker.topic()
    broker.send(topic, ["a"])
    builder = texts(broker, topic).set_property("topic.metadata.propagation.max.ms", "500")
    definition = builder.set_property("topic.metadata.refresh.interval.ms", "500").build().get_definition()
    reader = definition.open_reader(definition.enumerator().start(1)[0], None, ReaderContext())
    wait_for(lambda: bool(reader.read(10, 0).values))
    broker.delete_topic(topic)
    with pytest.raises(JobExecutionError, match=f"partition 0 of topic '{topic}' failed: the topic was deleted"):
        wait_for(lambda: bool(reader.read(10, 0).values))
    reader.close()


def test_new_partitions_and_topics_are_discovered_and_read_from_their_beginning(broker: Broker) -> None:
    topic = broker.topic(1, name="grows-a")
    broker.send(topic, ["old"])
    builder = texts(broker).set_topic_pattern("grows-.*").set_starting_offsets(LATEST)
    definition = builder.set_property("partition.discovery.interval.ms", "1").build().get_definition()
    enumerator = definition.enumerator()
    known = SplitProgress(frozenset(s.id for s in enumerator.start(1)))
    assert known.known == {"grows-a-0"}
    assert enumerator.discover(known) == []
    broker.add_partitions(topic, 2)
    broker.send(topic, ["new"], 1)
    broker.send(broker.topic(1, name="grows-b"), ["newer"])
    time.sleep(0.01)
    found = enumerator.discover(known)
    assert sorted((s.id, s.payload.start) for s in found) == [("grows-a-1", 0), ("grows-b-0", 0)]
    broker.delete_records(topic, 1, 1)
    time.sleep(0.01)
    again = enumerator.discover(known)  # the job has gone back to a checkpoint without them
    assert sorted(again, key=lambda s: s.id) == sorted(found, key=lambda s: s.id), "offsets are resolved once"
    never = texts(broker, topic).set_property("partition.discovery.interval.ms", "-1").build().get_definition()
    assert never.enumerator().discover(SplitProgress()) == []


def test_offsets_are_committed_for_the_group(broker: Broker, numbers: str) -> None:
    quiet = texts(broker, numbers).set_group_id("quiet").set_property("commit.offsets.on.checkpoint", "false")
    quiet.build().get_definition().enumerator().notify_checkpoint_complete({f"{numbers}-0": 5})
    definition = texts(broker, numbers).set_group_id("loud").build().get_definition()
    definition.enumerator().notify_checkpoint_complete({f"{numbers}-0": 5, f"{numbers}-1": None})
    wait_for(lambda: broker.committed("loud", numbers, [0, 1]) == [5, -1001])
    assert broker.committed("quiet", numbers, [0]) == [-1001]


def test_an_unreachable_broker_does_not_fail_a_publication(broker: Broker, numbers: str) -> None:
    builder = KafkaSource.builder().set_bootstrap_servers("127.0.0.1:1").set_topics(numbers).set_group_id("g")
    definition = builder.set_value_only_deserializer(ByteArraySchema()).build().get_definition()
    start = time.monotonic()
    definition.enumerator().notify_checkpoint_complete({f"{numbers}-0": 5})
    assert time.monotonic() - start < 5


# -- programs -------------------------------------------------------------------------------------------------------


class WithTime(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value, ctx.timestamp()


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_job_reads_every_message_once(broker: Broker, numbers: str, make_env: Any, parallelism: int) -> None:
    source = texts(broker, numbers).set_bounded(LATEST).build()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    stream = make_env(parallelism).from_source(source, strategy, "numbers")
    with stream.process(WithTime()).execute_and_collect() as results:
        assert sorted(results) == sorted((str(n), 1_000_000 + 1000 * n) for n in range(15))


def test_an_unbounded_source_ends_at_its_stopping_offsets_without_discovery(
    broker: Broker, numbers: str, make_env: Any
) -> None:
    builder = texts(broker, numbers).set_unbounded(LATEST).set_property("partition.discovery.interval.ms", "-1")
    stream = make_env(2).from_source(builder.build(), WatermarkStrategy.no_watermarks(), "numbers")
    with stream.execute_and_collect() as results:
        assert sorted(results, key=int) == as_texts(range(15))


def test_a_running_job_finds_a_new_partition(broker: Broker, make_env: Any) -> None:
    topic = broker.topic(1)
    broker.send(topic, ["a"])
    source = texts(broker, topic).set_property("partition.discovery.interval.ms", "100").build()
    stream = make_env(2).from_source(source, WatermarkStrategy.no_watermarks(), "growing")
    with stream.execute_and_collect() as results:
        assert next(results) == "a"
        broker.add_partitions(topic, 2)
        broker.send(topic, ["b"], 1)
        assert next(results) == "b"


def test_an_idle_partition_does_not_hold_the_watermark_back(broker: Broker, make_env: Any) -> None:
    topic = broker.topic(2)
    broker.send(topic, ["1"], 0, timestamp=1000)

    class Due(ProcessFunction):
        def process_element(self, value: Any, ctx: Any) -> Any:
            yield ctx.timer_service().current_watermark() if value == "2" else value

    strategy = WatermarkStrategy.for_monotonous_timestamps().with_idleness(Duration.of_millis(200))
    source = texts(broker, topic).build()
    stream = make_env(1).from_source(source, strategy, "half idle").process(Due())
    with stream.execute_and_collect() as results:
        assert next(results) == "1"
        time.sleep(1.0)
        broker.send(topic, ["1b"], 0, timestamp=5000)
        assert next(results) == "1b"
        time.sleep(0.5)
        broker.send(topic, ["2"], 0, timestamp=6000)
        assert next(results) == 4999


# -- descriptions ----------------------------------------------------------------------------------------------------


def unfinished(**left_out: bool) -> KafkaSourceBuilder:
    builder = KafkaSource.builder()
    if "servers" not in left_out:
        builder.set_bootstrap_servers("b:9092")
    if "topics" not in left_out:
        builder.set_topics("t")
    return builder if "schema" in left_out else builder.set_value_only_deserializer(SimpleStringSchema())


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: unfinished(servers=False).build(), InvalidProgramError, "needs bootstrap servers"),
        (lambda: unfinished(topics=False).build(), InvalidProgramError, "needs something to read"),
        (lambda: unfinished(schema=False).build(), InvalidProgramError, "needs a deserialiser"),
        (lambda: unfinished().set_topic_pattern("a"), InvalidProgramError, "reads topics \\['t'\\] already"),
        (
            lambda: unfinished().set_property("commit.offsets.on.checkpoint", "true").build(),
            InvalidProgramError,
            "set_group_id",
        ),
        (lambda: unfinished().set_property("max.poll.records", "1").build(), ConfigurationError, "max.poll.records"),
        (
            lambda: unfinished().set_property("partition.discovery.interval.ms", "soon").build(),
            ConfigurationError,
            "milliseconds",
        ),
        (
            lambda: unfinished().set_starting_offsets(KafkaOffsetsInitializer.committed_offsets()).build(),
            InvalidProgramError,
            "set_group_id",
        ),
        (lambda: unfinished().set_bounded(5), TypeError, "set_bounded takes a KafkaOffsetsInitializer"),
        (lambda: unfinished().set_value_only_deserializer(str), TypeError, "DeserializationSchema"),
        (lambda: KafkaOffsetsInitializer.offsets({("t", 0): 1}), TypeError, "KafkaTopicPartition"),
        (lambda: KafkaOffsetsInitializer.timestamp(-1), InvalidProgramError, "milliseconds"),
    ],
)
def test_refusals(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        make()
    assert isinstance(caught.value, HeadraceError)


def test_a_property_that_the_client_does_not_know(broker: Broker, numbers: str, contents: Contents) -> None:
    with pytest.raises(ConfigurationError, match='No such configuration property: "no.such"'):
        contents(texts(broker, numbers).set_bounded(LATEST).set_property("no.such", "1").build())


@pytest.mark.slow
def test_a_broker_that_is_away_for_some_time_loses_nothing(broker: Broker, make_env: Any) -> None:
    """The broker is killed while a job reads and writes, exactly once; after its return everything is there once."""
    into, out = broker.topic(1), broker.topic(1)
    broker.send(into, as_texts(range(500)))
    source = texts(broker, into).build()
    schema = KafkaRecordSerializationSchema.builder().set_topic(out)
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(broker.servers)
        .set_record_serializer(schema.set_value_serialization_schema(SimpleStringSchema()).build())
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix("away")
        .build()
    )
    env = make_env(1)
    env.enable_checkpointing(200)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "in").sink_to(sink)
    client = env.execute_async("through an outage")
    wait_for(lambda: len(broker.values(out)) == 500)
    broker.stop(kill=True)
    time.sleep(3)
    broker.start()
    broker.send(into, as_texts(range(500, 1000)))
    wait_for(lambda: len(broker.values(out)) >= 1000, 60)
    time.sleep(1)
    assert [v.decode() for v in broker.values(out)] == as_texts(range(1000))
    client.cancel().result()
