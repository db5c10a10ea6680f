"""The Kafka sink: how programs describe it, the definition that is pickled into the job, and its two writers.

- Without guarantee, and at least once: messages are sent at once; at least once waits for them at the end of each epoch.
- Exactly once: messages are staged in a file of the epoch, beside the checkpoint's own files; the committer sends them when
  the checkpoint is complete.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import IO, Any

from headrace.connectors.base import definitions
from headrace.connectors.base.definitions import DeliveryGuarantee
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_committer import SinkCommitter
from headrace.connectors.base.sink_writer import EpochEnd, SinkWriter, WriterContext
from headrace.connectors.base.staging import stage
from headrace.connectors.kafka.client import ClientProperties, Sender, admin_client, translated
from headrace.connectors.kafka.committer import ACCESS, KafkaCommitter
from headrace.connectors.kafka.serialization import KafkaRecordSerializationSchema, Serializer
from headrace.errors import InvalidProgramError, JobExecutionError, TypeMismatchError

_HANDLES_OF_A_CHECKPOINT = 1 << 32
_PARTITIONS_SECONDS = 300.0
_METADATA_SECONDS = 30.0


class KafkaSink(definitions.Sink):
    """Writes to Kafka.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> schema = (
    ...     KafkaRecordSerializationSchema.builder()
    ...     .set_topic("orders")
    ...     .set_value_serialization_schema(SimpleStringSchema())
    ...     .build()
    ... )
    >>> sink = KafkaSink.builder().set_bootstrap_servers("localhost:9092").set_record_serializer(schema).build()
    >>> isinstance(sink, definitions.Sink)
    True
    """

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Return a builder."""
        return KafkaSinkBuilder()


class KafkaSinkBuilder(ClientProperties):
    """Collects the parts of a Kafka sink; the default guarantee is NONE, as in Flink.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> schema = KafkaRecordSerializationSchema.builder().set_topic("orders")
    >>> schema = schema.set_value_serialization_schema(SimpleStringSchema()).build()
    >>> sink = KafkaSink.builder().set_bootstrap_servers("127.0.0.1:9092").set_record_serializer(schema).build()
    >>> type(sink).__name__
    'KafkaSink'
    """

    def __init__(self) -> None:
        """Programs call `KafkaSink.builder`."""
        super().__init__()
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix: str | None = None
        self._serializer: KafkaRecordSerializationSchema | None = None

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder:
        """Set how often a message can arrive when the job fails and recovers."""
        if not isinstance(delivery_guarantee, DeliveryGuarantee):
            raise TypeMismatchError("set_delivery_guarantee takes a DeliveryGuarantee", seen=delivery_guarantee)
        self._guarantee = delivery_guarantee
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> KafkaSinkBuilder:
        """Set what the transactional ids begin with; no two programs on one Kafka may have the same."""
        size = len(transactional_id_prefix.encode())
        if not 0 < size <= 128:
            raise InvalidProgramError("A prefix of transactional ids has 1 to 128 bytes", seen=transactional_id_prefix)
        self._prefix = transactional_id_prefix
        return self

    def set_record_serializer(self, record_serializer: KafkaRecordSerializationSchema) -> KafkaSinkBuilder:
        """Set how records become messages."""
        if not isinstance(record_serializer, KafkaRecordSerializationSchema):
            raise TypeMismatchError(
                "set_record_serializer takes a KafkaRecordSerializationSchema",
                seen=record_serializer,
                remedy="KafkaRecordSerializationSchema.builder()...build()",
            )
        self._serializer = record_serializer
        return self

    def build(self) -> KafkaSink:
        """Check the parts and return the sink."""
        if "bootstrap.servers" not in self._properties:
            raise InvalidProgramError("A KafkaSink needs bootstrap servers", remedy="call set_bootstrap_servers()")
        if self._serializer is None:
            raise InvalidProgramError("A KafkaSink needs a serialiser", remedy="call set_record_serializer()")
        exactly = self._guarantee is DeliveryGuarantee.EXACTLY_ONCE
        if exactly and self._prefix is None:
            raise InvalidProgramError(
                "An exactly-once KafkaSink needs a prefix for its transactional ids",
                remedy="call set_transactional_id_prefix()",
            )
        return KafkaSink(
            KafkaTopics(
                translated(self._properties),
                self._serializer.serializer,
                self._guarantee is not DeliveryGuarantee.NONE,
                self._prefix if exactly else None,
            )
        )


@dataclass(frozen=True)
class KafkaTopics(Sink):
    """Writes messages; `staging` with a prefix for transactional ids means exactly once."""

    settings: dict[str, Any]
    serializer: Serializer
    wait_for_delivery: bool = True
    staging: str | None = None

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        if self.staging is None:
            return _SendingWriter(self)
        if not (context.staging or context.directory):
            raise InvalidProgramError("An exactly-once Kafka sink needs a directory to stage messages in")
        return _StagingWriter(self, context, states)

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter | None:
        return None if self.staging is None else KafkaCommitter(self.settings, self.staging, job_id, sink_id)


class _Partitions:
    """The partitions of topics, refreshed every few minutes."""

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
