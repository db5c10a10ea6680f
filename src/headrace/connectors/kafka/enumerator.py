"""Finds the partitions of a Kafka source, in the driver, and commits its offsets.

1. The subscription is resolved, then the offsets: partitions become splits with fixed start and stop offsets.
2. Every `discovery_seconds` the subscription is resolved again; new partitions are read from their beginning.
3. Completed checkpoints commit offsets for the consumer group, for others to see; recovery never reads them.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from headrace.connectors.base.split_enumerator import PeriodicEnumerator, Split, SplitProgress
from headrace.connectors.kafka.client import confluent, consumer
from headrace.connectors.kafka.offsets import Offsets, Partition, Start
from headrace.connectors.kafka.subscription import PartitionRange

if TYPE_CHECKING:
    from headrace.connectors.kafka.source import KafkaPartitions

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
