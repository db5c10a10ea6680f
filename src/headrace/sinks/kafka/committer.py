"""Sends staged messages in one transaction per handle, in the driver, exactly once.

1. Each subtask has a transactional id of its own. `init_transactions` ends what an earlier owner had begun, and fences it.
2. The transaction holds the messages and an offset of a consumer group of the sink's own: the number of the handle.
3. A handle whose number is not above the group's offset was sent before: nothing is done. Numbers rise within a subtask.
4. After any failure, or a lost connection, the producer is thrown away: the next try begins with 1, which settles what
   became of the last one.

No transaction is open between checkpoints, so none can time out and lose its data.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Sequence
from typing import Any

from headrace.common.errors import JobExecutionError
from headrace.common.kafka_client import admin_client, confluent, consumer
from headrace.sinks.base import Handle, SinkCommitter, StagedOutputLostError
from headrace.sinks.kafka.messages import Messages
from headrace.sinks.kafka.sending import Sender

_LOG = logging.getLogger("headrace.kafka")
_SECONDS = 10.0
_COMMIT_SECONDS = 60.0
ACCESS = ("bootstrap.servers", "sasl.", "ssl.", "security.")


class _Channel:
    """The producer of one subtask, and the number of the last handle that was sent."""

    def __init__(self, settings: dict[str, Any], name: str) -> None:
        self.sender = Sender({**settings, "transactional.id": name})
        self.sender.producer.init_transactions(_COMMIT_SECONDS)
        access = {k: v for k, v in settings.items() if k.startswith(ACCESS)}
        self._group = consumer({**access, "group.id": name})
        self.sent = _last_number(access, name)

    def send(self, path: str, number: int, marker: tuple[str, int]) -> None:
        producer = self.sender.producer
        producer.begin_transaction()
        with open(path, "rb") as file:
            for messages in Messages.load(file):
                self.sender.send(messages)
        self.sender.flush()
        offset = confluent().TopicPartition(*marker, number)
        producer.send_offsets_to_transaction([offset], self._group.consumer_group_metadata(), _SECONDS)
        producer.commit_transaction(_COMMIT_SECONDS)
        self.sender.check()
        self.sent = number

    def close(self) -> None:
        self._group.close()


def _last_number(access: dict[str, Any], group: str) -> int:
    """The highest offset that the group has on any topic."""
    asked = confluent().ConsumerGroupTopicPartitions(group)
    client = admin_client(access)
    answer = client.list_consumer_group_offsets([asked], require_stable=True, request_timeout=_SECONDS)[group]
    return max((tp.offset for tp in answer.result(_SECONDS).topic_partitions), default=-1)


class KafkaCommitter(SinkCommitter):
    """The driver's side of an exactly-once Kafka sink."""

    def __init__(self, settings: dict[str, Any], prefix: str, job_id: str, sink_id: str) -> None:
        self._settings = settings
        self._name = f"{prefix}-{job_id}-{sink_id}"
        self._channels: dict[int, _Channel] = {}

    def commit(self, handle: Handle) -> None:
        path, number = handle.payload["path"], handle.payload["number"]
        marker = (handle.payload["topic"], 0)
        try:
            channel = self._channel(handle.subtask)
            if number > channel.sent:
                if not os.path.exists(path):
                    raise StagedOutputLostError(
                        "Messages for Kafka are neither sent nor staged: they were aborted, or their file is gone",
                        seen=path,
                    )
                channel.send(path, number, marker)
        except (confluent().KafkaException, JobExecutionError, OSError) as error:
            _LOG.warning("Kafka: a commit of checkpoint %s is tried again: %s", handle.checkpoint, error)
            failed = self._channels.pop(handle.subtask, None)
            if failed is not None:
                failed.close()
            raise JobExecutionError(
                f"The messages of checkpoint {handle.checkpoint} could not be written to Kafka: {error}",
                seen=path,
                remedy="the commit is tried again; the messages are kept",
            ) from error
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)

    def abort(self, handle: Handle) -> bool:
        """What this driver staged and no manifest lists, nobody has sent; of another driver's, Kafka knows."""
        number = handle.payload["number"]
        known = self._channels.get(handle.subtask)
        if handle.recovered:
            known = self._channel(handle.subtask)  # from here on its driver cannot send it any more
        if known is not None and number <= known.sent:
            return False
        with contextlib.suppress(FileNotFoundError):
            os.unlink(handle.payload["path"])
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
