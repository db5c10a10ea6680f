"""Graphs with many edges: on Spark every sink sees exactly what it sees on the local executor, in the same order."""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from headrace.common import Types, WatermarkStrategy
from headrace.datastream import (
    CoProcessFunction,
    DataStream,
    MapFunction,
    OutputTag,
    SinkFunction,
    StreamExecutionEnvironment,
)
from headrace.datastream.state import ValueStateDescriptor
from headrace.driver.job_master import JobMaster
from headrace.testing import EndEpoch, Event, Record, WatermarkTo, event_source

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.spark

Seen = dict[str, dict[int, list[Any]]]


class Lines(SinkFunction):
    """Writes records as lines of JSON, a file per subtask."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = str(folder / name)

    def open(self, runtime_context: Any) -> None:
        self.file = open(f"{self.path}.{runtime_context.get_index_of_this_subtask()}", "a")

    def invoke(self, value: Any, context: Any) -> None:
        self.file.write(json.dumps(value) + "\n")

    def close(self) -> None:
        self.file.close()


def written(folder: Path) -> Seen:
    seen: Seen = defaultdict(dict)
    for path in folder.iterdir():
        name, subtask = path.name.rsplit(".", 1)
        lines = path.read_text().splitlines()
        if lines:
            seen[name][int(subtask)] = [json.loads(line) for line in lines]
    return dict(seen)


class At(MapFunction):
    """Appends the index of the subtask."""

    def open(self, runtime_context: Any) -> None:
        self.subtask = runtime_context.get_index_of_this_subtask()

    def map(self, value: Any) -> Any:
        return [*value, self.subtask]


def events(first: int, epochs: int, per_epoch: int) -> list[Event]:
    """Numbers with their own value as timestamp, and a watermark in the middle of each epoch."""
    found: list[Event] = []
    for epoch in range(epochs):
        start = first + epoch * per_epoch
        found += [Record([n], n) for n in range(start, start + per_epoch // 2)]
        found.append(WatermarkTo(start + per_epoch // 4))
        found += [Record([n], n) for n in range(start + per_epoch // 2, start + per_epoch)]
        found.append(EndEpoch())
    return found


# ------------------------------------------------------------------ a diamond


class CountPerKey(MapFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        return [value[0] % 5, value[0], self.count.value()]


BIG = OutputTag("big")


class Meet(CoProcessFunction):
    def process_element1(self, value: Any, ctx: Any) -> Any:
        yield ["counted", *value]
        if value[1] % 3 == 0:
            yield BIG, ["big", *value]

    def process_element2(self, value: Any, ctx: Any) -> Any:
        yield ["plain", *value]


def diamond(env: StreamExecutionEnvironment, folder: Path) -> None:
    """Two sources, three sinks, and exchanges of five kinds: by key, rebalance, by key on both inputs, global, rescale."""
    none = WatermarkStrategy.no_watermarks()
    left = env.from_source(event_source(events(0, 6, 20), events(1000, 6, 20)), none, "left")
    right = env.from_source(event_source(events(5000, 4, 30)), none, "right")
    counted = left.key_by(lambda v: v[0] % 5).map(CountPerKey()).name("count")
    plain = right.rebalance().map(lambda v: [v[0] % 5, v[0]]).set_parallelism(3).name("plain")
    met = counted.connect(plain).key_by(lambda v: v[0], lambda v: v[0]).process(Meet()).set_parallelism(3)
    met.add_sink(Lines(folder, "met")).name("met")
    met.get_side_output(BIG).global_().map(lambda v: v).set_parallelism(1).add_sink(Lines(folder, "big")).name(
        "big"
    ).set_parallelism(1)
    counted.union(plain.rescale().map(lambda v: [*v, 0])).add_sink(Lines(folder, "all")).name("all")


def run_on(make_env: Any, executor: str, build: Any, folder: Path) -> tuple[Seen, JobMaster]:
    folder.mkdir()
    env = make_env(2, executor)
    build(env, folder)
    job = env.submit()
    job.wait()
    return written(folder), job


def test_a_diamond_gives_the_same_on_both_executors(make_env, tmp_path):
    local, _ = run_on(make_env, "local", diamond, tmp_path / "local")
    spark, _ = run_on(make_env, "spark", diamond, tmp_path / "spark")
    assert set(local) == {"met", "big", "all"}
    for sink in local:
        assert as_multiset(spark[sink]) == as_multiset(local[sink])
    assert spark == local
    assert sum(map(len, spark["met"].values())) == 2 * 120 + 120
    assert set(spark["big"]) == {0}
    for numbers in by_key(spark["all"]).values():
        counts = [count for _, _, count in numbers if count]
        assert counts == sorted(counts)


def as_multiset(subtasks: dict[int, list[Any]]) -> Counter[str]:
    return Counter(json.dumps(line) for lines in subtasks.values() for line in lines)


def by_key(subtasks: dict[int, list[Any]]) -> dict[int, list[Any]]:
    keyed: dict[int, list[Any]] = defaultdict(list)
    for lines in subtasks.values():
        for line in lines:
            keyed[line[0]].append(line)
    return keyed


# ------------------------------------------------------------------ all partitioners

UP = 2
CHANGES = {
    "rebalance-3": (3, lambda s: s.rebalance()),
    "rescale-4": (4, lambda s: s.rescale()),
    "rescale-1": (1, lambda s: s.rescale()),
    "rescale-3": (3, lambda s: s.rescale()),
    "shuffle-3": (3, lambda s: s.shuffle()),
    "broadcast-3": (3, lambda s: s.broadcast()),
    "global-3": (3, lambda s: s.global_()),
    "custom-3": (3, lambda s: s.partition_custom(lambda key, n: key % n, lambda v: v[0] // 2)),
    "key-3": (3, lambda s: s.key_by(lambda v: v[0] % 11)),
}


def partitioned(env: StreamExecutionEnvironment, folder: Path) -> None:
    lists = [events(0, 3, 20), events(100, 3, 20)]
    source = env.from_source(event_source(*lists), WatermarkStrategy.no_watermarks(), "numbers")
    first = source.map(At())

    def ending(stream: DataStream, name: str, parallelism: int) -> None:
        stream.map(At()).set_parallelism(parallelism).add_sink(Lines(folder, name)).set_parallelism(parallelism)

    for name, (parallelism, partition) in CHANGES.items():
        ending(partition(first), name, parallelism)
    forwarded = first.forward().map(At()).disable_chaining()
    forwarded.add_sink(Lines(folder, "forward-2"))
    # Down again: four to two, where neighbours meet.
    wide = first.rescale().map(At()).set_parallelism(4)
    ending(wide.rescale(), "down-2", 2)


def test_all_partitioners_reach_the_right_subtasks(make_env, tmp_path):
    local, _ = run_on(make_env, "local", partitioned, tmp_path / "local")
    spark, job = run_on(make_env, "spark", partitioned, tmp_path / "spark")
    assert spark == local
    assert max(level["partitions"] for level in levels(job)) > 2, "more subtasks than slots"

    numbers = sorted([*range(60), *range(100, 160)])
    for name, subtasks in spark.items():
        parallelism = int(name[-1])
        arrived = sorted(line[0] for lines in subtasks.values() for line in lines)
        assert arrived == (sorted(numbers * 3) if name == "broadcast-3" else numbers), name
        assert all(line[-1] == subtask for subtask, lines in subtasks.items() for line in lines), name
        assert set(subtasks) == ({0} if name == "global-3" else set(range(parallelism))), name

    assert pairs(spark["forward-2"]) == {(0, 0), (1, 1)}
    assert pairs(spark["rescale-4"]) == {(0, 0), (0, 1), (1, 2), (1, 3)}
    assert pairs(spark["rescale-1"]) == {(0, 0), (1, 0)}
    assert pairs(spark["rescale-3"]) == {(0, 0), (0, 1), (1, 2)}
    assert {line[-2:][0] // 2 == line[-1] for lines in spark["down-2"].values() for line in lines} == {True}
    assert pairs(spark["broadcast-3"]) == {(up, down) for up in range(UP) for down in range(3)}
    for subtask, lines in spark["custom-3"].items():
        assert all(line[0] // 2 % 3 == subtask for line in lines)
    homes = {(line[0] % 11, subtask) for subtask, lines in spark["key-3"].items() for line in lines}
    assert len(homes) == 11
    sizes = [len(lines) for lines in spark["rebalance-3"].values()]
    assert max(sizes) - min(sizes) <= 2


def pairs(subtasks: dict[int, list[Any]]) -> set[tuple[int, int]]:
    """Which subtask was reached from which."""
    return {(line[-2], line[-1]) for lines in subtasks.values() for line in lines}


def levels(job: JobMaster) -> list[dict[str, int]]:
    return [{"partitions": level.partitions} for level in job._parts.executor._spec.plan.levels]
