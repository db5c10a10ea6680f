"""The Kafka source's definition: partitions become splits with fixed start and stop offsets.

1. Driver: the subscription is resolved, then the offsets; a partition goes to a subtask as Flink assigns it.
2. Driver: every `discovery_seconds` the subscription is resolved again; new partitions are read from their beginning.
3. Driver: `publish_positions` commits offsets for the consumer group, for others to see; recovery never reads them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base.source import ReaderContext, Source, Split, SplitReader
from headrace.connectors.kafka.client import confluent, consumer
from headrace.connectors.kafka.offsets import Offsets, Partition, Start
from headrace.connectors.kafka.reader import EndMark, PartitionReader
from headrace.connectors.kafka.subscription import Subscription
from headrace.types.java_hash import string_hash
from headrace.types.typeinfo import TypeInformation

_LOG = logging.getLogger("headrace.kafka")
_NO_GROUP = "headrace"
_COMMIT_SECONDS = 0.5
_COMMIT_STEP_SECONDS = 0.005

_DEFAULTS = {
    "enable.auto.commit": False,
    "auto.offset.reset": "error",
    "isolation.level": "read_uncommitted",
    "allow.auto.create.topics": False,
    "fetch.queue.backoff.ms": 5,
    "reconnect.backoff.max.ms": 2000,
    "queued.max.messages.kbytes": 32_768,
    "fetch.message.max.bytes": 2 * 1024 * 1024,
}


@dataclass(frozen=True)
class PartitionRange:
    """The payload of a split."""

    topic: str
    partition: int
    start: int
    stop: int | None


def owner(topic: str, partition: int, parallelism: int) -> int:
    """The subtask that reads a partition, as in Flink.

    >>> [owner("orders", p, 3) for p in range(4)]
    [0, 1, 2, 0]
    """
    return ((string_hash(topic) * 31 & 0x7FFFFFFF) % parallelism + partition) % parallelism


class KafkaPartitions(Source):
    """Reads partitions of Kafka topics; `deserialize` takes the whole message, or else its value.

    >>> source = KafkaPartitions({"bootstrap.servers": "b:9092"}, Subscription(("t",)), Offsets(Start.EARLIEST), bytes)
    >>> source.bounded
    False
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        subscription: Subscription,
        starting: Offsets,
        deserialize: Callable[[Any], Any],
        takes_message: bool = False,
        stopping: Offsets | None = None,
        bounded: bool = False,
        discovery_seconds: float | None = None,
        commit_offsets: bool = False,
        client_id_prefix: str | None = None,
        produced_type: TypeInformation | None = None,
        dead_letters: str | None = None,
        max_bytes: int | None = None,
        is_end: Callable[[Any], bool] | None = None,
    ) -> None:
        """Takes the client's settings and the rules for partitions and offsets; `is_end` knows the element that ends all."""
        self.settings = {**_DEFAULTS, "group.id": _NO_GROUP, **settings}
        self.subscription = subscription
        self.starting, self.stopping = starting, stopping
        self.deserialize, self.takes_message = deserialize, takes_message
        self.bounded = bounded
        self.discovery_seconds = None if bounded else discovery_seconds
        self.may_finish = (stopping is not None or is_end is not None) and self.discovery_seconds is None
        self.end_mark = None if is_end is None else EndMark(is_end)
        self.commit_offsets = commit_offsets
        self.client_id_prefix = client_id_prefix
        self.produced_type = produced_type
        self.dead_letters, self.max_bytes = dead_letters, max_bytes
        self._client: Any = None
        self._committing = False
        self._looked_at = float("-inf")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_client": None}

    def splits(self, parallelism: int) -> list[list[Split]]:
        client = self._driver_client()
        assigned: list[list[Split]] = [[] for _ in range(parallelism)]
        for split in self._ranges(self.subscription.resolve(client), self.starting):
            assigned[owner(split.payload.topic, split.payload.partition, parallelism)].append(split)
        self._looked_at = time.monotonic()
        return assigned

    def discover(self, known: frozenset[str]) -> list[Split]:
        now = time.monotonic()
        if self.discovery_seconds is None or now - self._looked_at < self.discovery_seconds:
            return []
        self._looked_at = now
        try:
            found = self.subscription.resolve(self._driver_client())
            new = [p for p in found if _split_id(p) not in known]
            return self._ranges(new, Offsets(Start.EARLIEST)) if new else []
        except confluent().KafkaException as error:
            _LOG.warning(
                "Kafka: new partitions of %s could not be looked for: %s", self.subscription.described(), error
            )
            return []

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        part: PartitionRange = split.payload
        settings = {**self.settings, "enable.partition.eof": True}
        if self.client_id_prefix is not None:
            settings["client.id"] = f"{self.client_id_prefix}-{context.subtask}"
        start = part.start if position is None else position
        return PartitionReader(
            (part.topic, part.partition),
            start,
            part.stop,
            settings,
            self.deserialize,
            self.takes_message,
            self.dead_letters is not None,
            self.max_bytes,
            self.end_mark,  # tasks have definitions of their own: one mark for all partitions of a subtask
        )

    def publish_positions(self, positions: dict[str, Any]) -> None:
        if not self.commit_offsets:
            return
        make = confluent().TopicPartition
        offsets = [
            make(topic, int(partition), position)
            for (topic, _, partition), position in ((split.rpartition("-"), p) for split, p in positions.items())
            if position is not None
        ]
        if not offsets:
            return
        client = self._driver_client()
        try:
            self._committing = True
            client.commit(offsets=offsets, asynchronous=True)
            client.poll(0)
            deadline = time.monotonic() + _COMMIT_SECONDS
            while self.bounded and self._committing and time.monotonic() < deadline:
                client.poll(_COMMIT_STEP_SECONDS)  # after the last commit the driver may end
        except confluent().KafkaException as error:
            _LOG.warning("Kafka: offsets of group %s could not be committed: %s", self.settings["group.id"], error)

    def _ranges(self, partitions: list[Partition], starting: Offsets) -> list[Split]:
        client = self._driver_client()
        starts = starting.resolve(client, partitions)
        stops = self.stopping.resolve(client, partitions, to_stop=True) if self.stopping is not None else {}
        return [Split(_split_id(p), PartitionRange(*p, starts[p], stops.get(p))) for p in partitions]

    def _driver_client(self) -> Any:
        if self._client is None:
            # Bounds how long the end of the driver waits for a commit that no broker answers.
            self._client = consumer({"session.timeout.ms": 6000, **self.settings, "on_commit": self._committed})
        return self._client

    def _committed(self, error: Any, offsets: list[Any]) -> None:
        """Called by the client while it is polled."""
        self._committing = False
        if error is not None:
            _LOG.warning("Kafka: offsets of group %s were not committed: %s", self.settings["group.id"], error)


def _split_id(partition: Partition) -> str:
    return f"{partition[0]}-{partition[1]}"
