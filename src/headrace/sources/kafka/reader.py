"""Reads one partition, in the task: messages in batches as the client library has fetched them.

1. Position: the offset after the last message, moved on over markers of transactions when the end of the log is seen.
2. The end of a bounded split: a message at or beyond the stop offset, or the end of the log there.
3. A broker that is away: nothing comes, the client connects anew, reading goes on at the position.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.common.errors import BadRecordError, HeadraceError, JobExecutionError, shortened
from headrace.common.kafka_client import confluent, consumer, log_error
from headrace.sources.base import EMPTY, Batch, SplitReader
from headrace.sources.kafka.offsets import Partition

_WAIT_SECONDS = 0.02


class PartitionReader(SplitReader):
    """Reads from `start` up to, and without, `stop` (None: for ever)."""

    def __init__(
        self,
        partition: Partition,
        start: int,
        stop: int | None,
        settings: dict[str, Any],
        deserialize: Callable[[Any], Any],
        takes_message: bool,
    ) -> None:
        self._topic, self._partition = partition
        self._next, self._stop = start, stop
        self._deserialize, self._takes_message = deserialize, takes_message
        self._errors = confluent().KafkaError
        self._here = confluent().TopicPartition(*partition, start)
        self.finished = stop is not None and start >= stop
        self._deleted = False
        self._consumer = consumer({**settings, "error_cb": self._note})
        self._consumer.assign([self._here])

    def read(self, limit: int, now: int) -> Batch:
        if self._stop is not None:
            limit = min(limit, max(self._stop - self._next, 1))
        messages = self._consumer.consume(limit, 0)
        if not messages:
            if not self._behind():
                return EMPTY
            messages = self._consumer.consume(1, _WAIT_SECONDS)
            if limit > 1:
                messages += self._consumer.consume(limit - 1, 0)
        if self._deleted and not messages:
            raise self._failure("the topic was deleted", remedy="start the job without this topic")
        events = [m for m in messages if m.error() is not None]
        if events:
            messages = [m for m in messages if m.error() is None]
            # What was read before an error is given out first; the client says the error again.
            for event in events:
                self._heed(event, bool(messages))
        if self._stop is not None and messages and messages[-1].offset() >= self._stop - 1:
            messages = [m for m in messages if m.offset() < self._stop]
            self.finished = True
        return self._batch(messages) if messages else EMPTY

    def _batch(self, messages: list[Any]) -> Batch:
        deserialize = self._deserialize
        try:
            if self._takes_message:
                values = [deserialize(m) for m in messages]
            else:
                values = [deserialize(m.value()) for m in messages]
        except Exception:
            self._explain(messages)
            raise
        timestamps: list[int | None] = [m.timestamp()[1] for m in messages]
        kept = [v for v in values if v is not None]
        if len(kept) < len(values):
            timestamps = [t for t, v in zip(timestamps, values) if v is not None]
        if -1 in timestamps:
            timestamps = [None if t == -1 else t for t in timestamps]
        self._next = messages[-1].offset() + 1
        return Batch(kept, timestamps, more=not kept)

    def _explain(self, messages: list[Any]) -> None:
        """Finds the message that cannot be deserialised and says where it stands."""
        for message in messages:
            self._next = message.offset()
            try:
                self._deserialize(message if self._takes_message else message.value())
            except Exception as error:
                value = message.value()
                why = error.message if isinstance(error, HeadraceError) else f"{type(error).__name__}: {error}"
                raise BadRecordError(
                    f"The message at offset {message.offset()} of partition {self._partition} of topic {self._topic!r} "
                    f"cannot be read: {why}",
                    seen="no value" if value is None else shortened(value),
                    expected=error.expected if isinstance(error, HeadraceError) else None,
                    remedy="let the deserialisation schema give None for messages to leave out",
                ) from error

    def _behind(self) -> bool:
        """Whether there are messages that the client has not fetched yet, or may be."""
        _, high = self._consumer.get_watermark_offsets(self._here, cached=True)
        return bool(high < 0 or self._next < high)

    def _note(self, error: Any) -> None:
        """Called by the client while it is asked for messages."""
        log_error(error)
        if error.code() in (self._errors.UNKNOWN_TOPIC_OR_PART, self._errors._UNKNOWN_TOPIC):
            self._deleted = True

    def _heed(self, event: Any, after_messages: bool) -> None:
        error, errors = event.error(), self._errors
        code = error.code()
        if code == errors._PARTITION_EOF:
            if not after_messages:
                self._next = max(self._next, event.offset())
            if self._stop is not None and event.offset() >= self._stop:
                self.finished = True
        elif code in (errors._AUTO_OFFSET_RESET, errors.OFFSET_OUT_OF_RANGE):
            low, high = self._consumer.get_watermark_offsets(self._here, timeout=10)
            raise self._failure(
                f"offset {self._next} does not exist",
                expected=f"an offset from {low} to {high}: older messages were deleted, or the topic was made anew",
                remedy="start from a savepoint or offsets that exist; with the property auto.offset.reset "
                "(earliest or latest) the source goes on there and the messages between are lost",
            )
        elif not (error.retriable() or code in (errors._TRANSPORT, errors._ALL_BROKERS_DOWN, errors._TIMED_OUT)):
            raise self._failure(error.str())

    def _failure(self, what: str, expected: str | None = None, remedy: str | None = None) -> JobExecutionError:
        return JobExecutionError(
            f"Reading partition {self._partition} of topic {self._topic!r} failed: {what}",
            seen=f"position {self._next}",
            expected=expected,
            remedy=remedy,
        )

    def position(self) -> int:
        return self._next

    def close(self) -> None:
        self._consumer.close()
