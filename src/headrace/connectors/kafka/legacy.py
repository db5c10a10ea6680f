"""The old names of Kafka's source and sink, for `add_source` and `add_sink`. They build the new ones."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from headrace.connectors.base.definitions import DeliveryGuarantee, Sink, Source
from headrace.connectors.kafka.offsets import KafkaOffsetResetStrategy, KafkaOffsetsInitializer
from headrace.connectors.kafka.serialization import KafkaRecordSerializationSchema
from headrace.connectors.kafka.sink import KafkaSink, KafkaSinkBuilder
from headrace.connectors.kafka.source import KafkaSource, KafkaSourceBuilder
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.serialization import DeserializationSchema, SerializationSchema
from headrace.types.typeinfo import TypeInformation

if TYPE_CHECKING:
    from typing_extensions import Self


class FlinkKafkaConsumerBase(Source):
    """What can be set on a `FlinkKafkaConsumer`.

    >>> issubclass(FlinkKafkaConsumer, FlinkKafkaConsumerBase)
    True
    """

    _schema: DeserializationSchema
    _builder: KafkaSourceBuilder
    _reset: KafkaOffsetResetStrategy
    _start: KafkaOffsetsInitializer | None = None

    def get_definition(self) -> Any:
        """Return the definition that the runtime reads."""
        start = self._start or KafkaOffsetsInitializer.committed_offsets(self._reset)
        schema = self._schema
        if type(schema).is_end_of_stream is not DeserializationSchema.is_end_of_stream:
            self._builder.end_at(schema.is_end_of_stream)
        return self._builder.set_starting_offsets(start).build().get_definition()

    def set_start_from_earliest(self) -> Self:
        """Begin at the beginning."""
        self._start = KafkaOffsetsInitializer.earliest()
        return self

    def set_start_from_latest(self) -> Self:
        """Begin at the end."""
        self._start = KafkaOffsetsInitializer.latest()
        return self

    def set_start_from_timestamp(self, startup_offsets_timestamp: int) -> Self:
        """Begin at the first message of a time."""
        self._start = KafkaOffsetsInitializer.timestamp(startup_offsets_timestamp)
        return self

    def set_start_from_group_offsets(self) -> Self:
        """Begin at the offsets of the group, otherwise as ``auto.offset.reset`` says. This is the default."""
        self._start = None
        return self

    def set_commit_offsets_on_checkpoints(self, commit_on_checkpoints: bool) -> Self:
        """Set whether offsets are committed for the group."""
        self._builder.set_property("commit.offsets.on.checkpoint", str(bool(commit_on_checkpoints)).lower())
        return self

    def disable_filter_restored_partitions_with_subscribed_topics(self) -> Self:
        """Do nothing: partitions of restored state are always read, even if their topics are not subscribed any more."""
        return self

    def get_produced_type(self) -> TypeInformation:
        """Return the type of the elements."""
        return self._schema.get_produced_type()


class FlinkKafkaConsumer(FlinkKafkaConsumerBase):
    """Reads topics from the offsets of the group, or from elsewhere.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> consumer = FlinkKafkaConsumer("orders", SimpleStringSchema(), {"bootstrap.servers": "b:9092", "group.id": "g"})
    >>> consumer.set_start_from_earliest().get_produced_type()
    String
    """

    def __init__(
        self, topics: str | list[str], deserialization_schema: DeserializationSchema, properties: dict[str, str]
    ) -> None:
        """Take topics, how values are read, and properties of the client."""
        self._schema = deserialization_schema
        self._builder = KafkaSource.builder().set_topics(*([topics] if isinstance(topics, str) else topics))
        self._builder.set_value_only_deserializer(deserialization_schema)
        self._properties = dict(properties)
        discovery = self._properties.pop("flink.partition-discovery.interval-millis", "-1")
        reset = self._properties.pop("auto.offset.reset", "latest")
        try:
            self._reset = KafkaOffsetResetStrategy[reset.upper()]
        except KeyError:
            raise InvalidProgramError("auto.offset.reset is latest, earliest or none", seen=reset) from None
        self._builder.set_properties(self._properties).set_property("partition.discovery.interval.ms", discovery)


class Semantic(Enum):
    """How often a message can arrive when the job fails and recovers.

    >>> Semantic.EXACTLY_ONCE.name
    'EXACTLY_ONCE'
    """

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2


class FlinkKafkaProducerBase(Sink):
    """What can be set on a `FlinkKafkaProducer`.

    >>> issubclass(FlinkKafkaProducer, FlinkKafkaProducerBase)
    True
    """

    _schema: KafkaRecordSerializationSchema
    _builder: KafkaSinkBuilder
    _with_timestamps = False

    def get_definition(self) -> Any:
        """Return the definition that the runtime writes with."""
        serializer = replace(self._schema.serializer, with_timestamps=self._with_timestamps)
        return self._builder.set_record_serializer(KafkaRecordSerializationSchema(serializer)).build().get_definition()

    def set_log_failures_only(self, log_failures_only: bool) -> Self:
        """Accept False: a message that cannot be written fails the job."""
        if log_failures_only:
            raise InvalidProgramError("Messages that cannot be written are never dropped", remedy="leave it out")
        return self

    def set_flush_on_checkpoint(self, flush_on_checkpoint: bool) -> Self:
        """Set whether a checkpoint waits for messages to be delivered."""
        if not flush_on_checkpoint:
            self._builder.set_delivery_guarantee(DeliveryGuarantee.NONE)
        return self

    def set_write_timestamp_to_kafka(self, write_timestamp_to_kafka: bool) -> Self:
        """Set whether messages have the timestamp of their records; otherwise it is the time of writing."""
        self._with_timestamps = write_timestamp_to_kafka
        return self


class FlinkKafkaProducer(FlinkKafkaProducerBase):
    """Writes values to a topic.

    >>> from headrace.common.serialization import SimpleStringSchema
    >>> producer = FlinkKafkaProducer("orders", SimpleStringSchema(), {"bootstrap.servers": "b:9092"})
    >>> isinstance(producer, Sink)
    True
    """

    def __init__(
        self,
        topic: str,
        serialization_schema: SerializationSchema,
        producer_config: dict[str, str],
        kafka_producer_pool_size: int = 5,
        semantic: Semantic = Semantic.AT_LEAST_ONCE,
    ) -> None:
        """Take a topic, how values are written, and properties of the client; there is no pool of producers."""
        if not isinstance(semantic, Semantic):
            raise TypeMismatchError("The semantic of a producer is a Semantic", seen=semantic)
        del kafka_producer_pool_size
        schema = KafkaRecordSerializationSchema.builder().set_topic(topic)
        self._schema = schema.set_value_serialization_schema(serialization_schema).build()
        self._builder = KafkaSink.builder()
        for key, value in producer_config.items():
            self._builder.set_property(key, value)
        self._builder.set_delivery_guarantee(DeliveryGuarantee[semantic.name])
        self._builder.set_transactional_id_prefix(topic)
        super().__init__(None)

    def ignore_failures_after_transaction_timeout(self) -> Self:
        """Do nothing: transactions do not stay open, so they do not time out."""
        return self
