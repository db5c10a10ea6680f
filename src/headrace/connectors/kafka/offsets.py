"""Where a Kafka source begins and ends: how programs say it, and how the driver resolves it into plain offsets.

Offsets are resolved once, so that a replay starts where the first attempt started, also with "latest" and timestamps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from headrace.connectors.kafka.client import confluent
from headrace.errors import InvalidProgramError, JobExecutionError, TypeMismatchError

Partition = tuple[str, int]

_SECONDS = 30.0


@dataclass(frozen=True)
class KafkaTopicPartition:
    """A partition of a topic.

    >>> KafkaTopicPartition("orders", 0) in {KafkaTopicPartition("orders", 0)}
    True
    """

    topic: str
    partition: int


class KafkaOffsetResetStrategy(Enum):
    """Where to begin if there is no offset, or if it does not exist any more.

    >>> [strategy.name for strategy in KafkaOffsetResetStrategy]
    ['LATEST', 'EARLIEST', 'NONE']
    """

    LATEST = 0
    EARLIEST = 1
    NONE = 2


class Start(Enum):
    """Which offset is asked for."""

    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"
    TIMESTAMP = "timestamp"
    GIVEN = "given"


@dataclass(frozen=True)
class Offsets:
    """A rule that chooses an offset for every partition.

    >>> Offsets(Start.GIVEN, given={("orders", 0): 42}).given
    {('orders', 0): 42}
    """

    start: Start
    reset: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST
    timestamp: int = 0
    given: Mapping[Partition, int] = field(default_factory=dict)

    def resolve(self, client: Any, partitions: Sequence[Partition], to_stop: bool = False) -> dict[Partition, int]:
        """Ask the broker for the offsets of `partitions`; one to stop at may lie beyond the end of the log."""
        bounds = {p: _bounds(client, p) for p in partitions}
        low, high = {p: b[0] for p, b in bounds.items()}, {p: b[1] for p, b in bounds.items()}
        if self.start is Start.EARLIEST:
            return low
        if self.start is Start.LATEST:
            return high
        if self.start is Start.TIMESTAMP:
            found = client.offsets_for_times(_topic_partitions(partitions, self.timestamp), timeout=_SECONDS)
            return {
                (tp.topic, tp.partition): tp.offset if tp.offset >= 0 else high[tp.topic, tp.partition] for tp in found
            }
        wanted: dict[Partition, int | None] = {p: self.given.get(p) for p in partitions}
        unknown = [p for p, offset in wanted.items() if offset is None]
        if unknown:
            for tp in client.committed(_topic_partitions(unknown), timeout=_SECONDS):
                wanted[tp.topic, tp.partition] = tp.offset if tp.offset >= 0 else None
        if to_stop:
            bounds = {p: (b[0], max(b[1], wanted[p] or 0)) for p, b in bounds.items()}
        return {p: self._within(p, offset, bounds[p]) for p, offset in wanted.items()}

    def _within(self, partition: Partition, offset: int | None, bounds: tuple[int, int]) -> int:
        if offset is not None and bounds[0] <= offset <= bounds[1]:
            return offset
        if self.reset is KafkaOffsetResetStrategy.EARLIEST:
            return bounds[0]
        if self.reset is KafkaOffsetResetStrategy.LATEST:
            return bounds[1]
        raise JobExecutionError(
            f"There is no offset to start at in partition {partition[1]} of topic {partition[0]!r}",
            seen="the group has committed none" if offset is None else f"offset {offset}",
            expected=f"an offset from {bounds[0]} to {bounds[1]}",
            remedy="give KafkaOffsetsInitializer a reset strategy, EARLIEST or LATEST",
        )


class KafkaOffsetsInitializer:
    """Chooses an offset for every partition, once, when the job starts.

    >>> KafkaOffsetsInitializer.timestamp(1_700_000_000_000).rule.timestamp
    1700000000000
    """

    def __init__(self, rule: Offsets) -> None:
        """Programs call the static methods."""
        self.rule = rule

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """Start at the beginning of each partition."""
        return KafkaOffsetsInitializer(Offsets(Start.EARLIEST))

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Start at the end that each partition has when the job starts."""
        return KafkaOffsetsInitializer(Offsets(Start.LATEST, KafkaOffsetResetStrategy.LATEST))

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Start at the offsets that the consumer group has committed; without any, the strategy decides."""
        return KafkaOffsetsInitializer(Offsets(Start.COMMITTED, _reset(offset_reset_strategy)))

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Start at the first message at or after a time in milliseconds, or at the end if there is none."""
        if not isinstance(timestamp, int) or isinstance(timestamp, bool) or timestamp < 0:
            raise InvalidProgramError("A timestamp to start at is milliseconds since 1970", seen=timestamp)
        return KafkaOffsetsInitializer(Offsets(Start.TIMESTAMP, KafkaOffsetResetStrategy.LATEST, timestamp=timestamp))

    @staticmethod
    def offsets(
        offsets: dict[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Start at these offsets; other partitions at what the group has committed, otherwise as the strategy says."""
        given = {}
        for partition, offset in offsets.items():
            if not isinstance(partition, KafkaTopicPartition) or not isinstance(offset, int):
                raise TypeMismatchError(
                    "offsets() takes the offsets of partitions",
                    seen={partition: offset},
                    expected="{KafkaTopicPartition(topic, partition): offset}",
                )
            if offset < 0:
                raise InvalidProgramError("An offset is not negative", seen=offset)
            given[partition.topic, partition.partition] = offset
        return KafkaOffsetsInitializer(Offsets(Start.GIVEN, _reset(offset_reset_strategy), given=given))


def _reset(strategy: KafkaOffsetResetStrategy) -> KafkaOffsetResetStrategy:
    if not isinstance(strategy, KafkaOffsetResetStrategy):
        raise TypeMismatchError("A reset strategy is a KafkaOffsetResetStrategy", seen=strategy)
    return strategy


def _topic_partitions(partitions: Sequence[Partition], offset: int | None = None) -> list[Any]:
    make = confluent().TopicPartition
    return [make(t, p) if offset is None else make(t, p, offset) for t, p in partitions]


def _bounds(client: Any, partition: Partition) -> tuple[int, int]:
    low, high = client.get_watermark_offsets(_topic_partitions([partition])[0], timeout=_SECONDS)
    return int(low), int(high)
