"""KafkaSink: records to Kafka topics. Decides how programs describe it; `headrace.connectors.kafka` writes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from headrace.connectors.base.definitions import DeliveryGuarantee, Sink
from headrace.connectors.kafka.client import translated
from headrace.connectors.kafka.messages import Serializer
from headrace.connectors.kafka.sink import KafkaTopics
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.serialization import SerializationSchema

__all__ = [
    "KafkaPartitioner",
    "KafkaRecordSerializationSchema",
    "KafkaRecordSerializationSchemaBuilder",
    "KafkaSink",
    "KafkaSinkBuilder",
    "KafkaTopicSelector",
]


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
        """Give the topic of a record."""


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
        """Give one of ``partitions``, those of the topic; ``key`` and ``value`` are the message's bytes."""


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
        """Start a schema."""
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
        """Set what chooses the partition of each record; without it, Java's producer's rule for keys does."""
        if not isinstance(partitioner, KafkaPartitioner) and not callable(partitioner):
            raise TypeMismatchError("A partitioner is a KafkaPartitioner or a function", seen=partitioner)
        self._partitioner = partitioner.partition if isinstance(partitioner, KafkaPartitioner) else partitioner
        return self

    def set_key_serialization_schema(
        self, key_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set how the keys of messages are made of records; records of one key go to one partition."""
        self._key = _schema(key_serialization_schema)
        return self

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Set how the values of messages are made of records."""
        self._value = _schema(value_serialization_schema)
        return self

    def build(self) -> KafkaRecordSerializationSchema:
        """Make the schema."""
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


class KafkaSink(Sink):
    """Writes to Kafka.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> schema = (
    ...     KafkaRecordSerializationSchema.builder()
    ...     .set_topic("orders")
    ...     .set_value_serialization_schema(SimpleStringSchema())
    ...     .build()
    ... )
    >>> sink = KafkaSink.builder().set_bootstrap_servers("localhost:9092").set_record_serializer(schema).build()
    >>> isinstance(sink, Sink)
    True
    """

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        """Start a sink."""
        return KafkaSinkBuilder()


class KafkaSinkBuilder:
    """Collects the parts of a Kafka sink; the guarantee is NONE if nothing else is said, as in Flink.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> schema = KafkaRecordSerializationSchema.builder().set_topic("orders")
    >>> schema = schema.set_value_serialization_schema(SimpleStringSchema()).build()
    >>> sink = KafkaSink.builder().set_bootstrap_servers("127.0.0.1:9092").set_record_serializer(schema).build()
    >>> type(sink).__name__
    'KafkaSink'
    """

    def __init__(self) -> None:
        """Programs call `KafkaSink.builder`."""
        self._properties: dict[str, str] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._prefix: str | None = None
        self._serializer: KafkaRecordSerializationSchema | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSinkBuilder:
        """Set where brokers are, as ``host:port,host:port``."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder:
        """Set how often a message may be there after failures."""
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

    def set_property(self, key: str, value: Any) -> KafkaSinkBuilder:
        """Set a property of the producer."""
        if not isinstance(key, str) or not isinstance(value, (str, int, float)):
            raise TypeMismatchError("A property of Kafka has a name and a text", seen={key: value})
        self._properties[key] = str(value).lower() if isinstance(value, bool) else str(value)
        return self

    def build(self) -> KafkaSink:
        """Make the sink."""
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
