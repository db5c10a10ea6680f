#!/usr/bin/env python3
"""What metrics cost: one workload (W9 of the comparison: numbers, keyed running sums) on two source trees, in turn.

    python bench/metrics_cost.py --without ../headrace-before/src [--with src] [--records 1500000] [--rounds 3]

Every run is a process of its own, that runs n/10 and then n records; the rate is the marginal one. The trees take turns, and
the cost is the median of the ratios of neighbours: a machine that is slower for a while is so for both.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

CHILD = "--run"


def job(records: int) -> float:
    from headrace.common import Configuration, Types, WatermarkStrategy
    from headrace.datastream import StreamExecutionEnvironment
    from headrace.datastream.connectors.number_seq import NumberSequenceSource
    from headrace.datastream.functions import SinkFunction

    class Drop(SinkFunction):
        def invoke(self, value, context):
            pass

    env = StreamExecutionEnvironment.get_execution_environment(Configuration()).set_parallelism(2)
    triple = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])
    numbers = env.from_source(
        NumberSequenceSource(0, records - 1), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()
    )
    rows = numbers.map(lambda i: (i % 1000, 1, i), triple)
    rows.key_by(lambda t: t[0], Types.LONG()).reduce(lambda a, b: (a[0], a[1] + b[1], b[2])).add_sink(Drop())
    began = time.perf_counter()
    env.execute("W9")
    return time.perf_counter() - began


def child(records: int) -> None:
    job(1000)
    small = job(records // 10)
    print((records - records // 10) / (job(records) - small))


def rate(tree: str, records: int) -> float:
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(tree)}
    command = [sys.executable, __file__, CHILD, str(records)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", required=True, help="a tree without the metrics")
    parser.add_argument("--with", dest="tree", default="src")
    parser.add_argument("--records", type=int, default=1_500_000)
    parser.add_argument("--rounds", type=int, default=3)
    a = parser.parse_args()
    ratios = []
    for number in range(a.rounds):
        trees = [a.without, a.tree] if number % 2 == 0 else [a.tree, a.without]
        rates = {tree: rate(tree, a.records) for tree in trees}
        ratios.append(rates[a.tree] / rates[a.without])
        print(f"without {rates[a.without]:>12,.0f}/s   with {rates[a.tree]:>12,.0f}/s   {ratios[-1]:.3f}", flush=True)
    print(f"median of {len(ratios)} ratios: {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    if CHILD in sys.argv:
        child(int(sys.argv[2]))
    else:
        main()
