"""Sends staged messages in one transaction per handle, in the driver, exactly once.

1. Each subtask has its own transactional id. `init_transactions` ends the transactions of an earlier owner and fences it.
2. The transaction holds the messages and an offset of a consumer group that belongs to the sink: the number of the handle.
3. A handle whose number is not above the group's offset was sent before and is skipped. Numbers rise within a subtask, and
   the offset is that of the topic which the handle itself names.
4. After any failure, or a lost connection, the producer is discarded: the next attempt begins with 1, which settles the
   outcome of the last one.

No transaction is open between checkpoints, so none can time out and lose its data.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from headrace.connectors.base import staging
from headrace.connectors.base.sink_committer import Handle, SinkCommitter, StagedOutputLostError
from headrace.connectors.kafka.client import Sender, confluent, consumer
from headrace.connectors.kafka.messages import Messages
from headrace.errors import JobExecutionError, reason_of

_LOG = logging.getLogger("headrace.kafka")
_SECONDS = 10.0
_GRACE_SECONDS = 2.0
_COMMIT_SECONDS = 60.0
_PARTITION = 0
_SILENT = 0
ACCESS = ("bootstrap.servers", "sasl.", "ssl.", "security.")


class _Channel:
    """The producer of one subtask, and what it has sent so far."""

    def __init__(self, settings: dict[str, Any], name: str) -> None:
        self.sender = Sender({**settings, "transactional.id": name})
        self.sender.producer.init_transactions(_COMMIT_SECONDS)
        access = {k: v for k, v in settings.items() if k.startswith(ACCESS)}
        # It sees the same brokers as the producer, which reports their errors.
        self._group = consumer({**access, "group.id": name, "log_level": _SILENT, "error_cb": lambda _: None})
        self._sent: dict[str, int] = {}

    def has_sent(self, handle: Handle) -> bool:
        """Say whether Kafka has the messages of a handle."""
        topic = handle.payload["topic"]
        if topic not in self._sent:
            # Not with the AdminClient: its request for offsets crashes the process while a broker starts (librdkafka 2.16).
            (found,) = self._group.committed([confluent().TopicPartition(topic, _PARTITION)], timeout=_SECONDS)
            if found.error is not None:
                raise confluent().KafkaException(found.error)
            self._sent[topic] = found.offset
        return bool(handle.payload["number"] <= self._sent[topic])

    def send(self, handle: Handle) -> None:
        """Send the messages of a handle, and its number, in one transaction."""
        topic, number = handle.payload["topic"], handle.payload["number"]
        producer = self.sender.producer
        with staging.open_staged(handle.payload["path"], "Messages for Kafka are neither sent nor staged") as file:
            producer.begin_transaction()
            for messages in Messages.load(file):
                self.sender.send(messages)
        self.sender.flush()
        offset = confluent().TopicPartition(topic, _PARTITION, number)
        group = self._group.consumer_group_metadata()
        _in_time(lambda: producer.send_offsets_to_transaction([offset], group, _SECONDS))
        producer.commit_transaction(_COMMIT_SECONDS)
        self.sender.check()
        self._sent[topic] = number

    def close(self) -> None:
        self._group.close()


def _in_time(call: Callable[[], None]) -> None:
    """Give up a call that does not end at its timeout: librdkafka waits forever if the group's broker goes away.

    That is its issue 5456. The call stays behind in its thread, with a producer that the next one fences.
    """
    outcome: SimpleQueue[Exception | None] = SimpleQueue()

    def run() -> None:
        try:
            call()
        except Exception as error:
            outcome.put(error)
        else:
            outcome.put(None)

    Thread(target=run, name="headrace-kafka", daemon=True).start()
    try:
        failure = outcome.get(timeout=_SECONDS + _GRACE_SECONDS)
    except Empty:
        raise TimeoutError(f"no answer within {_SECONDS + _GRACE_SECONDS:.0f} s") from None
    if failure is not None:
        raise failure


class KafkaCommitter(SinkCommitter):
    """The driver's side of an exactly-once Kafka sink."""

    def __init__(self, settings: dict[str, Any], prefix: str, job_id: str, sink_id: str) -> None:
        self._settings = settings
        self._name = f"{prefix}-{job_id}-{sink_id}"
        self._channels: dict[int, _Channel] = {}

    def commit(self, handle: Handle) -> None:
        path = handle.payload["path"]
        try:
            channel = self._channel(handle.subtask)
            if not channel.has_sent(handle):
                channel.send(handle)
        except StagedOutputLostError:
            raise
        except Exception as error:  # Kafka's, or those of the file system that the messages are staged on
            _LOG.warning("Kafka: retrying a commit of checkpoint %s: %s", handle.checkpoint, reason_of(error))
            failed = self._channels.pop(handle.subtask, None)
            if failed is not None:
                failed.close()
            raise JobExecutionError(
                f"The messages of checkpoint {handle.checkpoint} could not be written to Kafka: {reason_of(error)}",
                seen=path,
                remedy="the commit is retried; the messages are kept. If Kafka answers but this continues, look for a "
                f"transaction without an end (kafka-transactions.sh find-hanging) of {self._name}-{handle.subtask}",
            ) from error
        staging.remove(path)

    def abort(self, handle: Handle) -> bool:
        """Drop staged messages unless they were sent. Kafka knows what another driver has sent."""
        known = self._channels.get(handle.subtask)
        if handle.recovered:
            known = self._channel(handle.subtask)  # from now on its driver cannot send it
        if known is not None and known.has_sent(handle):
            return False
        staging.remove(handle.payload["path"])
        return True

    def _channel(self, subtask: int) -> _Channel:
        channel = self._channels.get(subtask)
        if channel is not None and channel.sender.lost_connection():
            self._channels.pop(subtask).close()
            channel = None
        if channel is None:
            channel = self._channels[subtask] = _Channel(self._settings, f"{self._name}-{subtask}")
        return channel

    def staged(self) -> Sequence[Handle]:
        return ()

    def close(self) -> None:
        for channel in self._channels.values():
            channel.close()
        self._channels.clear()
