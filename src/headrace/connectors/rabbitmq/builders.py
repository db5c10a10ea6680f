"""RabbitMQ as source and sink; the names are those of `pyflink.datastream.connectors.rabbitmq`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.connectors.base.definitions import Sink, Source, dead_letter_tag
from headrace.connectors.rabbitmq.client import RabbitSettings
from headrace.connectors.rabbitmq.sink import RabbitPublisher
from headrace.connectors.rabbitmq.source import RabbitQueue
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.serialization import DeserializationSchema, SerializationSchema

__all__ = ["RMQConnectionConfig", "RMQSink", "RMQSinkPublishOptions", "RMQSource"]


class RMQConnectionConfig:
    """Where RabbitMQ is.

    >>> config = RMQConnectionConfig.Builder().set_host("localhost").set_port(5672).set_virtual_host("/")
    >>> config = config.set_user_name("guest").set_password("guest").build()
    >>> config.get_host(), config.get_port(), config.get_network_recovery_interval()
    ('localhost', 5672, 5000)
    """

    def __init__(self, settings: RabbitSettings) -> None:
        """Programs call `RMQConnectionConfig.Builder`."""
        self.settings = settings

    def get_host(self) -> str | None:
        """Give the host."""
        return self.settings.host

    def get_port(self) -> int | None:
        """Give the port."""
        return self.settings.port

    def get_virtual_host(self) -> str | None:
        """Give the virtual host."""
        return self.settings.virtual_host

    def get_user_name(self) -> str | None:
        """Give the name of the user."""
        return self.settings.user

    def get_password(self) -> str | None:
        """Give the password."""
        return self.settings.password

    def get_uri(self) -> str | None:
        """Give the URI, if the connection is described by one."""
        return self.settings.uri

    def get_network_recovery_interval(self) -> int:
        """Give the milliseconds between two tries to connect."""
        return self.settings.recovery_interval

    def is_automatic_recovery(self) -> bool:
        """Say whether a lost connection is made anew; else it fails the job."""
        return self.settings.automatic_recovery

    def is_topology_recovery(self) -> bool:
        """Say whether queues are declared again on a new connection: always."""
        return True

    def get_connection_timeout(self) -> int | None:
        """Give the milliseconds that a connection may take."""
        return self.settings.connection_timeout

    def get_requested_channel_max(self) -> int | None:
        """Give the highest number of channels."""
        return self.settings.channel_max

    def get_requested_frame_max(self) -> int | None:
        """Give the largest frame in bytes."""
        return self.settings.frame_max

    def get_requested_heartbeat(self) -> int | None:
        """Give the seconds between heartbeats."""
        return self.settings.heartbeat

    class Builder:
        """Collects the parts: host, port, virtual host, user and password, or a URI."""

        def __init__(self) -> None:
            """Start with nothing."""
            self._settings = RabbitSettings()

        def _set(self, **settings: Any) -> RMQConnectionConfig.Builder:
            self._settings = replace(self._settings, **settings)
            return self

        def set_port(self, port: int) -> RMQConnectionConfig.Builder:
            """Set the port."""
            return self._set(port=port)

        def set_host(self, host: str) -> RMQConnectionConfig.Builder:
            """Set the host."""
            return self._set(host=host)

        def set_virtual_host(self, vhost: str) -> RMQConnectionConfig.Builder:
            """Set the virtual host."""
            return self._set(virtual_host=vhost)

        def set_user_name(self, user_name: str) -> RMQConnectionConfig.Builder:
            """Set the name of the user."""
            return self._set(user=user_name)

        def set_password(self, password: str) -> RMQConnectionConfig.Builder:
            """Set the password."""
            return self._set(password=password)

        def set_uri(self, uri: str) -> RMQConnectionConfig.Builder:
            """Set everything as ``amqp://user:password@host:port/vhost``."""
            return self._set(uri=uri)

        def set_topology_recovery_enabled(self, topology_recovery_enabled: bool) -> RMQConnectionConfig.Builder:
            """Accept True: the queue is declared on each new connection."""
            if not topology_recovery_enabled:
                raise InvalidProgramError("The queue is declared on each new connection; this cannot be turned off")
            return self

        def set_requested_heartbeat(self, requested_heartbeat: int) -> RMQConnectionConfig.Builder:
            """Set the seconds between heartbeats."""
            return self._set(heartbeat=requested_heartbeat)

        def set_requested_frame_max(self, requested_frame_max: int) -> RMQConnectionConfig.Builder:
            """Set the largest frame in bytes."""
            return self._set(frame_max=requested_frame_max)

        def set_requested_channel_max(self, requested_channel_max: int) -> RMQConnectionConfig.Builder:
            """Set the highest number of channels."""
            return self._set(channel_max=requested_channel_max)

        def set_network_recovery_interval(self, network_recovery_interval: int) -> RMQConnectionConfig.Builder:
            """Set the milliseconds between two tries to connect."""
            return self._set(recovery_interval=network_recovery_interval)

        def set_connection_timeout(self, connection_timeout: int) -> RMQConnectionConfig.Builder:
            """Set the milliseconds that a connection may take."""
            return self._set(connection_timeout=connection_timeout)

        def set_automatic_recovery(self, automatic_recovery: bool) -> RMQConnectionConfig.Builder:
            """Set whether a lost connection is made anew; else it fails the job."""
            return self._set(automatic_recovery=automatic_recovery)

        def set_prefetch_count(self, prefetch_count: int) -> RMQConnectionConfig.Builder:
            """Set how many messages may be on their way: also how many a checkpoint can hold."""
            return self._set(prefetch=prefetch_count)

        def build(self) -> RMQConnectionConfig:
            """Check that all is there."""
            settings = self._settings
            if settings.uri is None:
                needed = ("host", "port", "virtual_host", "user", "password")
                missing = [name for name in needed if getattr(settings, name) is None]
                if missing:
                    raise InvalidProgramError(
                        "A connection to RabbitMQ needs a URI, or all of its parts",
                        seen=f"no {', '.join(missing)}",
                        remedy="call set_uri(), or set_host(), set_port(), set_virtual_host(), set_user_name() and "
                        "set_password()",
                    )
            return RMQConnectionConfig(settings)


def _settings(given: object) -> RabbitSettings:
    if not isinstance(given, RMQConnectionConfig):
        raise TypeMismatchError(
            "RabbitMQ is described by an RMQConnectionConfig",
            seen=given,
            remedy="RMQConnectionConfig.Builder()...build()",
        )
    return given.settings


class RMQSource(Source):
    """Consumes a queue; for `StreamExecutionEnvironment.add_source`.

    Messages are acknowledged when a checkpoint is complete. With ``use_correlation_id`` each message is read once, if
    its producer gives it an id of its own; the source then has one subtask.

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
                _settings(connection_config),
                queue_name,
                use_correlation_id,
                deserialization_schema.deserialize,
                deserialization_schema.get_produced_type(),
            )
        )

    def set_dead_letter_output(self, output_tag: OutputTag) -> RMQSource:
        """Send messages that cannot be read to a side output, as `BadRecord`s; otherwise they fail the job."""
        assert isinstance(self._definition, RabbitQueue)
        self._definition = replace(self._definition, dead_letters=dead_letter_tag(output_tag))
        return self


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
        """Give the routing key of a record."""

    @abstractmethod
    def compute_exchange(self, value: Any) -> str:
        """Give the exchange of a record."""

    def compute_properties(self, value: Any) -> Any:
        """Give the `pika.BasicProperties` of a record's message; None: it is persistent, and has no others."""
        del value

    def route(self, value: Any) -> tuple[str, str, Any]:
        """Give all three."""
        return self.compute_exchange(value), self.compute_routing_key(value), self.compute_properties(value)


class RMQSink(Sink):
    """Publishes to a queue, or where `RMQSinkPublishOptions` say, at least once; for `DataStream.add_sink`.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> config = RMQConnectionConfig.Builder().set_uri("amqp://guest:guest@localhost:5672/%2F").build()
    >>> isinstance(RMQSink(config, "orders", SimpleStringSchema()), Sink)
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
                remedy="give None for the queue to use publish options",
            )
        route = None if publish_options is None else publish_options.route
        settings = _settings(connection_config)
        super().__init__(RabbitPublisher(settings, queue_name, serialization_schema.serialize, route))
