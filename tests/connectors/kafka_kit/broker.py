"""Starts Apache Kafka (KRaft, one node, loopback, free ports) from the jars that scripts/setup has put into the cache."""

from __future__ import annotations

import base64
import contextlib
import functools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

from jar_folders import jar_directory

START_SECONDS = 90.0


def free_port() -> int:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Broker:
    """One broker. `stop` and `start` again keep its data and its ports."""

    def __init__(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="headrace-kafka-"))
        self.port, controller = free_port(), free_port()
        self.servers = f"127.0.0.1:{self.port}"
        self._settings = self._home / "server.properties"
        self._settings.write_text(
            "\n".join(
                [
                    "process.roles=broker,controller",
                    "node.id=1",
                    f"controller.quorum.voters=1@127.0.0.1:{controller}",
                    f"listeners=PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller}",
                    f"advertised.listeners=PLAINTEXT://127.0.0.1:{self.port}",
                    "controller.listener.names=CONTROLLER",
                    "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
                    f"log.dirs={self._home / 'data'}",
                    "num.partitions=1",
                    "auto.create.topics.enable=false",
                    "offsets.topic.replication.factor=1",
                    "offsets.topic.num.partitions=4",
                    "transaction.state.log.replication.factor=1",
                    "transaction.state.log.min.isr=1",
                    "transaction.state.log.num.partitions=4",
                    "group.initial.rebalance.delay.ms=0",
                    "log.retention.ms=-1",
                    "log.segment.delete.delay.ms=100",
                ]
            )
        )
        self._process: subprocess.Popen[bytes] | None = None
        self._log = (self._home / "broker.log").open("ab")
        self._run("kafka.tools.StorageTool", "format", "-t", _cluster_id(), "-c", str(self._settings))

    def _command(self, main: str, *arguments: str) -> list[str]:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home) / "bin" / "java") if home else "java"
        options = [
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        ]
        return [java, *options, "-cp", f"{jar_directory('kafka')}/*", main, *arguments]

    def _run(self, main: str, *arguments: str) -> None:
        done = subprocess.run(self._command(main, *arguments), capture_output=True, text=True, timeout=START_SECONDS)
        if done.returncode:
            raise RuntimeError(f"{main} failed:\n{done.stdout}\n{done.stderr}")

    def start(self) -> Broker:
        """Starts the broker and waits until it answers."""
        assert self._process is None
        self._process = subprocess.Popen(
            self._command("kafka.Kafka", str(self._settings)),
            stdout=self._log,
            stderr=self._log,
            stdin=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + START_SECONDS
        while True:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The broker did not start:\n{self.log()[-4000:]}")
            with contextlib.suppress(Exception):
                if self.admin.list_topics(timeout=1).brokers:
                    return self
            time.sleep(0.1)

    def stop(self, kill: bool = False) -> None:
        """Stops it, or kills it."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    def remove(self) -> None:
        """Stops it and deletes its data."""
        self.stop(kill=True)
        self._log.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def log(self) -> str:
        return (self._home / "broker.log").read_text(errors="replace")

    # -- topics ---------------------------------------------------------------------------------------------------

    @functools.cached_property
    def admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.servers, "log_level": 0})

    def topic(self, partitions: int = 1, name: str | None = None, **settings: str) -> str:
        """Makes a topic and gives its name."""
        name = name or f"t{uuid.uuid4().hex[:10]}"
        made = self.admin.create_topics(
            [NewTopic(name, partitions, 1, config={k.replace("_", "."): v for k, v in settings.items()})]
        )
        made[name].result(30)
        self._wait_for(lambda: self._leaders(name) == partitions)
        return name

    def add_partitions(self, topic: str, total: int) -> None:
        self.admin.create_partitions([NewPartitions(topic, total)])[topic].result(30)
        self._wait_for(lambda: self._leaders(topic) == total)

    def delete_topic(self, topic: str) -> None:
        self.admin.delete_topics([topic], operation_timeout=30)[topic].result(30)

    def delete_records(self, topic: str, partition: int, before: int) -> None:
        for future in self.admin.delete_records([TopicPartition(topic, partition, before)]).values():
            future.result(30)

    def _leaders(self, topic: str) -> int:
        metadata = self.admin.list_topics(topic, timeout=10).topics[topic]
        return sum(1 for p in metadata.partitions.values() if p.error is None and p.leader >= 0)

    @staticmethod
    def _wait_for(done: Any) -> None:
        deadline = time.monotonic() + 30
        while not done():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    # -- records --------------------------------------------------------------------------------------------------

    def send(self, topic: str, values: Iterable[Any], partition: int = 0, **more: Any) -> None:
        """Writes values (texts, bytes or None) into a partition."""
        producer = Producer({"bootstrap.servers": self.servers, "linger.ms": 5})
        for value in values:
            while True:
                try:
                    producer.produce(topic, value, partition=partition, **more)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(30) == 0

    def read(self, topic: str, committed: bool = True, quiet: float = 0.0) -> list[Any]:
        """All messages of a topic, partition by partition."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": uuid.uuid4().hex,
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed" if committed else "read_uncommitted",
            }
        )
        time.sleep(quiet)
        try:
            partitions = sorted(consumer.list_topics(topic, timeout=10).topics[topic].partitions)
            consumer.assign([TopicPartition(topic, p, 0) for p in partitions])
            found: dict[int, list[Any]] = {p: [] for p in partitions}
            open_partitions = set(partitions)
            deadline = time.monotonic() + 60
            while open_partitions:
                assert time.monotonic() < deadline
                message = consumer.poll(1.0)
                if message is None:
                    continue
                error = message.error()
                if error is None:
                    found[message.partition()].append(message)
                elif error.code() == KafkaError._PARTITION_EOF:
                    open_partitions.discard(message.partition())
                else:
                    raise RuntimeError(str(error))
            return [m for p in partitions for m in found[p]]
        finally:
            consumer.close()

    def values(self, topic: str, committed: bool = True) -> list[Any]:
        return [m.value() for m in self.read(topic, committed)]

    def committed(self, group: str, topic: str, partitions: Sequence[int] = (0,)) -> list[int]:
        """The offsets that a group has committed."""
        consumer = Consumer({"bootstrap.servers": self.servers, "group.id": group})
        try:
            return [tp.offset for tp in consumer.committed([TopicPartition(topic, p) for p in partitions], timeout=10)]
        finally:
            consumer.close()


def _cluster_id() -> str:
    """A random one that does not begin with a minus, which Kafka's tool would take for an option."""
    first, *rest = uuid.uuid4().bytes
    return base64.urlsafe_b64encode(bytes([first & 0x7F, *rest])).decode().rstrip("=")
