"""Which partitions a Kafka source reads: of topics, of topics that match a pattern, or a given set; and how much of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from headrace.connectors.kafka.offsets import Partition
from headrace.errors import JobExecutionError

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
