"""A program for `test_memory`: an unbounded job with state and timers; samples the memory of all its processes.

    python steady_job.py SECONDS    prints a JSON list of samples, in kilobytes

Run by itself it shows what it sees: `python steady_job.py 60 show`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import psutil

from headrace.common import Configuration, Types, WatermarkStrategy
from headrace.connectors.generated.datagen import DataGenerator
from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from headrace.datastream.state import ListStateDescriptor, ValueStateDescriptor

KEYS = 500
RATE = 5000


class Counts(KeyedProcessFunction):
    """A count for ever, a list that a timer empties."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.recent = runtime_context.get_list_state(ListStateDescriptor("recent", Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> None:
        self.count.update((self.count.value() or 0) + 1)
        self.recent.add(value)
        timers = ctx.timer_service()
        now = timers.current_processing_time()
        timers.register_processing_time_timer(now - now % 500 + 500)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), self.count.value(), len(list(self.recent.get()))
        self.recent.clear()


def main(seconds: float, show: bool) -> None:
    configuration = Configuration()
    configuration.set_string("spark.master", "local[2,4]")
    configuration.set_string("spark.driver.memory", "512m")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    source = DataGenerator(lambda index: index, records_per_second=RATE)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    numbers.key_by(lambda n: n * 7919 % KEYS).process(Counts()).filter(lambda row: False).print()
    client = env.execute_async("steady")
    while not client.last_epoch:
        time.sleep(0.1)
    begun = time.monotonic()
    samples = []
    while time.monotonic() - begun < seconds:
        time.sleep(0.5)
        samples.append(
            {"at": round(time.monotonic() - begun, 1), "epoch": client.last_epoch["epochId"], **sizes(client)}
        )
        if show and len(samples) % 10 == 0:
            print(samples[-1], file=sys.stderr)
    client.cancel().result()
    print(json.dumps(samples))


def sizes(client: Any) -> dict[str, int]:
    found = {"driver": psutil.Process().memory_info().rss >> 10, "jvm": 0, "workers": 0, "slots": 0}
    for process in psutil.Process().children(recursive=True):
        try:
            command = " ".join(process.cmdline())
            kind = "slots" if "headrace.worker.slot.process" in command else "jvm" if "-Xmx" in command else "workers"
            found[kind] += process.memory_info().rss >> 10
        except psutil.Error:
            continue
    folder = client._handle._parts.job.folder.path
    found["state"] = sum(entry.stat().st_size for entry in os.scandir(folder)) >> 10
    return found


if __name__ == "__main__":
    main(float(sys.argv[1]), "show" in sys.argv)
