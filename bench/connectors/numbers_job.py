"""Numbers into a filter at parallelism 2: `python numbers_job.py KIND COUNT` prints records per second."""

from __future__ import annotations

import sys
import time
from typing import Any

from headrace.common import Configuration, WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.datagen import DataGeneratorSource
from headrace.datastream.connectors.number_seq import NumberSequenceSource


def source(kind: str, count: int) -> Any:
    if kind == "sequence":
        return NumberSequenceSource(1, count)
    if kind == "generator":
        return DataGeneratorSource(lambda index: index, count)
    return DataGeneratorSource(lambda index: index, count, 1_000_000)


def main(kind: str, count: int) -> None:
    configuration = Configuration().set_string("headrace.progress", "never")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
    numbers = env.from_source(source(kind, count), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.filter(lambda number: number < 0).print()
    client = env.execute_async()
    first = last = (0.0, 0)
    while not client.get_job_status().result().is_terminal_state():
        seen = client.last_epoch.get("totalInputRows", 0)
        if seen > last[1]:
            last = (time.perf_counter(), seen)
            first = first if first[1] else last
        time.sleep(0.005)
    client.get_job_execution_result().result()
    print((last[1] - first[1]) / (last[0] - first[0]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
