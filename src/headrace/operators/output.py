"""Where an operator's results go: to chained operators and to the edges that leave the task.

Lists are handed on by reference and are never changed by a receiver. Called by operators only.
"""

from __future__ import annotations

from typing import Any, Protocol

Values = list[Any]
Timestamps = list[int | None] | None


class Consumer(Protocol):
    """The receiving end of a stream inside a task: a chained operator or the writer of an edge."""

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        """A run of records; `timestamps` is None if no record has one, `keys` only after a keyed exchange."""
        ...

    def process_watermark(self, timestamp: int) -> None:
        """Event time has reached `timestamp`."""
        ...

    def process_idle(self, idle: bool) -> None:
        """The stream has become idle, or active again."""
        ...

    def process_clock(self, now: int) -> None:
        """An injected clock has moved (tests only)."""
        ...


class Output:
    """Fans the results of one operator out to its consumers; side outputs by tag id."""

    def __init__(self) -> None:
        self.main: list[Consumer] = []
        self.sides: dict[str, list[Consumer]] = {}
        self.records = 0

    def emit(self, values: Values, timestamps: Timestamps, keys: list[Any] | None = None) -> None:
        """Hands a run of records to the main consumers; with their keys, if the operator has taken them already."""
        if values:
            self.records += len(values)
            for consumer in self.main:
                consumer.process_batch(values, timestamps, keys)

    def emit_side(self, tag_id: str, values: Values, timestamps: Timestamps) -> None:
        """Hands records to the consumers of a side output; without any they are dropped, as in Flink."""
        if values:
            for consumer in self.sides.get(tag_id, ()):
                consumer.process_batch(values, timestamps, None)

    def emit_watermark(self, timestamp: int) -> None:
        """Watermarks go to all consumers, those of side outputs too."""
        for consumer in self._all():
            consumer.process_watermark(timestamp)

    def emit_idle(self, idle: bool) -> None:
        """Idleness goes to all consumers."""
        for consumer in self._all():
            consumer.process_idle(idle)

    def emit_clock(self, now: int) -> None:
        """Moves of an injected clock go to all consumers."""
        for consumer in self._all():
            consumer.process_clock(now)

    def _all(self) -> list[Consumer]:
        return [*self.main, *(c for side in self.sides.values() for c in side)]
