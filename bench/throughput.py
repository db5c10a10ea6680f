#!/usr/bin/env python3
"""Throughput of headrace on Spark local against a hand-written loop on one core, on three small workloads.

    python bench/throughput.py [--records 1000000] [--parallelism 2] [--workload reduce]

Every workload runs on n/10 and on n records in one process; the rate is the marginal one (the difference of both), so that
starting up cancels out. Count and checksum of the output are compared with the loop's. Machines are noisy: read the ratio.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from headrace.common import Configuration, Types, WatermarkStrategy
from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import FileSource, StreamFormat
from headrace.datastream.functions import KeyedProcessFunction, RuntimeContext, SinkFunction
from headrace.datastream.state import ValueStateDescriptor

KEYS = 1000
Pair = tuple[int, int]


class Tally(SinkFunction):
    """Counts and hashes rows; leaves its totals in a folder when it is closed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.count = self.total = 0

    def invoke(self, value: Any, context: Any) -> None:
        self.count += 1
        self.total += (value[0] * 1_000_003 + value[1]) % 2_147_483_647

    def close(self) -> None:
        Path(self.folder, uuid.uuid4().hex).write_text(json.dumps([self.count, self.total]))


class CountAndMax(KeyedProcessFunction):
    """Keeps (count, max) of a key in value state."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.state = runtime_context.get_state(ValueStateDescriptor("count_max", pair()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        count, top = self.state.value() or (0, 0)
        count, top = count + 1, max(top, value[1])
        self.state.update((count, top))
        yield value[0], count * 100 + top


def pair() -> Any:
    return Types.TUPLE([Types.LONG(), Types.LONG()])


def parse(line: str) -> Pair:
    parsed = json.loads(line)
    return parsed["key"], parsed["value"]


def stateless(lines: DataStream) -> DataStream:
    kept = lines.map(json.loads).filter(lambda r: r["kind"] == "a")
    return kept.map(lambda r: (r["key"], r["value"]), output_type=pair())


def stateless_loop(lines: Iterable[str]) -> Iterator[Pair]:
    for line in lines:
        r = json.loads(line)
        if r["kind"] == "a":
            yield r["key"], r["value"]


def reduce(lines: DataStream) -> DataStream:
    keyed = lines.map(parse, output_type=pair()).key_by(lambda r: r[0], key_type=Types.LONG())
    return keyed.reduce(lambda a, b: (a[0], a[1] + b[1]))


def reduce_loop(lines: Iterable[str]) -> Iterator[Pair]:
    sums: dict[int, int] = {}
    for line in lines:
        key, value = parse(line)
        sums[key] = total = sums.get(key, 0) + value
        yield key, total


def state(lines: DataStream) -> DataStream:
    keyed = lines.map(parse, output_type=pair()).key_by(lambda r: r[0], key_type=Types.LONG())
    return keyed.process(CountAndMax(), output_type=pair())


def state_loop(lines: Iterable[str]) -> Iterator[Pair]:
    states: dict[int, Pair] = {}
    for line in lines:
        key, value = parse(line)
        count, top = states.get(key, (0, 0))
        count, top = count + 1, max(top, value)
        states[key] = count, top
        yield key, count * 100 + top


Loop = Callable[[Iterable[str]], Iterator[Pair]]
WORKLOADS: dict[str, tuple[Callable[[DataStream], DataStream], Loop]] = {
    "stateless": (stateless, stateless_loop),
    "reduce": (reduce, reduce_loop),
    "state": (state, state_loop),
}


def write_input(folder: Path, records: int, parts: int) -> list[Path]:
    """One file per part; a key is always in the same part, so that its order is defined."""
    paths = [folder / f"part-{p}.jsonl" for p in range(parts)]
    files = [path.open("w") for path in paths]
    for i in range(records):
        key = i * 7919 % KEYS
        line = {"key": key, "value": i % 97, "kind": "ab"[i // 7 % 2], "text": "x" * 40}
        files[key % parts].write(json.dumps(line) + "\n")
    for file in files:
        file.close()
    return paths


def run_headrace(name: str, paths: list[Path], parallelism: int) -> tuple[float, list[int]]:
    """Seconds from submission to the end of the job, and (count, checksum) of its output."""
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    env.set_parallelism(parallelism)
    sources = []
    for path in paths:
        source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(path)).build()
        sources.append(env.from_source(source, WatermarkStrategy.no_watermarks(), path.name).set_parallelism(1))
    with tempfile.TemporaryDirectory() as folder:
        WORKLOADS[name][0](sources[0].union(*sources[1:])).add_sink(Tally(folder))
        started = time.perf_counter()
        env.execute(name)
        seconds = time.perf_counter() - started
        tallies = [json.loads(path.read_text()) for path in Path(folder).iterdir()]
    return seconds, [sum(t[0] for t in tallies), sum(t[1] for t in tallies)]


def run_loop(name: str, paths: list[Path]) -> tuple[float, list[int]]:
    """The same by hand, on one core."""
    started = time.perf_counter()
    count = total = 0
    for path in paths:
        with path.open() as lines:
            for a, b in WORKLOADS[name][1](lines):
                count += 1
                total += (a * 1_000_003 + b) % 2_147_483_647
    return time.perf_counter() - started, [count, total]


def measure(name: str, records: int, parallelism: int) -> None:
    """Runs one workload and prints a line; ends the process if the output is wrong."""
    times = []
    for n in (records // 10, records):
        with tempfile.TemporaryDirectory() as folder:
            paths = write_input(Path(folder), n, parallelism)
            loop_seconds, expected = run_loop(name, paths)
            seconds, found = run_headrace(name, paths, parallelism)
        if found != expected:
            sys.exit(f"{name}: WRONG output for {n} records: {found}, expected {expected}")
        times.append((seconds, loop_seconds))
    rate = (records - records // 10) / max(times[1][0] - times[0][0], 1e-3)
    loop_rate = records / times[1][1]
    print(
        f"{name}: {rate:,.0f} records/s, {rate / loop_rate:.2f} times a loop on one core ({loop_rate:,.0f}), output ok"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--parallelism", type=int, default=2)
    parser.add_argument("--workload", choices=sorted(WORKLOADS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run_headrace("stateless", write_input(Path(folder), 100, 1), 1)  # starts Spark
    for name in [arguments.workload] if arguments.workload else WORKLOADS:
        measure(name, arguments.records, arguments.parallelism)


if __name__ == "__main__":
    main()
