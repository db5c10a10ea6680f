"""A program that cancels its job in the midst of a record; close() never comes back: `python hanging_job.py FOLDER`.

A process of its own, so that all that Spark's processes write to standard error can be read.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from headrace.common import Configuration, Types
from headrace.datastream import MapFunction, StreamExecutionEnvironment


class Hanging(MapFunction):
    """Not even an exception ends its close()."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def map(self, value: int) -> int:
        (self.folder / "mapping").touch()
        time.sleep(600)
        return value

    def close(self) -> None:
        while True:
            try:
                time.sleep(600)
            except BaseException:
                pass


def main(folder: Path) -> None:
    configuration = Configuration().set_string("headrace.executor", "spark")
    configuration.set_string("headrace.epoch.max-records", "1000")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    numbers = env.from_sequence(0, 10**12).map(Hanging(folder), Types.LONG()).name("hanging").uid("h")
    numbers.filter(lambda _: False).print()
    job = env.execute_async("cancelled")
    deadline = time.monotonic() + 120
    while not (folder / "mapping").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    started = time.monotonic()
    job.cancel().result()
    print(job._handle._parts.executor._folder)
    print(time.monotonic() - started)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
