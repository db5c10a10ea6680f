"""Reads one partition, in the task: messages in batches as the client library has fetched them.

1. Position: the offset after the last message, moved past transaction markers at the end of the log.
2. The end of a bounded split: a message at or beyond the stop offset, or the end of the log there.
3. The reader waits for messages that exist but are not fetched yet: otherwise a subtask that is faster than the client would
   end its epoch at every gap. If they do not arrive, the next waits are short, so as not to delay other partitions.
4. While a broker is away nothing arrives; the client reconnects, and reading continues at the position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from headrace.connectors.base.split_reader import EMPTY, Batch, SplitReader
from headrace.connectors.kafka.client import confluent, consumer, log_error
from headrace.connectors.kafka.offsets import Partition
from headrace.errors import BadRecordError, HeadraceError, JobExecutionError, reason_of, shortened
from headrace.types.bad_record import BadRecord

_WAIT_SECONDS, _SHORT_WAIT_SECONDS = 0.2, 0.02


@dataclass
class EndMark:
    """An element that ends the stream and is not part of it: in one partition, it ends all partitions of its subtask.

    >>> EndMark(lambda element: element == "end").is_end("end")
    True
    """

    is_end: Callable[[Any], bool]
    seen: bool = False


class PartitionReader(SplitReader):
    """Reads from `start` up to, and without, `stop` (None: no end)."""

    def __init__(
        self,
        partition: Partition,
        start: int,
        stop: int | None,
        settings: dict[str, Any],
        deserialize: Callable[[Any], Any],
        takes_message: bool,
        sets_aside: bool = False,
        max_bytes: int | None = None,
        end_mark: EndMark | None = None,
    ) -> None:
        self._topic, self._partition = partition
        self._next, self._stop = start, stop
        self._deserialize, self._takes_message = deserialize, takes_message
        self._sets_aside, self._max_bytes, self._end_mark = sets_aside, max_bytes, end_mark
        self._errors = confluent().KafkaError
        self._here = confluent().TopicPartition(*partition, start)
        self.finished = stop is not None and start >= stop
        self._deleted = False
        self._flowing = True
        self._consumer = consumer({**settings, "error_cb": self._note})
        self._consumer.assign([self._here])

    def read(self, limit: int, now: int) -> Batch:
        if self._end_mark is not None and self._end_mark.seen:
            self.finished = True
            return EMPTY
        if self._stop is not None:
            limit = min(limit, max(self._stop - self._next, 1))
        messages = self._consumer.consume(limit, 0)
        if not messages:
            if not self._behind():
                return EMPTY
            messages = self._consumer.consume(1, _WAIT_SECONDS if self._flowing else _SHORT_WAIT_SECONDS)
            if messages and limit > 1:
                messages += self._consumer.consume(limit - 1, 0)
        self._flowing = bool(messages)
        if self._deleted and not messages:
            raise self._failure("the topic was deleted", remedy="start the job without this topic")
        events = [m for m in messages if m.error() is not None]
        if events:
            messages = [m for m in messages if m.error() is None]
            # What was read before an error is returned first; the client reports the error again.
            for event in events:
                self._heed(event, bool(messages))
        if self._stop is not None and messages and messages[-1].offset() >= self._stop - 1:
            messages = [m for m in messages if m.offset() < self._stop]
            self.finished = True
        return self._batch(messages) if messages else EMPTY

    def _batch(self, messages: list[Any]) -> Batch:
        deserialize = self._deserialize
        after = messages[-1].offset() + 1
        bad: list[BadRecord] = []
        try:
            if self._max_bytes is not None:
                self._check_sizes(messages)
            if self._takes_message:
                values = [deserialize(m) for m in messages]
            else:
                values = [deserialize(m.value()) for m in messages]
        except Exception:
            messages, values, bad = self._one_by_one(messages)
        timestamps: list[int | None] = [m.timestamp()[1] for m in messages]
        kept = [v for v in values if v is not None]
        if len(kept) < len(values):
            timestamps = [t for t, v in zip(timestamps, values) if v is not None]
        if (mark := self._end_mark) is not None:
            before = list(takewhile(lambda value: not mark.is_end(value), kept))
            if len(before) < len(kept):
                mark.seen = self.finished = True
                kept, timestamps = before, timestamps[: len(before)]
        if -1 in timestamps:
            timestamps = [None if t == -1 else t for t in timestamps]
        self._next = after
        return Batch(kept, timestamps, more=not kept, dead_letters=bad)

    def _check_sizes(self, messages: list[Any]) -> None:
        most = self._max_bytes
        for message in messages:
            size = len(message.value() or b"") + len(message.key() or b"")
            if most is not None and size > most:
                raise BadRecordError(f"it has {size} bytes", expected=f"at most {most} (max.record.bytes)")

    def _one_by_one(self, messages: list[Any]) -> tuple[list[Any], list[Any], list[BadRecord]]:
        """Set aside messages that cannot be read, or raise an error that names one; return the others and their values."""
        good, values, bad = [], [], []
        for message in messages:
            try:
                self._check_sizes([message])
                values.append(self._deserialize(message if self._takes_message else message.value()))
                good.append(message)
            except Exception as error:
                if not self._sets_aside:
                    self._next = message.offset()
                    raise self._bad(message, error) from error
                place = {"topic": self._topic, "partition": self._partition, "offset": message.offset()}
                headers = message.headers() or []
                bad.append(BadRecord(place, message.value(), reason_of(error), message.key(), headers))
        return good, values, bad

    def _bad(self, message: Any, error: Exception) -> BadRecordError:
        value = message.value()
        return BadRecordError(
            f"The message at offset {message.offset()} of partition {self._partition} of topic {self._topic!r} "
            f"cannot be read: {reason_of(error)}",
            seen="no value" if value is None else shortened(value),
            expected=error.expected if isinstance(error, HeadraceError) else None,
            remedy="let the deserialisation schema return None for messages to skip, "
            "or set a dead-letter output: set_dead_letter_output()",
        )

    def _behind(self) -> bool:
        """Say whether the client may not have fetched all messages yet."""
        _, high = self._consumer.get_watermark_offsets(self._here, cached=True)
        return bool(high < 0 or self._next < high)

    def _note(self, error: Any) -> None:
        """Note an error. The client calls this while it is polled."""
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
                expected=f"an offset from {low} to {high}: older messages were deleted, or the topic was recreated",
                remedy="start from a savepoint or offsets that exist; with the property auto.offset.reset "
                "(earliest or latest) the source continues there and the messages between are lost",
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
