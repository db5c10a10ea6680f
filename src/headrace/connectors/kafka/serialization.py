"""How records become messages of Kafka: topic, partition, key and value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.connectors.kafka.messages import Messages
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.serialization import SerializationSchema


class KafkaTopicSelector(ABC):
    """Chooses the topic of each record.

    >>> class ByKind(KafkaTopicSelector):
    ...     def apply(self, data):
    ...         return f"events-{data['kind']}"
    >>> ByKind().apply({"kind": "click"})
    'events-click'
    """

    @abstractmethod
    def apply(self, data: Any) -> str:
        """Return the topic of a record."""


class KafkaPartitioner(ABC):
    """Chooses the partition of each record.

    >>> class ByCustomer(KafkaPartitioner):
    ...     def partition(self, record, key, value, target_topic, partitions):
    ...         return partitions[record["customer"] % len(partitions)]
    >>> ByCustomer().partition({"customer": 7}, None, b"", "orders", [0, 1, 2])
    1
    """

    @abstractmethod
    def partition(self, record: Any, key: Any, value: Any, target_topic: str, partitions: list[int]) -> int:
        """Return one of ``partitions``, those of the topic; ``key`` and ``value`` are the message's bytes."""


class KafkaRecordSerializationSchema(SerializationSchema):
    """Turns records into messages: topic, value, and perhaps a key. The record's timestamp is the message's.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> schema = (
    ...     KafkaRecordSerializationSchema.builder()
    ...     .set_topic("orders")
    ...     .set_value_serialization_schema(SimpleStringSchema())
    ...     .build()
    ... )
    >>> schema.serializer.messages(["a"], None)
    Messages(topics=['orders'], values=[b'a'], keys=None, timestamps=None, partitions=None)
    """

    def __init__(self, serializer: Serializer) -> None:
        """Programs call `builder`."""
        super().__init__()
        self.serializer = serializer

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        """Return a builder."""
        return KafkaRecordSerializationSchemaBuilder()


class KafkaRecordSerializationSchemaBuilder:
    """Collects the parts of the schema.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> builder = KafkaRecordSerializationSchema.builder().set_topic("orders")
    >>> type(builder.set_value_serialization_schema(SimpleStringSchema()).build()).__name__
    'KafkaRecordSerializationSchema'
    """

    def __init__(self) -> None:
        """Programs call `KafkaRecordSerializationSchema.builder`."""
        self._topic: str | None = None
        self._selector: Callable[[Any], str] | None = None
        self._key: SerializationSchema | None = None
        self._value: SerializationSchema | None = None
        self._partitioner: Callable[..., int] | None = None

    def set_topic(self, topic: str) -> KafkaRecordSerializationSchemaBuilder:
        """Set the topic of all records."""
        if not isinstance(topic, str) or not topic:
            raise TypeMismatchError("A topic has a name", seen=topic)
        self._check_no_topic()
        self._topic = topic
        return self

    def set_topic_selector(
        self, topic_selector: Callable[[Any], str] | KafkaTopicSelector
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set what chooses the topic of each record."""
        if not isinstance(topic_selector, KafkaTopicSelector) and not callable(topic_selector):
            raise TypeMismatchError("A topic selector is a KafkaTopicSelector or a function", seen=topic_selector)
        self._check_no_topic()
        self._selector = topic_selector.apply if isinstance(topic_selector, KafkaTopicSelector) else topic_selector
        return self

    def set_partitioner(
        self, partitioner: Callable[[Any, Any, Any, str, list[int]], int] | KafkaPartitioner
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set what chooses the partition of each record; by default the rule of Java's producer for keys."""
        if not isinstance(partitioner, KafkaPartitioner) and not callable(partitioner):
            raise TypeMismatchError("A partitioner is a KafkaPartitioner or a function", seen=partitioner)
        self._partitioner = partitioner.partition if isinstance(partitioner, KafkaPartitioner) else partitioner
        return self

    def set_key_serialization_schema(
        self, key_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set how records become keys of messages; records with the same key go to the same partition."""
        self._key = _schema(key_serialization_schema)
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set how records become values of messages."""
        self._value = _schema(value_serialization_schema)
        return self

    def build(self) -> KafkaRecordSerializationSchema:
        """Return the schema."""
        if self._topic is None and self._selector is None:
            raise InvalidProgramError("Messages need a topic", remedy="call set_topic() or set_topic_selector()")
        if self._value is None:
            raise InvalidProgramError("Messages need a value", remedy="call set_value_serialization_schema()")
        key = None if self._key is None else self._key.serialize
        return KafkaRecordSerializationSchema(
            Serializer(self._value.serialize, self._topic, self._selector, key, partition=self._partitioner)
        )

    def _check_no_topic(self) -> None:
        if self._topic is not None or self._selector is not None:
            raise InvalidProgramError(
                "The topic of messages is set already", remedy="call set_topic() or set_topic_selector(), once"
            )


def _schema(given: object) -> SerializationSchema:
    if not isinstance(given, SerializationSchema):
        raise TypeMismatchError("Messages are made by a SerializationSchema", seen=given)
    return given


@dataclass(frozen=True)
class Serializer:
    """How records become messages: a topic, or one for each record; a value and perhaps a key."""

    value: Callable[[Any], bytes | None]
    topic: str | None = None
    topic_of: Callable[[Any], str] | None = None
    key: Callable[[Any], bytes | None] | None = None
    with_timestamps: bool = True
    partition: Callable[[Any, bytes | None, bytes | None, str, list[int]], int] | None = None
    """Chooses the partition of a record: it gets the record, key, value, topic and the topic's partitions."""

    def messages(
        self,
        records: list[Any],
        timestamps: list[int | None] | None,
        partitions_of: Callable[[str], list[int]] | None = None,
    ) -> Messages:
        """Serialise a run of records; `partitions_of` tells the partitions of a topic to a partitioner."""
        value, key, topic_of = self.value, self.key, self.topic_of
        topics = [self.topic] * len(records) if topic_of is None else [topic_of(r) for r in records]
        keys = None if key is None else [key(r) for r in records]
        times = timestamps if self.with_timestamps else None
        values = [value(r) for r in records]
        chosen = None
        if self.partition is not None and partitions_of is not None:
            chosen = [
                self._chosen(record, None if keys is None else keys[i], values[i], str(topics[i]), partitions_of)
                for i, record in enumerate(records)
            ]
        return Messages(topics, values, keys, times, chosen)  # type: ignore[arg-type]

    def _chosen(
        self, record: Any, key: bytes | None, value: bytes | None, topic: str, partitions_of: Callable[[str], list[int]]
    ) -> int:
        assert self.partition is not None
        partitions = partitions_of(topic)
        chosen = self.partition(record, key, value, topic, partitions)
        if chosen not in partitions:
            raise TypeMismatchError(
                f"The partitioner chose no partition of topic {topic!r}", seen=chosen, expected=f"one of {partitions}"
            )
        return chosen
