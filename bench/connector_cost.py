#!/usr/bin/env python3
"""What connectors cost, against other ways to do the same, in one run.

    python bench/connector_cost.py --flink-python /path/to/flink-venv/bin/python [--parts kafka,parquet,numbers]

1. kafka: messages of 1 KB JSON from a topic through a map to another, two partitions, parallelism 2, at least once: a bare
   confluent-kafka loop in two processes, headrace, PyFlink with Flink's own connector (if there is a Python with it); and
   headrace exactly once. The broker is that of the tests. Rates are those of the target topic, between a tenth of the messages
   and the last: starting up does not count. What arrived is counted.
2. parquet: filter and map on columns from Parquet files to Parquet files, against plain PySpark.
3. numbers: number sequence and generator into a filter, without a rate and with one of a million a second.

Machines are noisy: read the ratios. Per second of CPU (Kafka only) means processor time of all the engine's processes, the
broker's not among them: other work on the machine disturbs that less.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Rates = tuple[float, ...]
"""Per second; of Kafka also per second of processor time."""
ROOT = Path(__file__).resolve().parents[1]
PARTS = Path(__file__).resolve().parent / "connectors"
sys.path.insert(0, str(ROOT / "tests" / "connectors"))
sys.path.append(str(ROOT / "tests"))

INTERVAL = "1 s"
LOOK_SECONDS = 0.2
MARK = "HEADRACE_BENCH_MARK"
ENGINES = "bare loop,headrace,exactly once,PyFlink process,PyFlink thread"
SETTINGS = {"headrace.progress": "never", "execution.checkpointing.interval": INTERVAL}


# -- Kafka -----------------------------------------------------------------------------------------------------------


def messages(count: int) -> Iterator[bytes]:
    note = "x" * 820
    for number in range(count):
        order = {"id": number, "user": f"user-{number % 9973}", "price": number % 500 / 4, "count": number % 7 + 1}
        yield json.dumps(
            {**order, "tags": ["a", "b", "c"], "open": True, "address": {"zip": 12345}, "note": note}
        ).encode()


def fill(broker: Any, count: int) -> str:
    topic: str = broker.topic(2)
    for partition in range(2):
        broker.send(topic, messages(count // 2), partition)
    return topic


def rate_of(broker: Any, topic: str, count: int, processes: list[subprocess.Popen[bytes]], seconds: float) -> Rates:
    """Messages per second in `topic`, from a tenth of `count` to all, while the processes run."""
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    client = Consumer({"bootstrap.servers": broker.servers, "group.id": "bench-watch"})
    arrived = 0
    begun: tuple[float, int, float] | None = None
    processor, looked = Processor(), 0.0
    deadline = time.monotonic() + seconds
    try:
        while True:
            with contextlib.suppress(KafkaException):  # a broker without processor time is away for a moment
                arrived = sum(client.get_watermark_offsets(TopicPartition(topic, p), timeout=10)[1] for p in range(2))
            now = time.perf_counter()
            if now - looked > LOOK_SECONDS:  # a process that has ended by then has used what it was last seen with
                processor.seconds()
                looked = now
            if begun is None and arrived >= count // 10:
                begun = now, arrived, processor.seconds()
            if arrived >= count and begun is not None:
                more = arrived - begun[1]
                return more / (now - begun[0]), more / (processor.seconds() - begun[2])
            if any(process.poll() for process in processes) or time.monotonic() > deadline:
                raise RuntimeError(f"{arrived} of {count} messages arrived")
            time.sleep(0.01)
    finally:
        client.close()
        for process in processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()


class Processor:
    """What the processes of the engine that runs now have used: those with this run's mark in their environment."""

    def __init__(self) -> None:
        self._used: dict[int, float] = {}

    def seconds(self) -> float:
        import psutil

        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if process.environ().get(MARK) == os.environ[MARK]:
                    self._used[process.pid] = sum(process.cpu_times()[:2])
        return sum(self._used.values())


def check(broker: Any, topic: str, count: int) -> None:
    ids = sorted(json.loads(value)["id"] for value in broker.values(topic))
    expected = sorted([*range(count // 2)] * 2)
    if ids != expected:
        raise RuntimeError(f"{len(ids)} messages arrived, expected each of {count} once")


def job(python: str, root: str, broker: Any, source: str, target: str, guarantee: str, settings: dict[str, str]) -> Any:
    environment = {**os.environ, "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"}
    if root == "pyflink":
        environment.pop("PYTHONPATH", None)
    command = [python, str(PARTS / "kafka_job.py"), root, broker.servers, source, target, guarantee]
    return subprocess.Popen([*command, json.dumps(settings)], env=environment, stdout=subprocess.DEVNULL)


def kafka(arguments: argparse.Namespace) -> None:
    from kafka_kit.broker import Broker

    broker = Broker()
    rates: dict[str, Rates] = {}
    try:
        broker.start()
        topics = {count: fill(broker, count) for count in {arguments.messages, arguments.flink_messages}}
        for _ in range(arguments.rounds):
            for name in arguments.engines.split(","):
                if name.startswith("PyFlink") and not arguments.flink_python:
                    continue
                count = arguments.flink_messages if name.startswith("PyFlink") else arguments.messages
                target = broker.topic(2)
                os.environ[MARK] = uuid.uuid4().hex
                begun = start(name, broker, topics[count], target, count, arguments.flink_python)
                note(rates, name, rate_of(broker, target, count, begun, 300))
                check(broker, target, count)
    finally:
        broker.remove()
    show("Kafka -> map -> Kafka", rates, "messages/s", "headrace")


def start(name: str, broker: Any, source: str, target: str, count: int, flink: str) -> list[subprocess.Popen[bytes]]:
    """The processes of an engine."""
    if name == "bare loop":
        loop = [sys.executable, str(PARTS / "kafka_loop.py"), broker.servers, source, target]
        return [subprocess.Popen([*loop, str(partition), str(count // 2)]) for partition in range(2)]
    if name.startswith("PyFlink"):
        settings = flink_settings(flink, name.partition(" ")[2])
        return [job(flink, "pyflink", broker, source, target, "AT_LEAST_ONCE", settings)]
    guarantee = "EXACTLY_ONCE" if name == "exactly once" else "AT_LEAST_ONCE"
    return [job(sys.executable, "headrace", broker, source, target, guarantee, SETTINGS)]


def flink_settings(python: str, mode: str) -> dict[str, str]:
    jars = list(flink_jars().glob("*.jar"))
    return {
        "pipeline.jars": ";".join(jar.as_uri() for jar in jars),
        "python.execution-mode": mode,
        "python.executable": python,
        "python.client.executable": python,
        "rest.port": "0",
        "execution.checkpointing.interval": INTERVAL,
    }


def flink_jars() -> Path:
    """Flink's connector, fetched by Maven into the user's cache as scripts/setup does."""
    from jar_folders import REQUIREMENTS, cached

    found = cached("flink-kafka")
    if not found.is_dir():
        pom = str(REQUIREMENTS / "flink-kafka" / "pom.xml")
        goal = ["dependency:copy-dependencies", f"-DoutputDirectory={found}"]
        subprocess.run(["mvn", "-B", "-q", "-C", "-f", pom, *goal], check=True)
    return found


# -- Parquet, numbers ------------------------------------------------------------------------------------------------


def parquet(arguments: argparse.Namespace) -> None:
    rates: dict[str, Rates] = {}
    with tempfile.TemporaryDirectory(prefix="bench-parquet-") as folder:
        run("parquet_job.py", "make", folder, str(arguments.rows))
        for _ in range(arguments.rounds):
            for name, engine in (("PySpark", "pyspark"), ("headrace", "columns"), ("headrace, row by row", "rows")):
                seconds = run("parquet_job.py", engine, folder, str(arguments.rows))
                note(rates, name, (arguments.rows / float(seconds),))
    show("Parquet -> filter, map -> Parquet", rates, "rows/s", "PySpark")


def numbers(arguments: argparse.Namespace) -> None:
    rates: dict[str, Rates] = {}
    for _ in range(arguments.rounds):
        for name in ("sequence", "generator", "generator, 1,000,000/s"):
            note(rates, name, (float(run("numbers_job.py", name, str(arguments.numbers))),))
    show("Numbers -> filter", rates, "records/s", None)


def run(*command: str) -> str:
    os.environ[MARK] = uuid.uuid4().hex
    done = subprocess.run([sys.executable, str(PARTS / command[0]), *command[1:]], stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().strip().splitlines()[-1] if done.stdout else ""


# -- results ---------------------------------------------------------------------------------------------------------


def note(rates: dict[str, Rates], name: str, measured: Rates) -> None:
    """Keeps the best of all rounds."""
    print(f"{name}: {', '.join(f'{rate:,.0f}' for rate in measured)}", file=sys.stderr, flush=True)
    before = rates.get(name, measured)
    rates[name] = tuple(map(max, measured, before))


def show(title: str, rates: dict[str, Rates], unit: str, base: str | None) -> None:
    """Prints a table: what was measured, and what part of `base` it is."""
    units = [unit, "per second of CPU"][: len(next(iter(rates.values())))]
    heads = [head for unit in units for head in ([unit, f"of {base}"] if base else [unit])]
    print(f"\n| {title} | {' | '.join(heads)} |\n| --- {'| --: ' * len(heads)}|")
    for name, measured in rates.items():
        cells = []
        for number, rate in enumerate(measured):
            cells += [f"{rate:,.0f}", f"{rate / rates[base][number]:.2f}"] if base else [f"{rate:,.0f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default="kafka,parquet,numbers")
    parser.add_argument("--engines", default=ENGINES, help=f"of Kafka: {ENGINES}")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--messages", type=int, default=400_000)
    parser.add_argument("--flink-messages", type=int, default=60_000)
    parser.add_argument("--flink-python", help="a Python with apache-flink")
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--numbers", type=int, default=20_000_000)
    arguments = parser.parse_args()
    for part in arguments.parts.split(","):
        {"kafka": kafka, "parquet": parquet, "numbers": numbers}[part](arguments)


if __name__ == "__main__":
    main()
