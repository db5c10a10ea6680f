#!/usr/bin/env python3
"""What looking for patterns costs when nothing is found, and when very much is half found.

    python bench/cep_cost.py [--records 1000000] [--rounds 3]

1. On local Spark with two cores: a keyed process function that only looks at each event, against a pattern of three steps of
   which no event takes the first. Each is timed on n/10 and on n records and the difference counts; they take turns, and the
   least time of each counts.
2. In this process without Spark: the events that one key takes per second while 100, 1,000 and 10,000 partial matches live.
   Each event is compared with every partial match, so ten times as many may cost ten times as much for each event, not more.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from headrace.cep import CEP, Pattern
from headrace.common import Configuration, Duration, Types, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.number_seq import NumberSequenceSource

CORES = 2
KINDS = ("plain", "pattern")


class Own(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[1]  # type: ignore[no-any-return]


class Look(KeyedProcessFunction):
    """Looks at each event and finds nothing."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        if value[1] < 0:
            yield value


def environment(executor: str) -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("spark.master", f"local[{CORES},4]")
    configuration.set_string("headrace.progress", "never")
    configuration.set_string("headrace.executor", executor)
    return StreamExecutionEnvironment.get_execution_environment(configuration)


def looking(kind: str, records: int) -> float:
    """Seconds for so many records in which nothing is found."""
    env = environment("spark").set_parallelism(CORES)
    half = (records + 1) // 2

    def event(i: int) -> tuple[int, int]:
        i %= half
        return i % 1000, i

    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(0)).with_timestamp_assigner(Own())
    keyed = (
        env.from_source(NumberSequenceSource(0, records - 1), WatermarkStrategy.no_watermarks(), "numbers")
        .map(event, output_type=Types.TUPLE([Types.LONG(), Types.LONG()]))
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda value: value[0], key_type=Types.LONG())
    )
    if kind == "plain":
        keyed.process(Look()).print()
    else:
        pattern = Pattern.begin("a").where(lambda e: e[1] < 0).next("b").next("c").within(Duration.of_seconds(10))
        CEP.pattern(keyed, pattern).select(lambda match: match["a"][0]).print()
    started = time.perf_counter()
    env.execute(kind)
    return time.perf_counter() - started


def partial(live: int, more: int) -> float:
    """Seconds per event while so many partial matches of one key live."""

    def run(events: int) -> float:
        env = environment("local").set_parallelism(1)
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Own())
        keyed = (
            env.from_collection([(i < live, i) for i in range(live + events)])
            .assign_timestamps_and_watermarks(strategy)
            .key_by(lambda value: 0, key_type=Types.LONG())
        )
        pattern = Pattern.begin("a").where(lambda e: e[0]).followed_by("b").where(lambda e: e[1] < 0)
        CEP.pattern(keyed, pattern).select(lambda match: match["a"][0]).print()
        started = time.perf_counter()
        env.execute("partial")
        return time.perf_counter() - started

    return (run(more) - run(0)) / more


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    looking("plain", 1000)  # starts Spark
    best = dict.fromkeys(KINDS, float("inf"))
    for _ in range(a.rounds):
        for kind in KINDS:
            small = looking(kind, a.records // 10)
            best[kind] = min(best[kind], looking(kind, a.records) - small)
    rates = {kind: a.records * 0.9 / seconds for kind, seconds in best.items()}
    print(f"plain process function {rates['plain']:,.0f} records/s, pattern that never begins {rates['pattern']:,.0f}")
    print(f"ratio {rates['pattern'] / rates['plain']:.2f} (wanted: at least 0.5)")
    before = None
    for live in (100, 1000, 10_000):
        seconds = min(partial(live, 20_000) for _ in range(a.rounds))
        times = "" if before is None else f", {seconds / before:.1f} times as long (at most 10 wanted)"
        print(f"{live:>6,} partial matches: {seconds * 1e6:,.1f} microseconds per event{times}")
        before = seconds


if __name__ == "__main__":
    main()
