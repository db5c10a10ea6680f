"""A source that consumes a queue of RabbitMQ; messages are acknowledged when a checkpoint holds their effects.

1. A thread has the connection. It receives up to `prefetch` messages that are not acknowledged; then the server waits.
2. `read` takes from what was received. A position is the ids of messages that were read and are not acknowledged.
3. When a checkpoint is complete, everything read before it is acknowledged; without checkpoints, when the next epoch begins.
4. If the connection breaks, received messages that were not read are dropped: the server sends them again, and everything
   that was not acknowledged. With correlation ids, messages read before are recognised and skipped: exactly once. Without
   ids: at least once.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from headrace.common.output_tag import OutputTag
from headrace.connectors.base import definitions
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import EMPTY, Batch, ReaderContext, SplitReader
from headrace.connectors.rabbitmq import client
from headrace.connectors.rabbitmq.client import RMQConnectionConfig
from headrace.errors import (
    BadRecordError,
    HeadraceError,
    InvalidProgramError,
    JobExecutionError,
    TypeMismatchError,
    reason_of,
    shortened,
)
from headrace.types.bad_record import BadRecord
from headrace.types.serialization import DeserializationSchema
from headrace.types.typeinfo import TypeInformation

_LOG = logging.getLogger("headrace.rabbitmq")
_PREFETCH = 50_000
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class _Received:
    """A message; its tag is only valid on its connection."""

    connection: int
    tag: int
    body: bytes
    id: str | None
    again: bool


@dataclass(frozen=True)
class _ReadSoFar:
    """At the end of an epoch: the ids that were read, and the last message."""

    ids: list[str]
    last: _Received


class RMQSource(definitions.Source):
    """Consumes a queue; for `StreamExecutionEnvironment.add_source`.

    Messages are acknowledged when a checkpoint is complete. With ``use_correlation_id`` each message is read once, if
    its producer sets a unique id; the source then has one subtask.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> config = RMQConnectionConfig.Builder().set_uri("amqp://guest:guest@localhost:5672/%2F").build()
    >>> RMQSource(config, "orders", True, SimpleStringSchema()).get_definition().non_parallel
    True
    """

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str,
        use_correlation_id: bool,
        deserialization_schema: DeserializationSchema,
    ) -> None:
        """Take where and what to consume."""
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise TypeMismatchError("An RMQSource reads with a DeserializationSchema", seen=deserialization_schema)
        if type(deserialization_schema).is_end_of_stream is not DeserializationSchema.is_end_of_stream:
            raise InvalidProgramError(
                "is_end_of_stream cannot end an RMQSource: what follows in the queue is there already",
                remedy="stop the job with a savepoint",
            )
        super().__init__(
            RabbitQueue(
                client.settings_of(connection_config),
                queue_name,
                use_correlation_id,
                deserialization_schema.deserialize,
                deserialization_schema.get_produced_type(),
            )
        )

    def set_dead_letter_output(self, output_tag: OutputTag) -> RMQSource:
        """Send messages that cannot be read to a side output, as `BadRecord`s; otherwise they fail the job."""
        assert isinstance(self._definition, RabbitQueue)
        self._definition = replace(self._definition, dead_letters=definitions.dead_letter_tag(output_tag))
        return self


@dataclass(frozen=True, eq=False)
class RabbitQueue(Source):
    """Consumes `queue`. With `use_ids` in one subtask, because the ids of a subtask are its own."""

    settings: client.RabbitSettings
    queue: str
    use_ids: bool
    deserialize: Callable[[bytes], Any]
    produced_type: TypeInformation | None = None
    dead_letters: str | None = None
    bounded = False

    @property
    def non_parallel(self) -> bool:
        return self.use_ids

    def splits(self, parallelism: int) -> list[Split]:
        return [Split(str(index)) for index in range(parallelism)]

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        return _QueueReader(self, position or [], context.checkpoints)


class _Connection(threading.Thread):
    """Receives in a thread of its own; `generation` counts the connections."""

    def __init__(self, source: RabbitQueue) -> None:
        super().__init__(name="headrace-rabbitmq-source", daemon=True)
        self._source = source
        self.received: deque[_Received] = deque()
        self.lock = threading.Lock()
        self.error: BaseException | None = None
        self.generation = 0
        self._stop = threading.Event()
        self._acknowledge_up_to = (0, 0)
        self.acknowledged = (0, 0)
        """A connection, and the last message on it whose acknowledgement the server has confirmed."""

    def run(self) -> None:
        settings = self._source.settings
        while not self._stop.is_set():
            try:
                self._consume()
            except client.away_errors() as error:
                if not settings.automatic_recovery:
                    self.error = error
                    return
                _LOG.warning("RabbitMQ at %s is away; retrying: %r", settings.where, error)
                self._stop.wait(settings.recovery_interval / 1000)
            except BaseException as error:
                self.error = error
                return

    def _consume(self) -> None:
        source = self._source
        connection = client.connect(source.settings)
        try:
            channel = client.open_channel(connection, source.queue)
            channel.basic_qos(prefetch_count=source.settings.prefetch or _PREFETCH)
            with self.lock:
                self.generation += 1
                self.received.clear()
                number = self.generation

            def take(_: Any, method: Any, properties: Any, body: bytes) -> None:
                message_id = properties.correlation_id
                self.received.append(_Received(number, method.delivery_tag, body, message_id, method.redelivered))

            cancelled: list[Any] = []
            channel.add_on_cancel_callback(cancelled.append)
            channel.basic_consume(source.queue, take)
            while not self._stop.is_set():
                connection.process_data_events(time_limit=_POLL_SECONDS)
                if cancelled or not channel.is_open:
                    raise ConnectionError("the server has ended the consumer")
                generation, tag = self._acknowledge_up_to
                if generation == number and tag:
                    self._acknowledge_up_to = (0, 0)
                    channel.basic_ack(tag, multiple=True)
                    channel.queue_declare(source.queue, passive=True)  # its answer says that the server has the former
                    self.acknowledged = (generation, tag)
        finally:
            try:
                connection.close()
            except Exception as error:
                _LOG.debug("headrace: a connection to RabbitMQ could not be closed: %s", error)

    def acknowledge(self, message: _Received) -> None:
        """Acknowledge a message and all before it soon, if its connection still exists."""
        self._acknowledge_up_to = (message.connection, message.tag)

    def stop(self) -> None:
        self._stop.set()
        self.join(5.0)


class _QueueReader(SplitReader):
    def __init__(self, source: RabbitQueue, position: list[str], checkpoints: bool) -> None:
        self._source, self._checkpoints = source, checkpoints
        self._pending: dict[str, int] = dict.fromkeys(position, 0)
        """Ids that were read and are not acknowledged, with the connection that has sent them last."""
        self._last: _Received | None = None
        self._at_end: _ReadSoFar | None = None
        self._asked: list[_ReadSoFar] = []
        """What has been acknowledged to the server, which has not confirmed it yet."""
        self._connection = _Connection(source)
        self._connection.start()

    def read(self, limit: int, now: int) -> Batch:
        if not self._checkpoints:
            self._acknowledge()
        connection = self._connection
        if connection.error is not None:
            self._fail(connection.error)
        with connection.lock:
            messages = [connection.received.popleft() for _ in range(min(limit, len(connection.received)))]
        if not messages:
            return EMPTY
        self._last = messages[-1]
        if self._source.use_ids:
            messages = [message for message in messages if self._is_new(message)]
        values, bad = [], []
        for message in messages:
            try:
                values.append(self._source.deserialize(message.body))
            except Exception as error:
                if self._source.dead_letters is None:
                    raise BadRecordError(
                        f"A message of queue {self._source.queue!r} cannot be read: {reason_of(error)}",
                        seen=shortened(message.body),
                        remedy="set a dead-letter output: set_dead_letter_output()",
                    ) from error
                place = {"queue": self._source.queue, "correlation id": message.id}
                bad.append(BadRecord(place, message.body, reason_of(error)))
        kept = [value for value in values if value is not None]
        return Batch(kept, more=not kept, dead_letters=bad)

    def _fail(self, error: BaseException) -> NoReturn:
        if isinstance(error, HeadraceError):
            raise error
        raise JobExecutionError(
            f"RabbitMQ at {self._source.settings.where} cannot be read: {error!r}",
            remedy="see that the server is reachable; automatic recovery waits for it",
        ) from error

    def _is_new(self, message: _Received) -> bool:
        if message.id is None:
            raise BadRecordError(
                f"A message of queue {self._source.queue!r} has no correlation id",
                seen=shortened(message.body),
                expected="an id of its own for each message, from its producer",
                remedy="make the source with use_correlation_id=False: then it reads at least once",
            )
        known = message.id in self._pending
        self._pending[message.id] = message.connection
        return not known

    def position(self) -> list[str]:
        self._drop_acknowledged()
        ids = list(self._pending)
        if self._last is not None:
            self._at_end, self._last = _ReadSoFar(ids, self._last), None
        return ids

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._acknowledge()

    def _acknowledge(self) -> None:
        """Acknowledge everything read up to the end of the last epoch."""
        read, self._at_end = self._at_end, None
        if read is not None and read.last.connection == self._connection.generation:
            self._connection.acknowledge(read.last)
            self._asked.append(read)

    def _drop_acknowledged(self) -> None:
        """Drop ids that cannot arrive again: messages that are sent again come before all others."""
        connection, tag = self._connection.acknowledged
        for read in self._asked:
            if (read.last.connection, read.last.tag) > (connection, tag):
                continue
            for message_id in read.ids:
                sent_by = self._pending.get(message_id, connection + 1)
                if sent_by == connection or (sent_by < connection and not read.last.again):
                    del self._pending[message_id]
        current = self._connection.generation
        self._asked = [
            read
            for read in self._asked
            if read.last.connection == current and (read.last.connection, read.last.tag) > (connection, tag)
        ]

    def close(self) -> None:
        self._connection.stop()
