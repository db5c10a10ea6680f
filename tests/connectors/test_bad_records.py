"""Records that cannot be read: they fail the job and say where they stand, or go to a dead-letter output; all are counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.common import BadRecord, Types, WatermarkStrategy
from headrace.common.errors import BadRecordError, InvalidProgramError, JobExecutionError, TypeMismatchError
from headrace.common.serialization import SimpleStringSchema
from headrace.datastream import OutputTag, StreamExecutionEnvironment
from headrace.datastream.connectors.base import DeliveryGuarantee
from headrace.datastream.connectors.file_system import FileSource, StreamFormat
from headrace.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordDeserializationSchema,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaSourceBuilder,
)
from headrace.datastream.formats.csv import CsvReaderFormat, CsvSchema
from headrace.datastream.formats.json import JsonReaderFormat, JsonRowDeserializationSchema

if TYPE_CHECKING:
    from kafka_kit.broker import Broker

MakeEnvironment = Callable[..., StreamExecutionEnvironment]
NO_WATERMARKS = WatermarkStrategy.no_watermarks()
ORDER = Types.ROW_NAMED(["id", "price"], [Types.LONG(), Types.DOUBLE()])
BAD = OutputTag("bad")


class Tagged:
    """Makes one stream of both outputs, so that one job gives both."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, value: Any) -> tuple[str, Any]:
        return self.name, value


def both(env: StreamExecutionEnvironment, source: Any) -> tuple[list[Any], list[BadRecord]]:
    stream = env.from_source(source, NO_WATERMARKS, "orders")
    union = stream.map(Tagged("good")).union(stream.get_side_output(BAD).map(Tagged("bad")))
    with union.execute_and_collect() as results:
        found = list(results)
    return [v for name, v in found if name == "good"], [v for name, v in found if name == "bad"]


# -- Kafka -----------------------------------------------------------------------------------------------------------


def orders(broker: Broker, topic: str) -> KafkaSourceBuilder:
    schema = JsonRowDeserializationSchema.builder().type_info(ORDER).build()
    builder = KafkaSource.builder().set_bootstrap_servers(broker.servers).set_topics(topic)
    return builder.set_value_only_deserializer(schema).set_bounded(KafkaOffsetsInitializer.latest())


def good(number: int) -> str:
    return json.dumps({"id": number, "price": number / 2})


@pytest.mark.spark
def test_messages_are_good_or_bad_and_none_is_lost(broker: Broker, make_env: MakeEnvironment) -> None:
    topic = broker.topic(2)
    expected: set[tuple[int, int]] = set()
    for partition in range(2):
        values: list[Any] = []
        for number in range(300):
            if number % 10 == 3:
                values.append('{"id": ')  # malformed
            elif number % 10 == 5:
                values.append('{"id": "five", "price": 1}')  # of the wrong type
            elif number % 10 == 7:
                values.append(json.dumps({"id": 1, "price": 1, "note": "x" * 2000}))  # too large
            else:
                values.append(good(number))
                continue
            expected.add((partition, number))
        broker.send(topic, values, partition, key=b"k", headers=[("from", b"shop")])
    source = orders(broker, topic).set_property("max.record.bytes", 1000).set_dead_letter_output(BAD).build()
    fine, bad = both(make_env(2, **{"headrace__epoch__max-records": 50}), source)
    assert len(fine) == 420
    assert Counter(row.id for row in fine) == Counter(n for n in range(300) if n % 10 not in (3, 5, 7) for _ in "ab")
    assert {(b.place["partition"], b.place["offset"]) for b in bad} == expected
    assert len(bad) == len(expected)
    assert {b.place["topic"] for b in bad} == {topic}
    one = next(b for b in bad if b.place["offset"] == 3)
    assert (one.value, one.key, one.headers) == (b'{"id": ', b"k", [("from", b"shop")])
    assert "not JSON" in one.error
    assert any("has 2" in b.error and "bytes" in b.error for b in bad)


@pytest.mark.spark
@pytest.mark.parametrize("value", ['{"id": ', '{"id": "five", "price": 1}', json.dumps({"id": 1, "note": "x" * 500})])
def test_without_a_dead_letter_output_the_job_fails(broker: Broker, make_env: MakeEnvironment, value: str) -> None:
    topic = broker.topic()
    broker.send(topic, [good(1), good(2), value, good(4)])
    source = orders(broker, topic).set_property("max.record.bytes", 400).build()
    stream = make_env(1).from_source(source, NO_WATERMARKS, "orders")
    with pytest.raises(BadRecordError, match=f"offset 2 of partition 0 of topic '{topic}'"):
        list(stream.execute_and_collect())


class ByKey(KafkaRecordDeserializationSchema):
    def deserialize(self, record: Any) -> Any:
        return record.key().decode(), record.value().decode()


@pytest.mark.spark
def test_messages_without_the_key_that_is_needed(broker: Broker, make_env: MakeEnvironment) -> None:
    topic = broker.topic()
    broker.send(topic, ["a"], key=b"k")
    broker.send(topic, ["b"])
    builder = KafkaSource.builder().set_bootstrap_servers(broker.servers).set_topics(topic).set_deserializer(ByKey())
    builder.set_bounded(KafkaOffsetsInitializer.latest())
    with pytest.raises(BadRecordError, match="offset 1 of partition 0"):
        list(make_env(1).from_source(builder.build(), NO_WATERMARKS, "t").execute_and_collect())
    fine, (bad,) = both(make_env(1), builder.set_dead_letter_output(BAD).build())
    assert fine == [("k", "a")]
    assert (bad.place["offset"], bad.value, bad.key) == (1, b"b", None)
    assert "NoneType" in bad.error


@pytest.mark.spark
def test_dead_letters_that_nobody_takes_fail_the_job(broker: Broker, make_env: MakeEnvironment) -> None:
    topic = broker.topic()
    broker.send(topic, ["{"])
    source = orders(broker, topic).set_dead_letter_output(BAD).build()
    with pytest.raises(BadRecordError, match=r"nobody takes the dead letters(?s:.*)get_side_output"):
        list(make_env(1).from_source(source, NO_WATERMARKS, "orders").execute_and_collect())


@pytest.mark.spark
def test_a_message_too_large_for_the_producer_is_named(broker: Broker, make_env: MakeEnvironment) -> None:
    topic = broker.topic()
    schema = KafkaRecordSerializationSchema.builder().set_topic(topic)
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(broker.servers)
        .set_record_serializer(schema.set_value_serialization_schema(SimpleStringSchema()).build())
        .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .set_property("message.max.bytes", "2000")
        .build()
    )
    env = make_env(1)
    env.from_collection(["x" * 5000], Types.STRING()).sink_to(sink)
    with pytest.raises(JobExecutionError, match=f"message of 5000 bytes could not be written to topic '{topic}'"):
        env.execute()


# -- files -----------------------------------------------------------------------------------------------------------


def json_lines(folder: Path) -> Any:
    return FileSource.for_record_stream_format(JsonReaderFormat.for_type_info(ORDER), str(folder))


def test_lines_are_good_or_bad_and_none_is_lost(make_env: MakeEnvironment, tmp_path: Path) -> None:
    expected = set()
    for name in ("a", "b"):
        lines = []
        for number in range(1, 5001):
            if number % 97 == 0:
                lines.append("{" if number % 2 else '{"id": "x"}')
                expected.add((str(tmp_path / name), number))
            else:
                lines.append(good(number))
        (tmp_path / name).write_text("\n".join(lines))
    source = json_lines(tmp_path).set_dead_letter_output(BAD).build()
    fine, bad = both(make_env(2, **{"headrace__epoch__max-records": 700}), source)
    assert {(b.place["file"], b.place["line"]) for b in bad} == expected
    assert len(bad) == len(expected)
    assert Counter(row.id for row in fine) == Counter(n for n in range(1, 5001) if n % 97 for _ in "ab")
    (tmp_path / "b").unlink()
    with pytest.raises(BadRecordError, match=r"a' cannot be read, line 97: "):
        list(make_env(1).from_source(json_lines(tmp_path).build(), NO_WATERMARKS, "n").execute_and_collect())


def test_rows_of_csv(make_env: MakeEnvironment, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1;2.5\ntwo;3\n3\n4;4.5\n")
    schema = CsvSchema.builder().add_number_column("id").add_string_column("price").set_column_separator(";").build()
    builder = FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), str(tmp_path))
    fine, bad = both(make_env(1), builder.set_dead_letter_output(BAD).build())
    assert [row.id for row in fine] == [1, 4]
    assert [(b.place["row"], b.value) for b in bad] == [(2, ["two", "3"]), (3, ["3"])]


def test_what_cannot_be_asked_for(tmp_path: Path) -> None:
    text = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    with pytest.raises(InvalidProgramError, match="no single records"):
        text.set_dead_letter_output(BAD)
    with pytest.raises(TypeMismatchError, match="takes an OutputTag"):
        json_lines(tmp_path).set_dead_letter_output("bad")
