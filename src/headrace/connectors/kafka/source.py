"""The Kafka source: how programs describe it, and the frozen definition that is pickled into the job.

`enumerator` finds its partitions in the driver, `reader` reads them in tasks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.connectors.base import definitions
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import ReaderContext, SplitReader
from headrace.connectors.kafka.client import ClientProperties, translated
from headrace.connectors.kafka.enumerator import KafkaEnumerator, PartitionRange, Subscription
from headrace.connectors.kafka.offsets import KafkaOffsetsInitializer, KafkaTopicPartition, Offsets, Start
from headrace.connectors.kafka.reader import EndMark, PartitionReader
from headrace.errors import ConfigurationError, InvalidProgramError, TypeMismatchError
from headrace.types.java_hash import string_hash
from headrace.types.serialization import DeserializationSchema
from headrace.types.typeinfo import TypeInformation, Types

_DISCOVERY = "partition.discovery.interval.ms"
_COMMIT = "commit.offsets.on.checkpoint"
_MAX_BYTES = "max.record.bytes"
_DISCOVERY_MILLIS = 300_000

_DEFAULTS = {
    "group.id": "headrace",
    "enable.auto.commit": False,
    "auto.offset.reset": "error",
    "isolation.level": "read_uncommitted",
    "allow.auto.create.topics": False,
    "fetch.queue.backoff.ms": 5,
    "reconnect.backoff.max.ms": 2000,
    "queued.max.messages.kbytes": 32_768,
    "fetch.message.max.bytes": 2 * 1024 * 1024,
}


class KafkaRecordDeserializationSchema(ABC):
    """Turns whole messages into elements: with key, headers, timestamp, topic, partition and offset.

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
        """Return the element of a message, or None to skip the message."""

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the elements."""
        return Types.PICKLED_BYTE_ARRAY()


class KafkaSource(definitions.Source):
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
        """Return a builder."""
        return KafkaSourceBuilder()


class KafkaSourceBuilder(ClientProperties):
    """Collects the parts of a Kafka source; `build` checks them.

    Besides the client's properties there are ``partition.discovery.interval.ms`` (5 minutes, -1 for never),
    ``commit.offsets.on.checkpoint`` and ``max.record.bytes`` (larger messages count as unreadable).

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> builder = KafkaSource.builder().set_bootstrap_servers("127.0.0.1:9092").set_topics("orders")
    >>> type(builder.set_value_only_deserializer(SimpleStringSchema()).build()).__name__
    'KafkaSource'
    """

    def __init__(self) -> None:
        """Programs call `KafkaSource.builder`."""
        super().__init__()
        self._subscription: Subscription | None = None
        self._starting = KafkaOffsetsInitializer.earliest()
        self._stopping: KafkaOffsetsInitializer | None = None
        self._bounded = False
        self._dead_letters: str | None = None
        self._schema: DeserializationSchema | KafkaRecordDeserializationSchema | None = None
        self._is_end: Callable[[Any], bool] | None = None

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
        """Set where the first run begins; a restored job continues at its positions."""
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
        """Send messages that cannot be read to a side output, as `BadRecord`s; otherwise they fail the job."""
        self._dead_letters = definitions.dead_letter_tag(output_tag)
        return self

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        """Set what the client ids begin with; the number of the subtask follows."""
        return self.set_property("client.id.prefix", prefix)

    def set_properties(self, props: dict[str, str]) -> KafkaSourceBuilder:
        """Set several properties."""
        for key, value in props.items():
            self.set_property(key, value)
        return self

    def end_at(self, is_end: Callable[[Any], bool]) -> KafkaSourceBuilder:
        """End a subtask before the first element for which this is true; an extension of headrace."""
        self._is_end = is_end
        return self

    def build(self) -> KafkaSource:
        """Check the parts and return the source."""
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
        return KafkaSource(
            KafkaPartitions(
                {**_DEFAULTS, **translated(properties)},
                subscription,
                self._starting.rule,
                schema.deserialize,
                takes_message=isinstance(schema, KafkaRecordDeserializationSchema),
                stopping=None if self._stopping is None else self._stopping.rule,
                bounded=self._bounded,
                discovery_seconds=discovery / 1000 if discovery > 0 and not self._bounded else None,
                commit_offsets=grouped and asked_to_commit is not False,
                client_id_prefix=prefix,
                produced_type=schema.get_produced_type(),
                dead_letters=self._dead_letters,
                max_bytes=most if most >= 0 else None,
                is_end=self._is_end,
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


def owner(topic: str, partition: int, parallelism: int) -> int:
    """Return the subtask that reads a partition, as in Flink.

    >>> [owner("orders", p, 3) for p in range(4)]
    [0, 1, 2, 0]
    """
    return ((string_hash(topic) * 31 & 0x7FFFFFFF) % parallelism + partition) % parallelism


@dataclass(frozen=True, eq=False)
class KafkaPartitions(Source):
    """Reads partitions of Kafka topics; `deserialize` takes the whole message, or else its value.

    >>> KafkaPartitions({"bootstrap.servers": "b:9092"}, Subscription(("t",)), Offsets(Start.EARLIEST), bytes).bounded
    False
    """

    settings: Mapping[str, Any]
    subscription: Subscription
    starting: Offsets
    deserialize: Callable[[Any], Any]
    takes_message: bool = False
    stopping: Offsets | None = None
    bounded: bool = False
    discovery_seconds: float | None = None
    commit_offsets: bool = False
    client_id_prefix: str | None = None
    produced_type: TypeInformation | None = None
    dead_letters: str | None = None
    max_bytes: int | None = None
    is_end: Callable[[Any], bool] | None = None
    """Knows the element that ends a subtask."""

    @property
    def may_finish(self) -> bool:
        return (self.stopping is not None or self.is_end is not None) and self.discovery_seconds is None

    def enumerator(self) -> KafkaEnumerator:
        return KafkaEnumerator(self)

    def owner(self, split: Split, parallelism: int) -> int:
        return owner(split.payload.topic, split.payload.partition, parallelism)

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        part: PartitionRange = split.payload
        settings = {**self.settings, "enable.partition.eof": True}
        if self.client_id_prefix is not None:
            settings["client.id"] = f"{self.client_id_prefix}-{context.subtask}"
        end_mark = None if self.is_end is None else context.shared.setdefault(id(self), EndMark(self.is_end))
        return PartitionReader(
            (part.topic, part.partition),
            part.start if position is None else position,
            part.stop,
            settings,
            self.deserialize,
            self.takes_message,
            self.dead_letters is not None,
            self.max_bytes,
            end_mark,
        )


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
