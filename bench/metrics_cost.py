#!/usr/bin/env python3
"""What metrics cost: one workload (W9 of the comparison: numbers, keyed running sums) with and without them, in turn.

    python bench/metrics_cost.py [--records 1000000] [--rounds 3] [--beside | --instructions] [--with src] [--without other/src]

Without `--without`, the other tree is a copy of the first in which nothing is measured: no clock is read for operators, no
key is sampled, no process asked, and the driver drops what the tasks report.

With `--beside` both run at the same time, each on a core of its own, in turn on the one and the other, on the local executor:
what slows the machine down then slows both down, and the ratio of their processor times scatters little.

With `--instructions` nothing is timed: valgrind counts what the processor executes, on the local executor, for n and n/10
records. That scatters by less than a percent on any machine, and takes some minutes for 200,000 records.

Every run is a process of its own, that runs n/10 and then n records; what is compared is the difference of both, so that starting
up cancels out: records per second, and records per second of processor time of driver and workers, which other work on the
machine disturbs less. The trees take turns; a ratio is that of neighbours.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHILD, ONCE = "--run", "--once"
ON_ONE_CORE = "HEADRACE_COST_CORE"
# What is taken out of a tree, file by file: (text, what stands there instead). A text that is not there is an error.
TAKEN_OUT = {
    "operators/output.py": [
        ("                began = perf_counter()\n", ""),
        ("            began = perf_counter()\n", ""),
        ("                self._took(consumer, began)\n", ""),
        ("            self._took(consumer, began)\n", ""),
    ],
    "worker/task/vertex_meter.py": [
        (
            "        if len(self._keys) < _KEYS_PER_EPOCH:\n            self._keys +=",
            "        if False:\n            self._keys +=",
        ),
        (
            "        began = time.perf_counter()\n        call()\n"
            "        self._beside[node] = self._beside.get(node, 0.0) + time.perf_counter() - began\n",
            "        call()\n",
        ),
        ("return tuple(self._report(node.id, records_in, busy) for node in self._vertex.nodes)", "return ()"),
    ],
    "worker/slot/process_facts.py": [
        (
            "return ProcessFacts(_memory.recent(), time.process_time(), _collector.seconds, _collector.collections)",
            "return ProcessFacts()",
        )
    ],
    "monitoring/job_monitor.py": [
        ("        now, moment = self._clock.now(), self._monotonic()\n", "        return\n"),
    ],
}


def without_metrics(tree: str, folder: str) -> str:
    """A copy of the tree in which nothing is measured."""
    copy = Path(folder, "src")
    shutil.copytree(tree, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for name, changes in TAKEN_OUT.items():
        path = copy / "headrace" / name
        text = path.read_text()
        for old, new in changes:
            if old not in text:
                raise SystemExit(f"{name} has changed: {old!r} is not in it; see to TAKEN_OUT in {__file__}")
            text = text.replace(old, new)
        path.write_text(text)
    return str(copy)


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

    configuration = Configuration()
    if ON_ONE_CORE in os.environ:
        configuration.set_string("headrace.executor", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)
    triple = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])
    source = NumberSequenceSource(0, records - 1)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    rows = numbers.map(lambda i: (i % 1000, 1, i), triple)
    rows.key_by(lambda t: t[0], Types.LONG()).reduce(lambda a, b: (a[0], a[1] + b[1], b[2])).add_sink(Drop())
    began, used = time.perf_counter(), time.process_time()
    env.execute("W9")
    seconds, driver = time.perf_counter() - began, time.process_time() - used
    if ON_ONE_CORE in os.environ:
        return seconds, driver
    return seconds, driver + sum(float(path.read_text()) for path in Path(folder).iterdir())


def child(records: int) -> None:
    if ON_ONE_CORE in os.environ:
        os.sched_setaffinity(0, {int(os.environ[ON_ONE_CORE])})
    job(1000)
    small, large = job(records // 10), job(records)
    number = records - records // 10
    print(json.dumps([number / (after - before) for before, after in zip(small, large)]))


def started(tree: str, records: int, core: int | None = None) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(tree)}
    if core is not None:
        environment[ON_ONE_CORE] = str(core)
    command = [sys.executable, __file__, CHILD, str(records)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def rates(process: subprocess.Popen[str]) -> list[float]:
    said, errors = process.communicate()
    if process.returncode:
        raise SystemExit(errors)
    return json.loads(said.splitlines()[-1])


def measured(trees: list[str], records: int, beside: bool) -> dict[str, list[float]]:
    if not beside:
        return {one: rates(started(one, records)) for one in trees}
    running = {one: started(one, records, core) for core, one in enumerate(trees)}
    return {one: rates(process) for one, process in running.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--without", help="a tree without the metrics, if it is not to be made of the other")
    parser.add_argument("--with", dest="tree", default="src")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", action="store_true")
    parser.add_argument("--instructions", action="store_true", help="needs valgrind")
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="headrace-cost-") as folder:
        without = a.without or without_metrics(a.tree, folder)
        if a.instructions:
            old, new = instructions(without, a.records), instructions(a.tree, a.records)
            print(f"instructions: without {old:,}, with {new:,}: {new / old:.3f}")
        else:
            compare(without, a.tree, a.records, a.rounds, a.beside)


def instructions(tree: str, records: int) -> int:
    """What the records of a run take, counted by valgrind: those of the start cancel out."""
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    environment = {**os.environ, "PYTHONPATH": os.path.abspath(tree), "PYTHONHASHSEED": "0", ON_ONE_CORE: "0"}
    counts = []
    for number in (1000, records // 10, records):  # the first one compiles
        command = [*counter, sys.executable, __file__, ONCE, str(number)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        (line,) = [line for line in done.stderr.splitlines() if "refs:" in line]
        counts.append(int(line.rpartition(":")[2].replace(",", "")))
    return counts[2] - counts[1]


def compare(without: str, tree: str, records: int, rounds: int, beside: bool) -> None:
    ratios: list[list[float]] = []
    best = {without: 0.0, tree: 0.0}
    for number in range(rounds):
        trees = [without, tree] if number % 2 == 0 else [tree, without]
        found = measured(trees, records, beside)
        if min(*found[without], *found[tree]) <= 0:
            print("a round of no use: the small run took longer than the large one; raise --records", flush=True)
            continue
        best = {one: max(best[one], found[one][1]) for one in best}
        ratios.append([new / old for old, new in zip(found[without], found[tree])])
        shown = [
            f"without {found[without][i]:>9,.0f}  with {found[tree][i]:>9,.0f}  {ratios[-1][i]:.3f}" for i in (0, 1)
        ]
        print(f"per second: {shown[0]}   per processor second: {shown[1]}", flush=True)
    if not ratios:
        raise SystemExit("no round was of use")
    clock, processor = (statistics.median(r[i] for r in ratios) for i in (0, 1))
    print(f"medians of {len(ratios)} ratios: {clock:.3f} per second, {processor:.3f} per processor second")
    print(
        f"best per processor second: without {best[without]:,.0f}, with {best[tree]:,.0f}: {best[tree] / best[without]:.3f}"
    )


if __name__ == "__main__":
    if CHILD in sys.argv:
        child(int(sys.argv[2]))
    elif ONCE in sys.argv:
        job(int(sys.argv[2]))
    else:
        main()
