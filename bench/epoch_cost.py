"""What an epoch costs apart from its records, on local Spark with two cores, everything timed in one run.

    python bench/epoch_cost.py [--rounds 3] [--epochs 40] [--keys 1000000]

1. A nearly empty headrace epoch with one exchange against a bare PySpark job of the same shape: two stages of two tasks, a
   few bytes through one shuffle, the result collected. They take turns, so that both see the same machine.
2. An epoch that touches 10,000 keys of a keyed state, with 1,000,000 keys in it and with those 10,000 alone.

Times are medians over all epochs (jobs) of a kind, the first few left out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Any

from headrace.common import Configuration, Types, WatermarkStrategy
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import Batch, ReaderContext, SplitReader
from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from headrace.datastream.state import ValueStateDescriptor

CORES = 2
WARM = 5
TOUCHED = 10_000


@dataclass(frozen=True)
class Waves(Source):
    """Numbers in waves, a wave per epoch: first all below `first`, then `epochs` times `touched` of them; per subtask."""

    first: int
    touched: int
    epochs: int
    bounded: bool = True

    def splits(self, parallelism: int) -> list[Split]:
        return [Split(str(i), (i, parallelism)) for i in range(parallelism)]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return _WaveReader(self, *split.payload, position or (0, 0))


class _WaveReader(SplitReader):
    def __init__(self, waves: Waves, index: int, parallelism: int, position: tuple[int, int]) -> None:
        self._waves, self._index, self._step = waves, index, parallelism
        self._wave, self._next = position

    def read(self, limit: int, now: int) -> Batch:
        size = (self._waves.first if self._wave == 0 else self._waves.touched) // self._step
        if self._next >= size:
            self._wave, self._next = self._wave + 1, 0
            self.finished = self._wave > self._waves.epochs
            return Batch([], pause=True)
        # Wave n touches a stretch of the keys that begins elsewhere each time.
        start = 0 if self._wave == 0 else self._wave * 7919
        begin, self._next = self._next, min(self._next + limit, size)
        keys = max(self._waves.first, 1)
        return Batch([((start + i) * self._step + self._index) % keys for i in range(begin, self._next)])

    def position(self) -> tuple[int, int]:
        return self._wave, self._next


def environment() -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("spark.master", f"local[{CORES},4]")
    configuration.set_string("headrace.epoch.first-records", "1000000")
    configuration.set_string("headrace.epoch.bounded-target-ms", "60000")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(CORES)
    return env


def epoch_times(env: StreamExecutionEnvironment) -> list[float]:
    """Runs the program of `env`; the milliseconds of every epoch but the first, which loads state and starts processes."""
    client = env.execute_async("epoch cost")
    result = client.get_job_execution_result()
    times: dict[int, float] = {}
    while not result.done():
        seen = client.last_epoch
        if seen:
            times[seen["epochId"]] = seen["durationMs"]["epoch"]
        time.sleep(0.004)
    result.result()
    return [ms for epoch, ms in sorted(times.items()) if epoch > WARM]


def empty_epochs(epochs: int) -> list[float]:
    env = environment()
    numbers = env.from_source(Waves(0, CORES, epochs + WARM), WatermarkStrategy.no_watermarks(), "waves", Types.LONG())
    numbers.key_by(lambda v: v, Types.LONG()).map(lambda v: v, Types.LONG()).filter(lambda v: False).print()
    return epoch_times(env)


def bare_jobs(jobs: int) -> list[float]:
    from headrace.spark.context import spark_context

    context = spark_context(None, {"spark.master": f"local[{CORES},4]"})

    def first(index: int, nothing: Any) -> list[tuple[int, bytes]]:
        list(nothing)  # Spark uses a Python worker again only if it has read its input to the end
        return [(target, b"x" * 200) for target in range(CORES)]

    def second(index: int, pairs: Any) -> list[bytes]:
        return [b"y" * 200 for _ in pairs]

    times = []
    for _ in range(jobs + WARM):
        begun = time.perf_counter()
        source = context.parallelize([], CORES).mapPartitionsWithIndex(first)
        source.partitionBy(CORES, lambda target: target).mapPartitionsWithIndex(second).collect()
        times.append((time.perf_counter() - begun) * 1000)
    return times[WARM:]


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield from ()


def state_epochs(keys: int, epochs: int) -> list[float]:
    env = environment()
    waves = Waves(keys, TOUCHED, epochs + WARM)
    numbers = env.from_source(waves, WatermarkStrategy.no_watermarks(), "waves", Types.LONG())
    numbers.key_by(lambda v: v, Types.LONG()).process(Count(), Types.LONG()).print()
    return epoch_times(env)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--check", action="store_true", help="exit code 1 if a ratio is above its bound")
    arguments = parser.parse_args()

    empty_epochs(5), bare_jobs(5)
    ours: list[float] = []
    bare: list[float] = []
    few: list[float] = []
    many: list[float] = []
    for _ in range(arguments.rounds):
        ours += empty_epochs(arguments.epochs)
        bare += bare_jobs(arguments.epochs)
    for _ in range(arguments.rounds):
        few += state_epochs(TOUCHED, arguments.epochs // 2)
        many += state_epochs(arguments.keys, arguments.epochs // 2)
    result = {
        "empty_epoch_ms": statistics.median(ours),
        "bare_job_ms": statistics.median(bare),
        "empty_ratio": statistics.median(ours) / statistics.median(bare),
        "keys": arguments.keys,
        "epoch_with_many_keys_ms": statistics.median(many),
        "epoch_with_few_keys_ms": statistics.median(few),
        "keys_ratio": statistics.median(many) / statistics.median(few),
        "samples": [len(ours), len(bare), len(many), len(few)],
        "load": os.getloadavg()[0],
    }
    print(json.dumps({k: round(v, 2) if isinstance(v, float) else v for k, v in result.items()}, indent=2))
    if arguments.check and (result["empty_ratio"] > 1.5 or result["keys_ratio"] > 2):
        sys.exit(1)


if __name__ == "__main__":
    main()
