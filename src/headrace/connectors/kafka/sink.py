"""The Kafka sink's definition and its two writers.

- Without guarantee, and at least once: messages go out at once; at least once waits for them at the end of each epoch.
- Exactly once: messages are staged in a file of the epoch, beside the checkpoint's own files; the committer sends them when
  the checkpoint is complete.
"""

from __future__ import annotations

import time
from typing import IO, Any

from headrace.connectors.base.sink import EpochEnd, Sink, SinkCommitter, SinkWriter, WriterContext
from headrace.connectors.base.staging import stage
from headrace.connectors.kafka.client import admin_client
from headrace.connectors.kafka.committer import ACCESS, KafkaCommitter
from headrace.connectors.kafka.messages import Serializer
from headrace.connectors.kafka.sending import Sender
from headrace.errors import InvalidProgramError, JobExecutionError

_HANDLES_OF_A_CHECKPOINT = 1 << 32
_PARTITIONS_SECONDS = 300.0
_METADATA_SECONDS = 30.0


class KafkaTopics(Sink):
    """Writes messages; `staging` with a prefix for transactional ids means exactly once."""

    def __init__(
        self,
        settings: dict[str, Any],
        serializer: Serializer,
        wait_for_delivery: bool = True,
        staging: str | None = None,
    ) -> None:
        self.settings, self.serializer = settings, serializer
        self.wait_for_delivery, self.staging = wait_for_delivery, staging

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        if self.staging is None:
            return _SendingWriter(self)
        if not (context.staging or context.directory):
            raise InvalidProgramError("An exactly-once Kafka sink needs a directory to stage messages in")
        return _StagingWriter(self, context, states)

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter | None:
        return None if self.staging is None else KafkaCommitter(self.settings, self.staging, job_id, sink_id)


class _Partitions:
    """The partitions of topics, asked for again every few minutes."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._client: Any = None
        self._known: dict[str, tuple[float, list[int]]] = {}

    def of(self, topic: str) -> list[int]:
        asked_at, partitions = self._known.get(topic, (float("-inf"), []))
        if time.monotonic() - asked_at < _PARTITIONS_SECONDS:
            return partitions
        if self._client is None:
            self._client = admin_client({k: v for k, v in self._settings.items() if k.startswith(ACCESS)})
        found = self._client.list_topics(topic, timeout=_METADATA_SECONDS).topics[topic]
        if found.error is not None:
            raise JobExecutionError(f"The partitions of topic {topic!r} cannot be found: {found.error.str()}")
        partitions = sorted(found.partitions)
        self._known[topic] = (time.monotonic(), partitions)
        return partitions


class _SendingWriter(SinkWriter):
    def __init__(self, sink: KafkaTopics) -> None:
        self._serializer, self._wait = sink.serializer, sink.wait_for_delivery
        self._sender = Sender(sink.settings)
        self._partitions = _Partitions(sink.settings)

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        self._sender.send(self._serializer.messages(values, timestamps, self._partitions.of))

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        if self._wait or end.last:
            self._sender.flush()
        return []

    def close(self) -> None:
        self._sender.producer.flush(5)


class _StagingWriter(SinkWriter):
    """A file for each epoch that has messages. Its number rises from epoch to epoch and from checkpoint to checkpoint."""

    def __init__(self, sink: KafkaTopics, context: WriterContext, states: list[Any]) -> None:
        self._serializer, self._partitions = sink.serializer, _Partitions(sink.settings)
        self._place, self._working = context.staging or context.directory, context.directory
        self._blocks: list[Any] = []
        last: tuple[int, int] = max(states, default=(0, 0))
        self._checkpoint, self._count = last

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        self._blocks.append(self._serializer.messages(values, timestamps, self._partitions.of))

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        if not self._blocks:
            return []
        if end.checkpoint != self._checkpoint:
            self._checkpoint, self._count = end.checkpoint, 0
        self._count += 1
        path = stage(f"{end.handle}.messages", self._save, self._place, self._working)
        topic = self._blocks[0].topics[0]
        self._blocks = []
        number = self._checkpoint * _HANDLES_OF_A_CHECKPOINT + self._count
        return [{"path": path, "number": number, "topic": topic}]

    def _save(self, file: IO[bytes]) -> None:
        for block in self._blocks:
            block.save(file)

    def state(self) -> tuple[int, int]:
        return self._checkpoint, self._count
