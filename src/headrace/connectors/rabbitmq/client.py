"""The door to pika: connections to RabbitMQ, and what counts as "away for now"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.errors import ConfigurationError
from headrace.foundation.extras import need

__all__ = ["RabbitSettings", "away_errors", "connect", "no_exchange", "open_channel"]


@dataclass(frozen=True)
class RabbitSettings:
    """Where RabbitMQ is and how to connect; times in milliseconds, heartbeats in seconds, as Flink has them.

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


def _pika() -> Any:
    return need("pika", "rabbitmq", "The RabbitMQ connector")


def away_errors() -> tuple[type[BaseException], ...]:
    """Errors after which a new connection may do better.

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
    """Give a channel, on which the queue exists; a new queue is durable. None: no queue is asked for.

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
    """Give the properties of messages that survive a restart of the server."""
    return _pika().BasicProperties(delivery_mode=2, correlation_id=correlation_id)
