"""Connections to RabbitMQ through pika: how programs describe them, and which errors pass."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headrace.errors import ConfigurationError, InvalidProgramError, TypeMismatchError
from headrace.foundation.extras import need


@dataclass(frozen=True)
class RabbitSettings:
    """Where RabbitMQ is and how to connect; times in milliseconds, heartbeats in seconds, as in Flink.

    >>> RabbitSettings(uri="amqp://me:secret@127.0.0.1:5672/orders")
    RabbitSettings(127.0.0.1:5672/orders)
    """

    host: str | None = None
    port: int | None = None
    virtual_host: str | None = None
    user: str | None = None
    password: str | None = None
    uri: str | None = None
    recovery_interval: int = 5000
    automatic_recovery: bool = True
    connection_timeout: int | None = None
    channel_max: int | None = None
    frame_max: int | None = None
    heartbeat: int | None = None
    prefetch: int | None = None

    def __repr__(self) -> str:
        """Say where, without the password."""
        return f"RabbitSettings({self.where})"

    @property
    def where(self) -> str:
        """The server, for errors and logs."""
        if self.uri is not None:
            return self.uri.rpartition("@")[2]
        return f"{self.host}:{self.port}/{(self.virtual_host or '').lstrip('/')}"


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
        """Return the host."""
        return self.settings.host

    def get_port(self) -> int | None:
        """Return the port."""
        return self.settings.port

    def get_virtual_host(self) -> str | None:
        """Return the virtual host."""
        return self.settings.virtual_host

    def get_user_name(self) -> str | None:
        """Return the name of the user."""
        return self.settings.user

    def get_password(self) -> str | None:
        """Return the password."""
        return self.settings.password

    def get_uri(self) -> str | None:
        """Return the URI, if the connection is described by one."""
        return self.settings.uri

    def get_network_recovery_interval(self) -> int:
        """Return the milliseconds between two attempts to connect."""
        return self.settings.recovery_interval

    def is_automatic_recovery(self) -> bool:
        """Say whether a lost connection is restored; otherwise it fails the job."""
        return self.settings.automatic_recovery

    def is_topology_recovery(self) -> bool:
        """Say whether queues are declared again on a new connection: always."""
        return True

    def get_connection_timeout(self) -> int | None:
        """Return the milliseconds that a connection may take."""
        return self.settings.connection_timeout

    def get_requested_channel_max(self) -> int | None:
        """Return the highest number of channels."""
        return self.settings.channel_max

    def get_requested_frame_max(self) -> int | None:
        """Return the largest frame in bytes."""
        return self.settings.frame_max

    def get_requested_heartbeat(self) -> int | None:
        """Return the seconds between heartbeats."""
        return self.settings.heartbeat

    class Builder:
        """Collects the parts: host, port, virtual host, user and password, or a URI."""

        def __init__(self) -> None:
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
            """Set the milliseconds between two attempts to connect."""
            return self._set(recovery_interval=network_recovery_interval)

        def set_connection_timeout(self, connection_timeout: int) -> RMQConnectionConfig.Builder:
            """Set the milliseconds that a connection may take."""
            return self._set(connection_timeout=connection_timeout)

        def set_automatic_recovery(self, automatic_recovery: bool) -> RMQConnectionConfig.Builder:
            """Set whether a lost connection is restored; otherwise it fails the job."""
            return self._set(automatic_recovery=automatic_recovery)

        def set_prefetch_count(self, prefetch_count: int) -> RMQConnectionConfig.Builder:
            """Set how many messages may be unacknowledged: also how many a checkpoint can hold."""
            return self._set(prefetch=prefetch_count)

        def build(self) -> RMQConnectionConfig:
            """Check the parts and return the configuration."""
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


def settings_of(given: object) -> RabbitSettings:
    """Return the settings of an RMQConnectionConfig."""
    if not isinstance(given, RMQConnectionConfig):
        raise TypeMismatchError(
            "RabbitMQ is described by an RMQConnectionConfig",
            seen=given,
            remedy="RMQConnectionConfig.Builder()...build()",
        )
    return given.settings


def _pika() -> Any:
    return need("pika", "rabbitmq", "The RabbitMQ connector")


def away_errors() -> tuple[type[BaseException], ...]:
    """Return the errors after which a new connection may work.

    >>> issubclass(ConnectionResetError, away_errors())
    True
    """
    return (_pika().exceptions.AMQPError, OSError)


def connect(settings: RabbitSettings) -> Any:
    """Open a connection; raises one of `away_errors` if the server is not there.

    >>> try:
    ...     connect(RabbitSettings("127.0.0.1", 1))
    ... except away_errors():
    ...     print("nobody listens there")
    nobody listens there
    """
    pika = _pika()
    if settings.uri is not None:
        try:
            parameters = pika.URLParameters(settings.uri)
        except (ValueError, TypeError) as error:
            raise ConfigurationError(f"The URI of RabbitMQ is not understood: {error}", seen=settings.where) from None
    else:
        parameters = pika.ConnectionParameters(settings.host, settings.port, settings.virtual_host or "/")
        parameters.credentials = pika.PlainCredentials(settings.user or "guest", settings.password or "guest")
    if settings.connection_timeout:
        parameters.socket_timeout = parameters.stack_timeout = settings.connection_timeout / 1000
    for name in ("channel_max", "frame_max", "heartbeat"):
        if (value := getattr(settings, name)) is not None:
            setattr(parameters, name, value)
    try:
        return pika.BlockingConnection(parameters)
    except (pika.exceptions.ProbableAuthenticationError, pika.exceptions.ProbableAccessDeniedError) as error:
        raise ConfigurationError(
            "RabbitMQ refuses the user, its password or the virtual host", seen=settings.where
        ) from error


def no_exchange(error: BaseException) -> bool:
    """Say whether a channel was closed because a message was for an exchange that is not there.

    >>> no_exchange(OSError())
    False
    """
    return isinstance(error, _pika().exceptions.ChannelClosedByBroker) and error.reply_code == 404


def open_channel(connection: Any, queue: str | None) -> Any:
    """Return a channel on which the queue exists; a new queue is durable. None: no queue is needed.

    >>> channel = open_channel(connection, "orders")  # doctest: +SKIP
    """
    channel = connection.channel()
    if queue is None:
        return channel
    try:
        channel.queue_declare(queue, durable=True)
    except _pika().exceptions.ChannelClosedByBroker as error:
        if error.reply_code == 403:
            raise ConfigurationError(f"RabbitMQ refuses access to queue {queue!r}: {error.reply_text}") from error
        if error.reply_code != 406:  # it exists, and is made otherwise
            raise
        channel = connection.channel()
        channel.queue_declare(queue, passive=True)
    return channel


def persistent(correlation_id: str | None = None) -> Any:
    """Return the properties of messages that survive a restart of the server."""
    return _pika().BasicProperties(delivery_mode=2, correlation_id=correlation_id)
