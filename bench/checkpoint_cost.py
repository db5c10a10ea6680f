"""What checkpoints cost: a keyed count over many keys, without and with a checkpoint every second; and a restore.

    python bench/checkpoint_cost.py --keys 1000000 --records 6000000 --backends hashmap,rocksdb

Each round runs the job without checkpoints, with them, and restores from a savepoint of it; rates are those between the
first and the last epoch that a job reports, so that starting Spark does not count. Ratios within one run are what counts.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path

from headrace.common import Configuration, Types, WatermarkStrategy
from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)


def environment(folder: Path, backend: str, interval: str | None, restore: str | None = None):
    configuration = Configuration()
    settings = {
        "state.backend.type": backend,
        "headrace.progress": "never",
        "headrace.epoch.bounded-target-ms": "1000",
        "execution.checkpointing.savepoint-dir": str(folder / "savepoints"),
    }
    if interval is not None:
        settings |= {
            "execution.checkpointing.interval": interval,
            "execution.checkpointing.dir": str(folder / "checkpoints"),
        }
    if restore is not None:
        settings["execution.state-recovery.path"] = restore
    for key, value in settings.items():
        configuration.set_string(key, value)
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)


def program(env, keys: int, records: int):
    numbers = env.from_source(NumberSequenceSource(1, records), WatermarkStrategy.no_watermarks(), "numbers").uid("n")
    counted = numbers.key_by(lambda v: v % keys, key_type=Types.LONG()).process(Count(), Types.LONG()).uid("count")
    counted.print()


def follow(client) -> tuple[float, dict]:
    """Records per second between the end of the first epoch and of the last, and the statistics of checkpoints."""
    first = None
    last = (0.0, 0)
    while not client.get_job_status().result().is_terminal_state():
        seen = client.last_epoch.get("totalInputRows", 0)
        if seen and first is None:
            first = (time.perf_counter(), seen)
        if seen > last[1]:
            last = (time.perf_counter(), seen)
        time.sleep(0.005)
    client.get_job_execution_result().result()
    if first is None or last[0] == first[0]:
        return 0.0, client.get_checkpoint_statistics()
    return (last[1] - first[1]) / (last[0] - first[0]), client.get_checkpoint_statistics()


def measure(backend: str, keys: int, records: int) -> dict[str, float]:
    folder = Path(tempfile.mkdtemp(prefix="bench-headrace-"))
    try:
        figures: dict[str, float] = {}
        for name, interval in (("without", None), ("with", "1 s")):
            env = environment(folder, backend, interval)
            program(env, keys, records)
            rate, statistics = follow(env.execute_async())
            figures[name] = rate
            figures[f"checkpoints {name}"] = statistics["counts"]["completed"]
            durations = [entry["duration"] for entry in statistics["history"] if "duration" in entry]
            figures[f"ms {name}"] = sorted(durations)[len(durations) // 2] if durations else 0
        figures["ratio"] = figures["with"] / figures["without"] if figures["without"] else 0.0
        env = environment(folder, backend, None)
        program(env, keys, max(100 * keys, 5_000_000))
        client = env.execute_async()
        while client.last_epoch.get("totalInputRows", 0) < keys:
            time.sleep(0.005)
        path = client.stop_with_savepoint(False).result()
        env = environment(folder, backend, None, path)
        program(env, keys, max(100 * keys, 5_000_000))
        started = time.perf_counter()
        client = env.execute_async()
        while not client.last_epoch and not client.get_job_status().result().is_terminal_state():
            time.sleep(0.002)
        figures["restore s"] = time.perf_counter() - started
        client.cancel().result()
        return figures
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--records", type=int, default=6_000_000)
    parser.add_argument("--backends", default="hashmap,rocksdb")
    arguments = parser.parse_args()
    print("| backend | records/s without | with | ratio | checkpoints | median ms | start from savepoint s |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    for backend in arguments.backends.split(","):
        f = measure(backend, arguments.keys, arguments.records)
        print(
            f"| {backend} | {f['without']:,.0f} | {f['with']:,.0f} | {f['ratio']:.2f} | {f['checkpoints with']:.0f}"
            f" | {f['ms with']:.0f} | {f['restore s']:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
