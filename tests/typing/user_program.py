"""A user's program that mypy checks together with the package: names under PyFlink's paths resolve, with their types.

Most of these modules re-export another module's names with `import *`. mypy fails if a name is not exported.
"""

from __future__ import annotations

from typing_extensions import assert_type

from headrace.common.config_options import ConfigOption, ConfigOptions
from headrace.common.configuration import Configuration
from headrace.common.errors import HeadraceError
from headrace.common.restart_strategy import RestartStrategies
from headrace.common.serialization import SimpleStringSchema
from headrace.common.serializer import TypeSerializer
from headrace.common.time import Duration
from headrace.common.typeinfo import RowTypeInfo, Types
from headrace.common.types import Row
from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.datastream.async_retry_predicates import empty_result_predicate
from headrace.datastream.async_retry_strategies import NoRetryStrategy
from headrace.datastream.connectors.base import DeliveryGuarantee
from headrace.datastream.connectors.datagen import DataGeneratorSource
from headrace.datastream.connectors.file_system import FileSource
from headrace.datastream.connectors.hybrid_source import HybridSource
from headrace.datastream.connectors.jdbc import JdbcSink
from headrace.datastream.connectors.kafka import KafkaSource, KafkaSourceBuilder
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.connectors.rabbitmq import RMQSource
from headrace.datastream.connectors.redis import RedisSink
from headrace.datastream.connectors.sink2 import Committer
from headrace.datastream.formats.avro import AvroSchema
from headrace.datastream.formats.csv import CsvSchema, CsvSchemaBuilder
from headrace.datastream.formats.json import JsonRowSerializationSchema
from headrace.datastream.formats.orc import OrcBulkWriters
from headrace.datastream.formats.parquet import ParquetBulkWriters
from headrace.datastream.functions import MapFunction, RuntimeContext
from headrace.datastream.timerservice import TimerService

IMPORTED = (
    *(NoRetryStrategy, AvroSchema, Committer, Configuration, ConfigOption, DataGeneratorSource, DeliveryGuarantee),
    *(
        FileSource,
        HeadraceError,
        HybridSource,
        JdbcSink,
        JsonRowSerializationSchema,
        NumberSequenceSource,
        OrcBulkWriters,
    ),
    *(ParquetBulkWriters, RedisSink, RestartStrategies, RMQSource, Row, SimpleStringSchema, TimerService),
    *(TypeSerializer, empty_result_predicate),
)


class Double(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        assert_type(runtime_context.get_index_of_this_subtask(), int)

    def map(self, value: int) -> int:
        return value * 2


def program() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    assert_type(env.from_collection([1], Types.INT()).map(Double()), DataStream)
    assert_type(Duration.of_seconds(1).to_millis(), int)
    assert_type(Types.ROW([Types.INT()]), RowTypeInfo)
    assert_type(ConfigOptions.key("a").string_type().no_default_value(), ConfigOption[str])
    assert_type(KafkaSource.builder(), KafkaSourceBuilder)
    assert_type(CsvSchema.builder(), CsvSchemaBuilder)
