"""Finds the partitions of a Kafka source, in the driver, and commits its offsets.

1. The subscription (topics, a pattern of topics, or given partitions) is resolved, then the offsets: partitions become
   splits with fixed start and stop offsets.
2. Every `discovery_seconds` the subscription is resolved again; new partitions are read from their beginning.
3. Completed checkpoints commit offsets for the consumer group, for others to see; recovery never reads them.
"""

from __future__ import annotations

import logging
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.connectors.base.split_enumerator import PeriodicEnumerator, Split, SplitProgress
from headrace.connectors.kafka.client import confluent, consumer
from headrace.connectors.kafka.offsets import Offsets, Partition, Start
from headrace.errors import JobExecutionError

if TYPE_CHECKING:
    from headrace.connectors.kafka.source import KafkaPartitions

_SECONDS = 30.0


@dataclass(frozen=True)
class PartitionRange:
    """The payload of a split: a partition from one offset up to, and without, another (None: no end)."""

    topic: str
    partition: int
    start: int
    stop: int | None


@dataclass(frozen=True)
class Subscription:
    """Exactly one of the three is set.

    >>> Subscription(topics=("orders",)).described()
    "topics ['orders']"
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: frozenset[Partition] = frozenset()

    def described(self) -> str:
        """Return the name for errors."""
        if self.pattern is not None:
            return f"topics that match {self.pattern!r}"
        return f"topics {list(self.topics)}" if self.topics else f"partitions {sorted(self.partitions)}"

    def resolve(self, client: Any) -> list[Partition]:
        """Ask the broker which partitions there are; a topic or partition that was named must exist."""
        known: dict[str, list[int]] = {}
        for name, topic in client.list_topics(timeout=_SECONDS).topics.items():
            if topic.error is None:
                known[name] = sorted(topic.partitions)
        if self.pattern is not None:
            whole = re.compile(self.pattern)
            names = [name for name in sorted(known) if whole.fullmatch(name)]
        else:
            names = list(self.topics) or sorted({topic for topic, _ in self.partitions})
            for name in names:
                if name not in known:
                    raise JobExecutionError(
                        f"There is no topic {name!r} in Kafka",
                        seen=f"the topics {sorted(known)}",
                        remedy="create it first",
                    )
        found = [(name, partition) for name in names for partition in known[name]]
        if not self.partitions:
            return found
        missing = sorted(self.partitions - set(found))
        if missing:
            raise JobExecutionError("There are no such partitions in Kafka", seen=str(missing), expected=str(found))
        return sorted(self.partitions)


_LOG = logging.getLogger("headrace.kafka")
_COMMIT_SECONDS = 0.5
_COMMIT_STEP_SECONDS = 0.005


class KafkaEnumerator(PeriodicEnumerator):
    """The driver's side of a Kafka source, with a client of its own."""

    def __init__(self, source: KafkaPartitions) -> None:
        super().__init__(source.discovery_seconds)
        self.temporary = (confluent().KafkaException,)
        self._source = source
        self._client: Any = None
        self._committing = False
        self._found: dict[Partition, Split] = {}
        """Partitions whose offsets are resolved: after a restart the job reads the same ones."""

    def find(self, progress: SplitProgress, first: bool) -> list[Split]:
        partitions = self._source.subscription.resolve(self._consumer())
        wanted = [p for p in partitions if _split_id(p) not in progress.known]
        self._resolve([p for p in wanted if p not in self._found], self._source.starting if first else _BEGINNING)
        return [self._found[p] for p in wanted]

    def _resolve(self, partitions: list[Partition], starting: Offsets) -> None:
        if not partitions:
            return
        client, stopping = self._consumer(), self._source.stopping
        starts = starting.resolve(client, partitions)
        stops = {} if stopping is None else stopping.resolve(client, partitions, to_stop=True)
        self._found |= {p: Split(_split_id(p), PartitionRange(*p, starts[p], stops.get(p))) for p in partitions}

    def notify_checkpoint_complete(self, positions: dict[str, Any]) -> None:
        if not self._source.commit_offsets:
            return
        make = confluent().TopicPartition
        offsets = [
            make(topic, int(partition), position)
            for (topic, _, partition), position in ((split.rpartition("-"), p) for split, p in positions.items())
            if position is not None
        ]
        if not offsets:
            return
        client = self._consumer()
        try:
            self._committing = True
            client.commit(offsets=offsets, asynchronous=True)
            client.poll(0)
            deadline = time.monotonic() + _COMMIT_SECONDS
            while self._source.bounded and self._committing and time.monotonic() < deadline:
                client.poll(_COMMIT_STEP_SECONDS)  # after the last commit the driver may end
        except confluent().KafkaException as error:
            self._not_committed(error)

    def close(self, kept: bool) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            client.close()

    def _consumer(self) -> Any:
        if self._client is None:
            # Bounds how long the end of the driver waits for a commit that no broker answers.
            settings = {"session.timeout.ms": 6000, **self._source.settings, "on_commit": self._committed}
            self._client = consumer(settings)
        return self._client

    def _committed(self, error: Any, offsets: list[Any]) -> None:
        """Note the answer to a commit. The client calls this while it is polled."""
        self._committing = False
        if error is not None:
            self._not_committed(error)

    def _not_committed(self, error: Any) -> None:
        group = self._source.settings["group.id"]
        _LOG.warning("Kafka: the offsets of group %s could not be committed: %s", group, error)


_BEGINNING = Offsets(Start.EARLIEST)


def _split_id(partition: Partition) -> str:
    return f"{partition[0]}-{partition[1]}"
