#!/usr/bin/env python3
"""What metrics cost: one workload (W9 of the comparison: numbers, keyed running sums) on two source trees, in turn.

    python bench/metrics_cost.py --without ../headrace-before/src [--with src] [--records 1000000] [--rounds 3]

Every run is a process of its own, that runs n/10 and then n records; what is compared is the difference of both, so that starting
up cancels out: records per second, and records per second of processor time of driver and workers, which other work on the
machine disturbs less. The trees take turns; a ratio is that of neighbours.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHILD = "--run"


def job(records: int) -> tuple[float, float]:
    """Seconds of the clock, and of the processors."""
    from headrace.common import Configuration, Types, WatermarkStrategy
    from headrace.datastream import StreamExecutionEnvironment
    from headrace.datastream.connectors.number_seq import NumberSequenceSource
    from headrace.datastream.functions import SinkFunction

    folder = tempfile.mkdtemp(prefix="headrace-cost-")

    class Drop(SinkFunction):
        def invoke(self, value, context):
            pass

        def close(self):
            Path(folder, str(os.getpid())).write_text(str(time.process_time()))

    env = StreamExecutionEnvironment.get_execution_environment(Configuration()).set_parallelism(2)
    triple = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])
    source = NumberSequenceSource(0, records - 1)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    rows = numbers.map(lambda i: (i % 1000, 1, i), triple)
    rows.key_by(lambda t: t[0], Types.LONG()).reduce(lambda a, b: (a[0], a[1] + b[1], b[2])).add_sink(Drop())
    began, used = time.perf_counter(), time.process_time()
    env.execute("W9")
    seconds, driver = time.perf_counter() - began, time.process_time() - used
    return seconds, driver + sum(float(path.read_text()) for path in Path(folder).iterdir())


def child(records: int) -> None:
    job(1000)
    small, large = job(records // 10), job(records)
    number = records - records // 10
    print(json.dumps([number / (after - before) for before, after in zip(small, large)]))


def rates(tree: str, records: int) -> list[float]:
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(tree)}
    command = [sys.executable, __file__, CHILD, str(records)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", required=True, help="a tree without the metrics")
    parser.add_argument("--with", dest="tree", default="src")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    ratios: list[list[float]] = []
    for number in range(a.rounds):
        trees = [a.without, a.tree] if number % 2 == 0 else [a.tree, a.without]
        found = {tree: rates(tree, a.records) for tree in trees}
        ratios.append([new / old for old, new in zip(found[a.without], found[a.tree])])
        shown = [
            f"without {found[a.without][i]:>9,.0f}  with {found[a.tree][i]:>9,.0f}  {ratios[-1][i]:.3f}" for i in (0, 1)
        ]
        print(f"per second: {shown[0]}   per processor second: {shown[1]}", flush=True)
    clock, processor = (statistics.median(r[i] for r in ratios) for i in (0, 1))
    print(f"medians of {len(ratios)} ratios: {clock:.3f} per second, {processor:.3f} per processor second")


if __name__ == "__main__":
    if CHILD in sys.argv:
        child(int(sys.argv[2]))
    else:
        main()
