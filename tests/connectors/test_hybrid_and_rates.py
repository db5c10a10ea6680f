"""HybridSource (files, then Kafka) and sources at a limited rate."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.common import WatermarkStrategy
from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.common.serialization import SimpleStringSchema
from headrace.common.time import Duration
from headrace.connectors.base.rate_limit import RateLimiterStrategy
from headrace.datastream import RuntimeExecutionMode, SourceFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource
from headrace.datastream.connectors.file_system import FileSource, StreamFormat
from headrace.datastream.connectors.hybrid_source import HybridSource
from headrace.datastream.connectors.kafka import KafkaOffsetsInitializer, KafkaSource, KafkaSourceBuilder
from headrace.datastream.connectors.number_seq import NumberSequenceSource

if TYPE_CHECKING:
    from kafka_kit.broker import Broker

MakeEnvironment = Callable[..., StreamExecutionEnvironment]
NO_WATERMARKS = WatermarkStrategy.no_watermarks()


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as results:
        return list(results)


def lines(folder: Path) -> FileSource:
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(folder)).build()


# -- one after the other ---------------------------------------------------------------------------------------------


def messages(broker: Broker, topic: str) -> KafkaSourceBuilder:
    return (
        KafkaSource.builder()
        .set_bootstrap_servers(broker.servers)
        .set_topics(topic)
        .set_value_only_deserializer(SimpleStringSchema())
    )


@pytest.mark.spark
def test_files_then_kafka_through_a_failure(broker: Broker, make_env: MakeEnvironment, tmp_path: Path) -> None:
    topic = broker.topic(2)
    for partition in range(2):
        broker.send(topic, [str(n) for n in range(1000 + partition, 2000, 2)], partition)
    (tmp_path / "in").mkdir()
    for file in range(4):
        (tmp_path / "in" / f"{file}.txt").write_text("".join(f"{n}\n" for n in range(file, 1000, 4)))
    armed = tmp_path / "armed"

    def fails_at(number: int) -> Callable[[str], str]:
        marker = str(armed) + str(number)
        Path(marker).touch()

        def check(text: str) -> str:
            import os

            if int(text) == number and os.path.exists(marker):
                os.unlink(marker)
                raise RuntimeError("once")
            return text

        return check

    env = make_env(
        2,
        execution__checkpointing__interval="20 ms",
        **{"headrace__epoch__max-records": 200, "restart-strategy__type": "fixed-delay"},
        **{"restart-strategy__fixed-delay__delay": "10 ms", "restart-strategy__fixed-delay__attempts": 5},
    )
    kafka = messages(broker, topic).set_bounded(KafkaOffsetsInitializer.latest()).build()
    source = HybridSource.builder(lines(tmp_path / "in")).add_source(kafka).build()
    stream = env.from_source(source, NO_WATERMARKS, "past and present")
    results = collected(stream.map(fails_at(500)).map(fails_at(1500)))
    assert Counter(map(int, results)) == Counter(range(2000))
    assert not list(tmp_path.glob("armed*")), "it has failed in both sources"
    seen = [int(text) >= 1000 for text in results]
    assert seen == sorted(seen), "no message before the last line"


@pytest.mark.spark
def test_offsets_are_found_at_the_switch(broker: Broker, make_env: MakeEnvironment, tmp_path: Path) -> None:
    topic = broker.topic()
    broker.send(topic, ["too early"])
    (tmp_path / "a.txt").write_text("past\n")
    latest = messages(broker, topic).set_starting_offsets(KafkaOffsetsInitializer.latest())
    source = HybridSource.builder(lines(tmp_path)).add_source(latest.set_group_id("switch").build()).build()
    env = make_env(1, execution__checkpointing__interval="20 ms")
    with env.from_source(source, NO_WATERMARKS, "both").execute_and_collect() as results:
        assert next(results) == "past"
        deadline = time.monotonic() + 30
        while broker.committed("switch", topic) != [1]:  # the switch has been made, and committed
            assert time.monotonic() < deadline
            time.sleep(0.05)
        broker.send(topic, ["present"])
        assert next(results) == "present"


def test_sources_without_splits_are_passed_over(make_env: MakeEnvironment, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "last").mkdir()
    (tmp_path / "last" / "a.txt").write_text("x\n")
    empty = lines(tmp_path / "empty")
    source = HybridSource.builder(empty).add_source(empty).add_source(lines(tmp_path / "last")).build()
    assert collected(make_env(2).from_source(source, NO_WATERMARKS, "n")) == ["x"]
    numbers = HybridSource.builder(NumberSequenceSource(1, 1)).add_source(NumberSequenceSource(2, 9))
    assert sorted(collected(make_env(3).from_source(numbers.build(), NO_WATERMARKS, "n"))) == list(range(1, 10))


def test_bounded_sources_in_batch_mode(make_env: Any) -> None:
    parts = [NumberSequenceSource(first, first + 9) for first in (1, 11, 21)]
    source = HybridSource.builder(parts[0]).add_source(parts[1]).add_source(parts[2]).build()
    env = make_env(2)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").map(lambda n: (n % 3, n))
    sums = numbers.key_by(lambda pair: pair[0]).reduce(lambda one, other: (one[0], one[1] + other[1]))
    with sums.execute_and_collect() as results:
        assert sorted(results) == [(0, 165), (1, 145), (2, 155)]


def test_what_a_hybrid_source_refuses() -> None:
    endless = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/tmp")
    forever = endless.monitor_continuously(Duration.of_seconds(1)).build()
    with pytest.raises(InvalidProgramError, match="except the last must be bounded"):
        HybridSource.builder(forever).add_source(NumberSequenceSource(1, 2)).build()
    assert not HybridSource.builder(NumberSequenceSource(1, 2)).add_source(forever).build().get_definition().may_finish
    with pytest.raises(TypeMismatchError, match="made of sources"):
        HybridSource.builder([1, 2])  # type: ignore[arg-type]


# -- rates -----------------------------------------------------------------------------------------------------------


class Numbers(SourceFunction):
    def run(self, ctx: Any) -> None:
        for number in range(300):
            ctx.collect(number)

    def cancel(self) -> None:
        pass


def limited(env: StreamExecutionEnvironment, kind: str, folder: Path) -> Any:
    if kind == "collection":
        return env.from_collection(list(range(300)))
    if kind == "function":
        return env.add_source(Numbers())
    if kind == "files":
        for part in range(3):
            (folder / f"{part}.txt").write_text("".join(f"{n}\n" for n in range(part * 100, part * 100 + 100)))
        return env.from_source(lines(folder), NO_WATERMARKS, "files")
    return env.from_sequence(0, 299)


@pytest.mark.parametrize("kind", ["collection", "function", "files", "sequence"])
def test_every_source_keeps_to_its_rate(kind: str, make_env: MakeEnvironment, tmp_path: Path) -> None:
    env = make_env(2)
    stream = limited(env, kind, tmp_path).limit_rate(400)
    started = time.monotonic()
    results = collected(stream.map(int))
    seconds = time.monotonic() - started
    assert sorted(results) == list(range(300))
    # A subtask gives one record at once and then 200 a second; where only one subtask reads, it has half of the rate.
    least = (300 / 2 - 1) / 200 if kind in ("files", "sequence") else 299 / 400
    assert seconds >= least * 0.9
    assert seconds < 15


def test_records_in_each_checkpoint(make_env: MakeEnvironment) -> None:
    env = make_env(2, execution__checkpointing__interval="100 ms")
    stream = env.from_sequence(1, 60).limit_rate(RateLimiterStrategy.per_checkpoint(20))
    started = time.monotonic()
    assert sorted(collected(stream)) == list(range(1, 61))
    assert time.monotonic() - started >= 0.2, "two checkpoints were needed after the first twenty"


def test_rates_that_are_none(make_env: MakeEnvironment) -> None:
    env = make_env(1)
    assert collected(env.from_sequence(1, 3).limit_rate(RateLimiterStrategy.no_op())) == [1, 2, 3]
    for rate in (0, -1, "fast", True):
        with pytest.raises(InvalidProgramError, match="A rate is more than zero"):
            env.from_sequence(1, 3).limit_rate(rate)
    with pytest.raises(InvalidProgramError, match="Only a source has a rate"):
        env.from_sequence(1, 3).map(str).limit_rate(5)


def test_a_generator_at_a_high_rate(make_env: MakeEnvironment) -> None:
    rate, count = 400_000, 400_000
    source = DataGeneratorSource(lambda index: index, count, records_per_second=rate)
    stream = make_env(2).from_source(source, NO_WATERMARKS, "numbers")
    counts = stream.filter(lambda n: n % 1000 == 0)
    started = time.monotonic()
    assert len(collected(counts)) == 400
    assert time.monotonic() - started >= 0.9 * count / rate
