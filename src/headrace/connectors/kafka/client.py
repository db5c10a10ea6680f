"""Makes confluent-kafka clients from the properties that programs write for Flink's connector.

Decides which properties go to the client library, which ones mean the same under another name, and which are refused.
Used by the Kafka source and the Kafka sink.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace.errors import ConfigurationError, TypeMismatchError
from headrace.foundation.extras import need

if TYPE_CHECKING:
    from typing_extensions import Self

_LOG = logging.getLogger("headrace.kafka")

# What Flink sets itself whatever the program says: bytes go through untouched.
_FLINKS_OWN = frozenset({"key.deserializer", "value.deserializer", "key.serializer", "value.serializer"})
# Properties of the Java client that the C client has under another name.
_RENAMED = {
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "buffer.memory": "queue.buffering.max.kbytes",
    "delivery.timeout.ms": "message.timeout.ms",
    "max.in.flight.requests.per.connection": "max.in.flight.requests.per.connection",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}
_REMEDIES = {
    "max.poll.records": "leave it out: the job's epochs decide how much is read at once",
    "ssl.truststore.location": "use ssl.ca.location with a PEM file",
    "ssl.truststore.password": "use ssl.ca.location with a PEM file",
    "interceptor.classes": "Java classes cannot run in headrace",
}
_JAAS = re.compile(r"""(username|password)\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+))""")


def confluent() -> Any:
    """Return the module `confluent_kafka`.

    >>> confluent().__name__
    'confluent_kafka'
    """
    return need("confluent_kafka", "kafka", "The Kafka connector")


def translated(properties: Mapping[str, str]) -> dict[str, Any]:
    """Return the C client's settings for properties of the Java client.

    >>> translated({"bootstrap.servers": "b:9092", "max.partition.fetch.bytes": "1000", "value.deserializer": "x"})
    {'bootstrap.servers': 'b:9092', 'fetch.message.max.bytes': '1000'}
    >>> translated({"sasl.jaas.config": 'org.x.PlainLoginModule required username="me" password="secret";'})
    {'sasl.username': 'me', 'sasl.password': 'secret'}
    """
    settings: dict[str, Any] = {}
    for key, value in properties.items():
        if key in _FLINKS_OWN:
            continue
        if key in _REMEDIES:
            raise ConfigurationError(
                f"The Kafka property {key!r} has no meaning here", seen=value, remedy=_REMEDIES[key]
            )
        if key == "sasl.jaas.config":
            found = {name: a or b or c.rstrip(";") for name, a, b, c in _JAAS.findall(value)}
            if set(found) != {"username", "password"}:
                raise ConfigurationError(
                    "Only user name and password are understood of sasl.jaas.config",
                    remedy="set sasl.username and sasl.password, or the settings of librdkafka for other mechanisms",
                )
            settings["sasl.username"], settings["sasl.password"] = found["username"], found["password"]
        elif key == "buffer.memory":
            settings[_RENAMED[key]] = max(1, int(value) // 1024)
        else:
            settings[_RENAMED.get(key, key)] = value
    return settings


class ClientProperties:
    """The properties of a Kafka source or sink that is being built."""

    def __init__(self) -> None:
        self._properties: dict[str, str] = {}

    def set_bootstrap_servers(self, bootstrap_servers: str) -> Self:
        """Set where brokers are, as ``host:port,host:port``."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_property(self, key: str, value: Any) -> Self:
        """Set a property of the client, or of the connector."""
        if not isinstance(key, str) or not isinstance(value, (str, int, float)):
            raise TypeMismatchError("A property of Kafka has a name and a value", seen={key: value})
        self._properties[key] = str(value).lower() if isinstance(value, bool) else str(value)
        return self


def consumer(settings: Mapping[str, Any]) -> Any:
    """Make a Consumer.

    >>> consumer({"bootstrap.servers": "b:9092"})
    Traceback (most recent call last):
    ...
    headrace.errors.ConfigurationError: The Kafka client refuses its settings [CONFIGURATION]
    ...
    """
    return _made("Consumer", settings)


def producer(settings: Mapping[str, Any]) -> Any:
    """Make a Producer.

    >>> producer({"acks": "some"})
    Traceback (most recent call last):
    ...
    headrace.errors.ConfigurationError: The Kafka client refuses its settings [CONFIGURATION]
    ...
    """
    return _made("Producer", settings)


def admin_client(settings: Mapping[str, Any]) -> Any:
    """Make an AdminClient.

    >>> admin_client({"no.such": "1"})
    Traceback (most recent call last):
    ...
    headrace.errors.ConfigurationError: The Kafka client refuses its settings [CONFIGURATION]
    ...
    """
    module = need("confluent_kafka.admin", "kafka", "The Kafka connector")
    return _checked(module.AdminClient, settings)


def _made(kind: str, settings: Mapping[str, Any]) -> Any:
    return _checked(getattr(confluent(), kind), settings)


def _checked(kind: Any, settings: Mapping[str, Any]) -> Any:
    module = confluent()
    settings = {"error_cb": log_error, "logger": _LOG, **settings}
    try:
        return kind(settings)
    except (module.KafkaException, ValueError, TypeError) as error:
        cause = error.args[0] if error.args else error
        raise ConfigurationError(
            "The Kafka client refuses its settings",
            seen=cause.str() if hasattr(cause, "str") else str(cause),
            remedy="property names and values are those of librdkafka's CONFIGURATION.md",
        ) from None


def log_error(error: Any) -> None:
    """Log an error. The client reconnects by itself; the job waits, and the log says why."""
    _LOG.warning("Kafka: %s", error.str())
