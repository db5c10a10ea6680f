"""Makes confluent-kafka clients from the properties that programs write for Flink's connector.

Decides which properties go to the client library, which ones mean the same under another name, and which are refused.
Used by the Kafka source and the Kafka sink. Also sends messages with a producer and checks whether they have arrived.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace.connectors.kafka.messages import Messages
from headrace.errors import ConfigurationError, JobExecutionError, TypeMismatchError
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


_FULL_WAIT_SECONDS = 0.05
_FLUSH_STEP_SECONDS = 1.0

DEFAULTS = {
    "enable.idempotence": True,
    "linger.ms": 5,
    "reconnect.backoff.max.ms": 2000,
    "partitioner": "murmur2_random",  # the partition of a key is then the one that Java's producer chooses
    "delivery.report.only.error": True,
    "queue.buffering.max.messages": 500_000,
    "queue.buffering.max.kbytes": 256 * 1024,
}


class Sender:
    """A producer whose failures are raised at the next call."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._failure: tuple[Any, str, int] | None = None
        self._lost_connection = False
        self.producer = producer({**DEFAULTS, **settings, "on_delivery": self._delivered, "error_cb": self._troubled})

    def lost_connection(self) -> bool:
        """Say whether brokers were away since the producer was created."""
        self.producer.poll(0)
        return self._lost_connection

    def _troubled(self, error: Any) -> None:
        self._lost_connection = True
        log_error(error)

    def send(self, messages: Messages) -> None:
        """Hand over messages; wait while the producer's queue is full (back pressure)."""
        produce, poll = self.producer.produce, self.producer.poll
        keys, timestamps, partitions = messages.keys, messages.timestamps, messages.partitions
        for index, (topic, value) in enumerate(zip(messages.topics, messages.values)):
            key = None if keys is None else keys[index]
            where = -1 if partitions is None else partitions[index]
            time = 0 if timestamps is None else timestamps[index] or 0
            while True:
                try:
                    produce(topic, value, key, where, timestamp=time)
                    break
                except BufferError:
                    poll(_FULL_WAIT_SECONDS)
                    self.check()
                except confluent().KafkaException as error:
                    raise _refused(error.args[0], topic, len(value or b"")) from None
        poll(0)
        self.check()

    def flush(self) -> None:
        """Wait until everything has arrived; what cannot arrive within `message.timeout.ms` is an error."""
        while self.producer.flush(_FLUSH_STEP_SECONDS):
            self.check()
        self.check()

    def check(self) -> None:
        """Raise if a message could not be delivered."""
        if self._failure is not None:
            error, topic, size = self._failure
            self._failure = None
            raise _refused(error, topic, size)

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None and self._failure is None:
            self._failure = error, message.topic(), len(message.value() or b"")


def _refused(error: Any, topic: str, size: int) -> JobExecutionError:
    return JobExecutionError(
        f"A message of {size} bytes could not be written to topic {topic!r}: {error.str()}",
        remedy="check that the brokers are reachable, and that the topic exists and takes messages of that size",
    )
