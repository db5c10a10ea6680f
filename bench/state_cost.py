"""What keyed state costs on the two backends, in one process without Spark.

    python bench/state_cost.py [--keys 1000000] [--touched 10000] [--epochs 20] [--memory-mb 128]

Per backend, in turn, each in a process of its own:

1. keyed count: records per second of ``state.update((state.value() or 0) + 1)`` over 10,000 keys that stay in memory, and
   over all keys at random.
2. an epoch that touches 10,000 keys of all, elsewhere each time: reading, updating and writing the delta file.
3. a base (everything), and a restore from it; how much memory the process has more than before (anonymous memory).

Times are CPU time of the process, RocksDB's own threads included, so that other work on the machine counts little.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from headrace.state.descriptors import ValueStateDescriptor
from headrace.state.disk import DiskKeyedBackend
from headrace.state.file_format import OperatorState, SubtaskState
from headrace.state.files import StateHeader, read_parts, write_state_file
from headrace.state.heap import HeapKeyedBackend
from headrace.state.keyed_backend import KeyedBackend

GROUPS = 128
RUN = 1000
"""Records between two chances to make room."""


def memory_mb() -> float:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024


def make(kind: str, directory: str, memory: int) -> KeyedBackend:
    if kind == "heap":
        return HeapKeyedBackend(GROUPS, range(GROUPS))
    return DiskKeyedBackend(GROUPS, range(GROUPS), Path(directory, "rocksdb"), memory)


def count(backend: KeyedBackend, keys: list[str]) -> float:
    """Counts each key; gives records per second."""
    state = backend.get_state(ValueStateDescriptor("count", None))
    started = time.process_time()
    for at in range(0, len(keys), RUN):
        for backend.key in keys[at : at + RUN]:
            state.update((state.value() or 0) + 1)
        backend.make_room()
    return len(keys) / (time.process_time() - started)


def measure(kind: str, arguments: argparse.Namespace) -> dict[str, Any]:
    chosen = random.Random(7)
    names = [f"user-{n:09d}" for n in range(arguments.keys)]
    before = memory_mb()
    with tempfile.TemporaryDirectory() as directory:
        backend = make(kind, directory, arguments.memory_mb << 20)
        result: dict[str, Any] = {"backend": kind, "keys": arguments.keys}
        few = chosen.sample(names, arguments.touched)
        count(backend, few)
        result["hot records/s"] = round(count(backend, few * 20))
        result["fill records/s"] = round(count(backend, names))
        backend.collect_delta()
        result["random records/s"] = round(count(backend, chosen.choices(names, k=200_000)))
        backend.collect_delta()
        times = []
        header = StateHeader("job", "v", 0, 0, "a")
        for _ in range(arguments.epochs):
            touched = chosen.sample(names, arguments.touched)
            started = time.process_time()
            count(backend, touched)
            write_state_file(directory, header, SubtaskState({"u": OperatorState(backend.collect_delta())}))
            times.append(time.process_time() - started)
        result["epoch ms"] = round(statistics.median(times) * 1000, 1)
        result["memory mb"] = round(memory_mb() - before)
        started = time.process_time()
        base = StateHeader("job", "v", 0, 1, "a", "base")
        file = write_state_file(directory, base, SubtaskState({"u": OperatorState(backend.snapshot_full())}))
        result["base s"] = round(time.process_time() - started, 2)
        result["memory mb after base"] = round(memory_mb() - before)
        backend.close()
        del backend
        restored = make(kind, str(Path(directory, "restored")), arguments.memory_mb << 20)
        started = time.process_time()
        for _, part in read_parts(directory, [file], {}, None, allowed_modules=None):
            restored.apply_part(part.keyed)
        restored.finish_restore()
        result["restore s"] = round(time.process_time() - started, 2)
        result["memory mb after restore"] = round(memory_mb() - before)
        restored.close()
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--touched", type=int, default=10_000)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--memory-mb", type=int, default=128)
    parser.add_argument("--backends", nargs="+", default=["heap", "disk"], choices=["heap", "disk"])
    arguments = parser.parse_args()
    for kind in arguments.backends:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(json.dumps(pool.apply(measure, (kind, arguments))))


if __name__ == "__main__":
    main()
