"""Where the reading of partitions begins or ends: resolved once, in the driver, into plain offsets.

So a replay starts where the first try started, also with "latest" and timestamps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from headrace.connectors.kafka.client import confluent
from headrace.errors import JobExecutionError

Partition = tuple[str, int]

_SECONDS = 30.0


class Reset(Enum):
    """What to do where there is no offset, or none that still exists."""

    EARLIEST = 1
    LATEST = 2
    NONE = 3


class Start(Enum):
    """Which offset is asked for."""

    EARLIEST = "earliest"
    LATEST = "latest"
    COMMITTED = "committed"
    TIMESTAMP = "timestamp"
    GIVEN = "given"


@dataclass(frozen=True)
class Offsets:
    """A rule that gives an offset for every partition.

    >>> Offsets(Start.GIVEN, given={("orders", 0): 42}).given
    {('orders', 0): 42}
    """

    start: Start
    reset: Reset = Reset.EARLIEST
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
        if self.reset is Reset.EARLIEST:
            return bounds[0]
        if self.reset is Reset.LATEST:
            return bounds[1]
        raise JobExecutionError(
            f"There is no offset to start at in partition {partition[1]} of topic {partition[0]!r}",
            seen="the group has committed none" if offset is None else f"offset {offset}",
            expected=f"an offset from {bounds[0]} to {bounds[1]}",
            remedy="give KafkaOffsetsInitializer a reset strategy, EARLIEST or LATEST",
        )


def _topic_partitions(partitions: Sequence[Partition], offset: int | None = None) -> list[Any]:
    make = confluent().TopicPartition
    return [make(t, p) if offset is None else make(t, p, offset) for t, p in partitions]


def _bounds(client: Any, partition: Partition) -> tuple[int, int]:
    low, high = client.get_watermark_offsets(_topic_partitions([partition])[0], timeout=_SECONDS)
    return int(low), int(high)
