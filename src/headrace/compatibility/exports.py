"""Where to find the names that PyFlink's modules expose without defining them. Data only; `names` reads it."""

from __future__ import annotations

ANYWHERE: dict[str, str] = {
    "typing": (
        "Any Callable Collection Dict Generic Iterable Iterator List Optional Set TYPE_CHECKING Tuple "
        "Type TypeVar Union cast overload"
    ),
    "abc": "ABC ABCMeta abstractmethod",
    "enum": "Enum",
    "io": "BytesIO",
    "headrace.java_gateway": "get_gateway",
}
"""Names that any of the modules may expose, by the module that defines them."""

EXPORTS: dict[str, dict[str, str]] = {
    "common": {
        "headrace.formats.avro": "AvroRowDeserializationSchema AvroRowSerializationSchema",
        "headrace.formats.csv": "CsvRowDeserializationSchema CsvRowSerializationSchema",
        "headrace.formats.json": "JsonRowDeserializationSchema JsonRowSerializationSchema",
    },
    "common.execution_config": {"import": "warnings"},
    "common.serialization": {
        "headrace.common": "typeinfo",
        "headrace.formats.avro": "AvroRowDeserializationSchema AvroRowSerializationSchema",
        "headrace.formats.csv": "CsvRowDeserializationSchema CsvRowSerializationSchema",
        "headrace.formats.json": "JsonRowDeserializationSchema JsonRowSerializationSchema",
    },
    "common.typeinfo": {"import": "calendar datetime time"},
    "common.watermark_strategy": {"import": "abc"},
    "datastream.async_data_stream": {
        "headrace.common": "Time",
        "headrace.datastream": "async_retry_strategies",
        "headrace.functions": "AsyncFunctionDescriptor",
    },
    "datastream.checkpoint_config": {"import": "warnings"},
    "datastream.connectors": {
        "headrace.datastream.connectors.kafka": "FlinkKafkaConsumerBase FlinkKafkaProducerBase",
        "headrace.common": "ConfigOption Duration ExecutionConfig typeinfo",
        "headrace.types.serialization": "DeserializationSchema Encoder SerializationSchema",
        "headrace.types.typeinfo": "RowTypeInfo TypeInformation",
        "headrace.functions": "JavaFunctionWrapper SinkFunction SourceFunction",
        "import": "abc",
    },
    "datastream.connectors.base": {"headrace.functions": "JavaFunctionWrapper"},
    "datastream.connectors.cassandra": {"headrace.common": "Duration"},
    "datastream.connectors.dynamic_kafka": {
        "headrace.common": "DeserializationSchema",
        "headrace.datastream.connectors": "Source",
        "headrace.datastream.connectors.kafka": "KafkaOffsetsInitializer KafkaRecordDeserializationSchema",
    },
    "datastream.connectors.elasticsearch": {
        "headrace.datastream.connectors": "DeliveryGuarantee Sink",
        "import": "abc",
    },
    "datastream.connectors.file_system": {
        "headrace.common": "Encoder",
        "headrace.types.serialization": "BulkWriterFactory RowDataBulkWriterFactory",
        "headrace.datastream.connectors": "Sink",
        "headrace.connectors.base.definitions": "StreamTransformer SupportsPreprocessing",
        "headrace.functions": "SinkFunction",
        "import": "warnings",
    },
    "datastream.connectors.jdbc": {"headrace.types.typeinfo": "RowTypeInfo"},
    "datastream.connectors.kafka": {
        "headrace.common": "DeserializationSchema Row SerializationSchema TypeInformation Types typeinfo",
        "headrace.datastream.connectors": "Sink Source",
        "headrace.connectors.base.definitions": "DeliveryGuarantee StreamTransformer SupportsPreprocessing",
        "headrace.functions": "SinkFunction SourceFunction",
        "import": "warnings",
    },
    "datastream.connectors.kinesis": {
        "headrace.common": "AssignerWithPeriodicWatermarksWrapper DeserializationSchema SerializationSchema",
        "headrace.datastream.connectors": "Sink",
        "headrace.functions": "SourceFunction",
    },
    "datastream.connectors.pulsar": {
        "headrace.common": "ConfigOption ConfigOptions DeserializationSchema Duration SerializationSchema",
        "headrace.datastream.connectors": "DeliveryGuarantee Sink Source",
        "import": "warnings",
    },
    "datastream.connectors.rabbitmq": {"headrace.functions": "SinkFunction SourceFunction"},
    "datastream.data_stream": {
        "headrace.common": "ExecutionConfig Row typeinfo",
        "headrace.types.typeinfo": "RowTypeInfo TypeInformation Types",
        "headrace.common.watermark_strategy": "TimestampAssigner WatermarkStrategy",
        "headrace.datastream.connectors": "Sink",
        "headrace.functions": (
            "AggregateFunction AllWindowFunction AsyncFunctionDescriptor BroadcastProcessFunction "
            "CoFlatMapFunction CoMapFunction CoProcessFunction FilterFunction FlatMapFunction Function "
            "FunctionWrapper KeySelector KeyedBroadcastProcessFunction KeyedCoProcessFunction "
            "KeyedProcessFunction MapFunction NullByteKeySelector Partitioner "
            "PassThroughAllWindowFunction PassThroughWindowFunction ProcessAllWindowFunction "
            "ProcessFunction ProcessWindowFunction ReduceFunction ReduceFunctionWrapper RuntimeContext "
            "SinkFunction WindowFunction"
        ),
        "headrace.datastream.output_tag": "OutputTag",
        "headrace.datastream.slot_sharing_group": "SlotSharingGroup",
        "headrace.datastream.state": (
            "AggregatingStateDescriptor ListStateDescriptor MapStateDescriptor ReducingState "
            "ReducingStateDescriptor StateDescriptor ValueState ValueStateDescriptor"
        ),
        "headrace.datastream.window": (
            "CountSlidingWindowAssigner CountTumblingWindowAssigner CountWindowSerializer "
            "GlobalWindowSerializer MergingWindowAssigner TimeWindowSerializer Trigger WindowAssigner"
        ),
        "import": "typing uuid warnings",
    },
    "datastream.formats.csv": {
        "headrace.types.serialization": "DeserializationSchema SerializationSchema",
        "headrace.types.typeinfo": "TypeInformation",
    },
    "datastream.formats.json": {"headrace.common": "typeinfo"},
    "datastream.functions": {
        "headrace.functions.join_functions": "IN1 IN2",
        "headrace.functions.window_functions": "IN KEY OUT W W2",
        "headrace.datastream.state": (
            "AggregatingState AggregatingStateDescriptor BroadcastState ListState ListStateDescriptor "
            "MapState MapStateDescriptor ReadOnlyBroadcastState ReducingState ReducingStateDescriptor "
            "ValueState ValueStateDescriptor"
        ),
        "headrace.datastream.time_domain": "TimeDomain",
        "headrace.metrics": "MetricGroup",
    },
    "datastream.output_tag": {"headrace.types.typeinfo": "RowTypeInfo TypeInformation Types"},
    "datastream.state": {
        "headrace.types.time": "Duration Time",
        "headrace.types.typeinfo": "PickledBytesTypeInfo TypeInformation Types",
        "headrace.state.interfaces": "IN K OUT T V",
    },
    "datastream.stream_execution_environment": {
        "headrace.common.execution_config": "ExecutionConfig",
        "headrace.common.io": "InputFormat",
        "headrace.config.restart_strategy": "RestartStrategies RestartStrategyConfiguration",
        "headrace.types.typeinfo": "Types",
        "headrace.datastream": "SlotSharingGroup",
        "headrace.datastream.checkpoint_config": "CheckpointConfig",
        "headrace.datastream.checkpointing_mode": "CheckpointingMode",
        "headrace.datastream.connectors": "Source",
        "headrace.datastream.state_backend": "StateBackend",
        "headrace.datastream.time_characteristic": "TimeCharacteristic",
        "import": "os tempfile warnings",
    },
    "datastream.timerservice": {"headrace.state.interfaces": "K"},
    "datastream.utils": {
        "headrace.common": "Configuration Row RowKind",
        "headrace.types.typeinfo": (
            "BasicArrayTypeInfo ExternalTypeInfo ListTypeInfo MapTypeInfo ObjectArrayTypeInfo "
            "PrimitiveArrayTypeInfo RowTypeInfo TupleTypeInfo TypeInformation Types"
        ),
        "import": "ast datetime pickle",
    },
    "datastream.window": {
        "headrace.common": "Time Types",
        "headrace.types.serializer": "TypeSerializer",
        "headrace.functions": "ReduceFunction RuntimeContext",
        "headrace.functions.window_functions": "IN KEY OUT W W2",
        "headrace.datastream.output_tag": "OutputTag",
        "headrace.datastream.state": "ReducingState ReducingStateDescriptor State StateDescriptor ValueStateDescriptor",
        "import": "math sys",
        "headrace.metrics": "MetricGroup",
        "headrace.state.interfaces": "T",
        "headrace.common.constants": "MAX_LONG_VALUE MIN_LONG_VALUE",
    },
    "java_gateway": {
        "logging": "WARN",
        "threading": "RLock",
        "import": "importlib os shlex shutil struct tempfile time",
    },
    "metrics.metricbase": {"import": "abc json"},
    "serializers": {
        "headrace.state.interfaces": "T",
        "itertools": "chain",
        "headrace.types.serializer": "TypeSerializer",
        "import": "pickle struct",
    },
    "util.api_stability_decorators": {
        "headrace.state.interfaces": "T",
        "inspect": "getmembers isclass isfunction",
        "textwrap": "dedent indent",
        "import": "warnings",
    },
    "util.java_utils": {"datetime": "timedelta"},
}
"""By module of headrace: names by the module that defines them; `import` means modules of Python's library."""
