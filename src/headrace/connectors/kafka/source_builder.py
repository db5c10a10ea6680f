"""KafkaSource: records from Kafka topics. Decides how programs describe it; `headrace.connectors.kafka` reads it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.connectors.base.definitions import Source, dead_letter_tag
from headrace.connectors.kafka.client import translated
from headrace.connectors.kafka.offsets import Start
from headrace.connectors.kafka.offsets_initializer import KafkaOffsetsInitializer, KafkaTopicPartition
from headrace.connectors.kafka.source import KafkaPartitions
from headrace.connectors.kafka.subscription import Subscription
from headrace.errors import ConfigurationError, InvalidProgramError, TypeMismatchError
from headrace.types.serialization import DeserializationSchema
from headrace.types.typeinfo import TypeInformation, Types

__all__ = ["KafkaRecordDeserializationSchema", "KafkaSource", "KafkaSourceBuilder"]

_DISCOVERY = "partition.discovery.interval.ms"
_COMMIT = "commit.offsets.on.checkpoint"
_MAX_BYTES = "max.record.bytes"
_DISCOVERY_MILLIS = 300_000


class KafkaRecordDeserializationSchema(ABC):
    """Turns whole messages into elements: their key, headers, timestamp, topic, partition and offset are there too.

    `record` is a `confluent_kafka.Message`: `record.key()`, `record.value()`, `record.headers()`, `record.timestamp()`
    (a pair of its kind and its milliseconds), `record.topic()`, `record.partition()`, `record.offset()`.

    >>> class KeyAndValue(KafkaRecordDeserializationSchema):
    ...     def deserialize(self, record):
    ...         return record.key().decode(), record.value().decode()
    >>> KeyAndValue().get_produced_type()
    PickledByteArrayTypeInfo
    """

    @abstractmethod
    def deserialize(self, record: Any) -> Any:
        """Give the element of a message; None leaves the message out."""

    def get_produced_type(self) -> TypeInformation:
        """Give the type of the elements."""
        return Types.PICKLED_BYTE_ARRAY()


class KafkaSource(Source):
    """Reads topics of Kafka; each partition is a split with its own watermark.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> source = (
    ...     KafkaSource.builder()
    ...     .set_bootstrap_servers("localhost:9092")
    ...     .set_topics("orders")
    ...     .set_group_id("shop")
    ...     .set_value_only_deserializer(SimpleStringSchema())
    ...     .build()
    ... )
    >>> source.get_definition().bounded
    False
    """

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        """Start a source."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder:
    """Collects the parts of a Kafka source; `build` checks them.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> builder = KafkaSource.builder().set_bootstrap_servers("127.0.0.1:9092").set_topics("orders")
    >>> type(builder.set_value_only_deserializer(SimpleStringSchema()).build()).__name__
    'KafkaSource'
    """

    def __init__(self) -> None:
        """Programs call `KafkaSource.builder`."""
        self._properties: dict[str, str] = {}
        self._subscription: Subscription | None = None
        self._starting = KafkaOffsetsInitializer.earliest()
        self._stopping: KafkaOffsetsInitializer | None = None
        self._bounded = False
        self._dead_letters: str | None = None
        self._schema: DeserializationSchema | KafkaRecordDeserializationSchema | None = None
        self._is_end: Callable[[Any], bool] | None = None

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder:
        """Set where brokers are, as ``host:port,host:port``."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder:
        """Set the consumer group whose offsets are committed with checkpoints."""
        return self.set_property("group.id", group_id)

    def set_topics(self, *topics: str) -> KafkaSourceBuilder:
        """Read all partitions of these topics."""
        if not topics or not all(isinstance(name, str) and name for name in topics):
            raise TypeMismatchError("set_topics takes the names of topics", seen=topics)
        return self._subscribe(Subscription(topics=topics))

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder:
        """Read all topics whose whole name matches a regular expression."""
        return self._subscribe(Subscription(pattern=topic_pattern))

    def set_partitions(self, partitions: set[KafkaTopicPartition]) -> KafkaSourceBuilder:
        """Read these partitions."""
        if not partitions or not all(isinstance(p, KafkaTopicPartition) for p in partitions):
            raise TypeMismatchError("set_partitions takes a set of KafkaTopicPartition", seen=partitions)
        return self._subscribe(Subscription(partitions=frozenset((p.topic, p.partition) for p in partitions)))

    def set_starting_offsets(self, starting_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """Set where the first run begins; a restored job goes on at its positions."""
        self._starting = _initializer(starting_offsets_initializer, "set_starting_offsets")
        return self

    def set_unbounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """Stop at these offsets, in streaming mode; without partition discovery the source ends there."""
        self._stopping = _initializer(stopping_offsets_initializer, "set_unbounded")
        self._bounded = False
        return self

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """Stop at these offsets: the source is bounded, so the job may run in batch mode."""
        self._stopping = _initializer(stopping_offsets_initializer, "set_bounded")
        self._bounded = True
        return self

    def set_value_only_deserializer(self, deserialization_schema: DeserializationSchema) -> KafkaSourceBuilder:
        """Set how the values of messages become elements."""
        if not isinstance(deserialization_schema, DeserializationSchema):
            raise TypeMismatchError(
                "set_value_only_deserializer takes a DeserializationSchema", seen=deserialization_schema
            )
        self._schema = deserialization_schema
        return self

    def set_deserializer(self, record_deserializer: KafkaRecordDeserializationSchema) -> KafkaSourceBuilder:
        """Set how whole messages become elements."""
        if not isinstance(record_deserializer, KafkaRecordDeserializationSchema):
            raise TypeMismatchError(
                "set_deserializer takes a KafkaRecordDeserializationSchema", seen=record_deserializer
            )
        self._schema = record_deserializer
        return self

    def set_dead_letter_output(self, output_tag: OutputTag) -> KafkaSourceBuilder:
        """Let messages that cannot be read go to a side output of the source, as `BadRecord`s; else they fail the job."""
        self._dead_letters = dead_letter_tag(output_tag)
        return self

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        """Set what the client ids begin with; the number of the subtask follows."""
        return self.set_property("client.id.prefix", prefix)

    def set_property(self, key: str, value: Any) -> KafkaSourceBuilder:
        """Set a property of the client, or of the source: ``partition.discovery.interval.ms`` (5 minutes, -1 for
        never), ``commit.offsets.on.checkpoint`` and ``max.record.bytes`` (larger messages count as unreadable).
        """
        if not isinstance(key, str) or not isinstance(value, (str, int, float)):
            raise TypeMismatchError("A property of Kafka has a name and a text", seen={key: value})
        self._properties[key] = str(value).lower() if isinstance(value, bool) else str(value)
        return self

    def set_properties(self, props: dict[str, str]) -> KafkaSourceBuilder:
        """Set several properties."""
        for key, value in props.items():
            self.set_property(key, value)
        return self

    def end_at(self, is_end: Callable[[Any], bool]) -> KafkaSourceBuilder:
        """Let a subtask end at the first element for which this is true, without it; headrace's own."""
        self._is_end = is_end
        return self

    def build(self) -> KafkaSource:
        """Make the source."""
        subscription, schema = self._subscription, self._schema
        if "bootstrap.servers" not in self._properties:
            raise InvalidProgramError("A KafkaSource needs bootstrap servers", remedy="call set_bootstrap_servers()")
        if subscription is None:
            raise InvalidProgramError(
                "A KafkaSource needs something to read",
                remedy="call one of set_topics(), set_topic_pattern() and set_partitions()",
            )
        if schema is None:
            raise InvalidProgramError(
                "A KafkaSource needs a deserialiser", remedy="call set_value_only_deserializer() or set_deserializer()"
            )
        properties = dict(self._properties)
        discovery = _number(properties, _DISCOVERY, _DISCOVERY_MILLIS)
        prefix = properties.pop("client.id.prefix", None)
        most = _number(properties, _MAX_BYTES, -1, "bytes")
        grouped = "group.id" in properties
        asked_to_commit = _boolean(properties, _COMMIT)
        if not grouped and (asked_to_commit or properties.get("enable.auto.commit") == "true"):
            raise InvalidProgramError("Offsets can only be committed for a group", remedy="call set_group_id()")
        rules = [i.rule.start for i in (self._starting, self._stopping) if i is not None]
        if not grouped and Start.COMMITTED in rules:
            raise InvalidProgramError("Committed offsets are those of a group", remedy="call set_group_id()")
        produced = schema.get_produced_type()
        return KafkaSource(
            KafkaPartitions(
                translated(properties),
                subscription,
                self._starting.rule,
                schema.deserialize,
                isinstance(schema, KafkaRecordDeserializationSchema),
                None if self._stopping is None else self._stopping.rule,
                self._bounded,
                discovery / 1000 if discovery > 0 else None,
                grouped and asked_to_commit is not False,
                prefix,
                produced,
                self._dead_letters,
                most if most >= 0 else None,
                self._is_end,
            )
        )

    def _subscribe(self, subscription: Subscription) -> KafkaSourceBuilder:
        if self._subscription is not None:
            raise InvalidProgramError(
                f"A KafkaSource reads {self._subscription.described()} already",
                seen=subscription.described(),
                remedy="call one of set_topics(), set_topic_pattern() and set_partitions(), once",
            )
        self._subscription = subscription
        return self


def _initializer(given: object, method: str) -> KafkaOffsetsInitializer:
    if not isinstance(given, KafkaOffsetsInitializer):
        raise TypeMismatchError(
            f"{method} takes a KafkaOffsetsInitializer", seen=given, expected="e.g. KafkaOffsetsInitializer.latest()"
        )
    return given


def _number(properties: dict[str, str], key: str, default: int, unit: str = "milliseconds") -> int:
    text = properties.pop(key, str(default))
    try:
        return int(text)
    except ValueError:
        raise ConfigurationError(f"The property {key!r} is a number of {unit}", seen=text) from None


def _boolean(properties: dict[str, str], key: str) -> bool | None:
    text = properties.pop(key, None)
    if text not in (None, "true", "false"):
        raise ConfigurationError(f"The property {key!r} is true or false", seen=text)
    return None if text is None else text == "true"
