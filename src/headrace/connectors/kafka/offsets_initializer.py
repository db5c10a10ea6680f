"""How programs say where a Kafka source begins and ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from headrace.connectors.kafka.offsets import Offsets, Reset, Start
from headrace.errors import InvalidProgramError, TypeMismatchError

__all__ = ["KafkaOffsetResetStrategy", "KafkaOffsetsInitializer", "KafkaTopicPartition"]


@dataclass(frozen=True)
class KafkaTopicPartition:
    """A partition of a topic.

    >>> KafkaTopicPartition("orders", 0) in {KafkaTopicPartition("orders", 0)}
    True
    """

    topic: str
    partition: int


class KafkaOffsetResetStrategy(Enum):
    """Where to begin if there is no offset, or none that still exists.

    >>> [strategy.name for strategy in KafkaOffsetResetStrategy]
    ['LATEST', 'EARLIEST', 'NONE']
    """

    LATEST = 0
    EARLIEST = 1
    NONE = 2


class KafkaOffsetsInitializer:
    """Gives an offset for every partition, once, when the job starts.

    >>> KafkaOffsetsInitializer.timestamp(1_700_000_000_000).rule.timestamp
    1700000000000
    """

    def __init__(self, rule: Offsets) -> None:
        """Programs call the static methods."""
        self.rule = rule

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        """Give the beginning of each partition."""
        return KafkaOffsetsInitializer(Offsets(Start.EARLIEST))

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        """Give the end that each partition has when the job starts."""
        return KafkaOffsetsInitializer(Offsets(Start.LATEST, Reset.LATEST))

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """Give what the consumer group has committed, and where there is nothing what the strategy says."""
        return KafkaOffsetsInitializer(Offsets(Start.COMMITTED, _reset(offset_reset_strategy)))

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """Give the first message at or after a time in milliseconds, the end where there is none."""
        if not isinstance(timestamp, int) or isinstance(timestamp, bool) or timestamp < 0:
            raise InvalidProgramError("A timestamp to start at is milliseconds since 1970", seen=timestamp)
        return KafkaOffsetsInitializer(Offsets(Start.TIMESTAMP, Reset.LATEST, timestamp=timestamp))

    @staticmethod
    def offsets(
        offsets: dict[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """Give these offsets; for other partitions what the group has committed, else what the strategy says."""
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


def _reset(strategy: KafkaOffsetResetStrategy) -> Reset:
    if not isinstance(strategy, KafkaOffsetResetStrategy):
        raise TypeMismatchError("A reset strategy is a KafkaOffsetResetStrategy", seen=strategy)
    return Reset[strategy.name]
