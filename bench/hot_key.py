#!/usr/bin/env python3
"""Does one key with 90 % of the data decide how long windows take? With and without combining before the exchange.

    python bench/hot_key.py [--records 2000000] [--rounds 2]

Numbers go through tumbling windows with an aggregate function, once with 1,000 keys of equal size and once with one key that
has nine of ten records; each with `headrace.windows.pre-aggregate` on and off. A run is timed on n/10 and on n records, and
the difference counts, so that starting up cancels out. The four kinds take turns; the least time of each kind counts. Read the
ratios: hot to equal is what the hot key costs. `busiest` is what the busier of the two subtasks behind the exchange had to do:
its share of all records that were sent, and its seconds. The sums of all results are compared.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass
from typing import Any

from headrace.common import Configuration, Duration, Time, Types, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import AggregateFunction, FlatMapFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.window import TumblingEventTimeWindows

CORES = 2
KINDS = [(hot, on) for hot in (False, True) for on in (True, False)]


class Own(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[1]  # type: ignore[no-any-return]


class Statistics(AggregateFunction):
    """Count, sum, sums of powers, and a histogram by magnitude: some microseconds for each record."""

    def create_accumulator(self) -> Any:
        return [0, 0, 0, 0, 0, [0] * 64]

    def add(self, value: Any, accumulator: Any) -> Any:
        n = power = value[1]
        accumulator[0] += 1
        for i in range(1, 5):
            accumulator[i] += power
            power = power * n & 0xFFFFFFFF
        accumulator[5][n.bit_length()] += 1
        return accumulator

    def get_result(self, accumulator: Any) -> Any:
        return accumulator[0], accumulator[1]

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        histogram = [a + b for a, b in zip(acc_a[5], acc_b[5])]
        return [*(a + b for a, b in zip(acc_a[:5], acc_b[:5])), histogram]


class Tally(FlatMapFunction):
    """Adds the results up in accumulators."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_long_counter("count")
        self.total = runtime_context.get_long_counter("total")

    def flat_map(self, value: Any) -> Any:
        self.count.add(value[0])
        self.total.add(value[1])
        return ()


@dataclass
class Measured:
    """One run."""

    seconds: float
    count: int
    total: int
    records: dict[int, int]
    busy: dict[int, float]
    """Records received and seconds of work behind the exchange, by subtask."""


def run(records: int, hot: bool, on: bool) -> Measured:
    """Runs one kind on so many records."""
    configuration = Configuration()
    configuration.set_string("spark.master", f"local[{CORES},4]")
    configuration.set_string("headrace.progress", "never")
    configuration.set_boolean("headrace.windows.pre-aggregate", on)
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(CORES)
    half = (records + 1) // 2  # each subtask has one half of the numbers: both shall have the same event time

    def event(i: int) -> tuple[int, int]:
        i %= half
        return (0 if hot and i % 10 else i % 1000), i

    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(Own())
    source = env.from_source(NumberSequenceSource(0, records - 1), WatermarkStrategy.no_watermarks(), "numbers")
    results = (
        source.map(event, output_type=Types.TUPLE([Types.LONG(), Types.LONG()]))
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda value: value[0], key_type=Types.LONG())
        .window(TumblingEventTimeWindows.of(Time.seconds(50)))
        .aggregate(Statistics())
        .name("windows")
    )
    results.flat_map(Tally()).print()
    started = time.perf_counter()
    client = env.execute_async("hot key")
    result = client.get_job_execution_result()
    epochs: dict[int, list[dict[str, Any]]] = {}
    while not result.done():
        seen = client.last_epoch
        if seen:
            epochs[seen["epochId"]] = [v for v in seen["vertices"] if v["name"].startswith("windows")]
        time.sleep(0.004)
    sums = result.result()
    seconds = time.perf_counter() - started
    measured = Measured(seconds, sums.get_accumulator_result("count"), sums.get_accumulator_result("total"), {}, {})
    for vertices in epochs.values():
        for v in vertices:
            measured.records[v["subtask"]] = measured.records.get(v["subtask"], 0) + v["recordsIn"]
            measured.busy[v["subtask"]] = measured.busy.get(v["subtask"], 0.0) + v["busyMs"] / 1000
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    n = arguments.records
    half = (n + 1) // 2
    expected = (n, half * (half - 1) // 2 + (n - half) * (n - half - 1) // 2)
    run(1000, False, True)  # starts Spark
    best: dict[tuple[bool, bool], float] = {}
    last: dict[tuple[bool, bool], Measured] = {}
    for _ in range(arguments.rounds):
        for kind in KINDS:
            small = run(n // 10, *kind)
            large = last[kind] = run(n, *kind)
            if (large.count, large.total) != expected:
                sys.exit(f"wrong output: {large}")
            best[kind] = min(best.get(kind, large.seconds), large.seconds - small.seconds)
    for hot, on in KINDS:
        one = last[hot, on]
        share = max(one.records.values()) / sum(one.records.values())
        print(
            f"{'one hot key' if hot else 'equal keys':12} pre-aggregate {'on' if on else 'off':4}"
            f"{best[hot, on]:6.2f} s   sent {sum(one.records.values()):8}   "
            f"busiest: {share:4.0%} of them, {max(one.busy.values()):5.2f} s"
        )
    print(
        f"hot to equal: on {best[True, True] / best[False, True]:.2f}, off {best[True, False] / best[False, False]:.2f}"
    )


if __name__ == "__main__":
    main()
