"""Sends messages with a producer and checks whether they have arrived."""

from __future__ import annotations

from typing import Any

from headrace.connectors.kafka.client import confluent, log_error, producer
from headrace.connectors.kafka.messages import Messages
from headrace.errors import JobExecutionError

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
