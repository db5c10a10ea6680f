"""Sources and sinks of external systems, with the names of `pyflink.datastream.connectors`."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.base.definitions import DeliveryGuarantee, Sink, Source
from headrace.connectors.files.source_builder import (
    BucketAssigner,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
    StreamingFileSink,
)
from headrace.connectors.generated.number_sequence_builder import NumberSequenceSource
from headrace.connectors.jdbc.sink_builder import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from headrace.connectors.rabbitmq.builders import RMQConnectionConfig, RMQSink, RMQSinkPublishOptions, RMQSource
from headrace.datastream.connectors.kafka import (
    FlinkKafkaConsumer,
    FlinkKafkaProducer,
    KafkaRecordDeserializationSchema,
    KafkaSource,
    Semantic,
)

__all__ = [
    "BucketAssigner",
    "DeliveryGuarantee",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "FlinkKafkaConsumer",
    "FlinkKafkaProducer",
    "JdbcConnectionOptions",
    "JdbcExecutionOptions",
    "JdbcSink",
    "KafkaRecordDeserializationSchema",
    "KafkaSource",
    "NumberSequenceSource",
    "OutputFileConfig",
    "RMQConnectionConfig",
    "RMQSink",
    "RMQSinkPublishOptions",
    "RMQSource",
    "RollingPolicy",
    "Semantic",
    "Sink",
    "Source",
    "StreamFormat",
    "StreamingFileSink",
]

offer_pyflink_names(__name__)
