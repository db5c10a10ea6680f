"""A sink that publishes to a queue of RabbitMQ, or to exchanges with routing keys: at least once.

1. Messages are collected and published in transactions of the server of at most `_BATCH`; the end of an epoch waits for the
   last one. A transaction never stays open between epochs.
2. If the server is away, the messages of the failed transaction are published again on a new connection. If only the answer
   to a commit was lost, its messages arrive twice.
"""

from __future__ import annotations

import contextlib
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.connectors.base import definitions
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_writer import EpochEnd, RecordError, SinkWriter, WriterContext
from headrace.connectors.rabbitmq import client
from headrace.connectors.rabbitmq.client import RMQConnectionConfig
from headrace.errors import ConfigurationError, InvalidProgramError, JobExecutionError, TypeMismatchError
from headrace.types.serialization import SerializationSchema

_LOG = logging.getLogger("headrace.rabbitmq")
_BATCH = 5000
PATIENCE_SECONDS = 120.0


Route = tuple[str, str, Any]
"""Exchange, routing key and properties (None: persistent) of a message."""
Message = tuple[str, str, bytes, Any]


class RMQSinkPublishOptions(ABC):
    """Where each record is published: an exchange and a routing key. Exchanges are not declared by the sink.

    >>> class ByCountry(RMQSinkPublishOptions):
    ...     def compute_routing_key(self, value):
    ...         return f"orders.{value['country']}"
    ...
    ...     def compute_exchange(self, value):
    ...         return "orders"
    >>> ByCountry().compute_routing_key({"country": "fr"})
    'orders.fr'
    """

    @abstractmethod
    def compute_routing_key(self, value: Any) -> str:
        """Return the routing key of a record."""

    @abstractmethod
    def compute_exchange(self, value: Any) -> str:
        """Return the exchange of a record."""

    def compute_properties(self, value: Any) -> Any:
        """Return the `pika.BasicProperties` of a record's message; None: only that it is persistent."""

    def route(self, value: Any) -> tuple[str, str, Any]:
        """Return all three."""
        return self.compute_exchange(value), self.compute_routing_key(value), self.compute_properties(value)


class RMQSink(definitions.Sink):
    """Publishes to a queue, or where `RMQSinkPublishOptions` say, at least once; for `DataStream.add_sink`.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> config = RMQConnectionConfig.Builder().set_uri("amqp://guest:guest@localhost:5672/%2F").build()
    >>> isinstance(RMQSink(config, "orders", SimpleStringSchema()), definitions.Sink)
    True
    """

    def __init__(
        self,
        connection_config: RMQConnectionConfig,
        queue_name: str | None,
        serialization_schema: SerializationSchema,
        publish_options: RMQSinkPublishOptions | None = None,
    ) -> None:
        """Take a queue to publish to, or options instead of it, and how records become bytes."""
        if not isinstance(serialization_schema, SerializationSchema):
            raise TypeMismatchError("An RMQSink writes with a SerializationSchema", seen=serialization_schema)
        if publish_options is not None and not isinstance(publish_options, RMQSinkPublishOptions):
            raise TypeMismatchError("Publish options are RMQSinkPublishOptions", seen=publish_options)
        if (queue_name is None) == (publish_options is None):
            raise InvalidProgramError(
                "An RMQSink has a queue or publish options",
                seen="both" if queue_name is not None else "none of them",
                remedy="pass None for the queue to use publish options",
            )
        route = None if publish_options is None else publish_options.route
        settings = client.settings_of(connection_config)
        super().__init__(RabbitPublisher(settings, queue_name, serialization_schema.serialize, route))


@dataclass(frozen=True)
class RabbitPublisher(Sink):
    """Publishes to `queue` through the default exchange; without a queue, where `route` says."""

    settings: client.RabbitSettings
    queue: str | None
    serialize: Callable[[Any], bytes | None]
    route: Callable[[Any], Route] | None = None

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _Writer(self)


class _Writer(SinkWriter):
    def __init__(self, sink: RabbitPublisher) -> None:
        self._sink = sink
        self._connection: Any = None
        self._channel: Any = None
        self._waiting: list[Message] = []

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        serialize, route, queue = self._sink.serialize, self._sink.route, self._sink.queue or ""
        exchange, key, properties = "", queue, None
        value = None
        try:
            for value in values:
                message = serialize(value)
                if message is None:
                    raise TypeMismatchError("A message of RabbitMQ has a body, and this record has none", seen=value)
                if route is not None:
                    exchange, key, properties = route(value)
                self._waiting.append((exchange, key, message, properties))
        except Exception as error:
            raise RecordError(value) from error
        if len(self._waiting) >= _BATCH:
            self._publish()

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        self._publish()
        if self._connection is not None:
            with contextlib.suppress(*client.away_errors()):
                self._connection.process_data_events(0)  # answers heartbeats
        return []

    def _publish(self) -> None:
        while self._waiting:
            self._try_until_done(self._waiting[:_BATCH])
            del self._waiting[:_BATCH]

    def _try_until_done(self, messages: list[Message]) -> None:
        settings = self._sink.settings
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self._transaction(messages)
                return
            except client.away_errors() as error:
                self.close()
                if client.no_exchange(error):
                    raise ConfigurationError(
                        f"RabbitMQ at {settings.where} does not know an exchange: {error!r}",
                        remedy="declare the exchange, and queues that are bound to it, before the job starts",
                    ) from error
                if not settings.automatic_recovery or time.monotonic() > deadline:
                    raise JobExecutionError(
                        f"RabbitMQ at {settings.where} does not take messages: {error!r}",
                        remedy="check the server; the job continues from its checkpoint and publishes these again",
                    ) from error
                _LOG.warning("RabbitMQ at %s is away; retrying: %r", settings.where, error)
            time.sleep(settings.recovery_interval / 1000)

    def _transaction(self, messages: list[Message]) -> None:
        if self._connection is None:
            self._connection = client.connect(self._sink.settings)
            self._channel = client.open_channel(self._connection, self._sink.queue)
            self._channel.tx_select()
        publish, usual = self._channel.basic_publish, client.persistent()
        for exchange, key, body, properties in messages:
            publish(exchange, key, body, usual if properties is None else properties)
        self._channel.tx_commit()

    def close(self) -> None:
        if self._connection is not None:
            connection, self._connection, self._channel = self._connection, None, None
            try:
                connection.close()
            except Exception as error:
                _LOG.debug("headrace: a connection to RabbitMQ could not be closed: %s", error)
