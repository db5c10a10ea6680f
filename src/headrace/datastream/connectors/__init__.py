"""Sources and sinks of external systems, with the names of `pyflink.datastream.connectors`."""

from headrace.compatibility.names import offer_pyflink_names
from headrace.connectors.base.definitions import DeliveryGuarantee, Sink, Source
from headrace.connectors.files.sink import BucketAssigner, FileSink, OutputFileConfig, RollingPolicy, StreamingFileSink
from headrace.connectors.files.source import (
    FileEnumeratorProvider,
    FileSource,
    FileSourceBuilder,
    FileSplitAssignerProvider,
    StreamFormat,
)
from headrace.connectors.generated.number_sequence import NumberSequenceSource
from headrace.connectors.jdbc.sink import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from headrace.connectors.rabbitmq.client import RMQConnectionConfig
from headrace.connectors.rabbitmq.sink import RMQSink, RMQSinkPublishOptions
from headrace.connectors.rabbitmq.source import RMQSource
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
