"""Names of PyFlink that headrace does not have, with the reason and what to use instead. Data only."""

from __future__ import annotations

from typing import NamedTuple


class Without(NamedTuple):
    """Names that are missing for the same reason; an asterisk matches any characters.

    >>> Without("Elasticsearch*", "there is no Elasticsearch connector", "write a SinkFunction in Python").names
    'Elasticsearch*'
    """

    names: str
    why: str
    instead: str


_SINK = "write a SinkFunction in Python"
_SOURCE = "write a SourceFunction in Python"
_EITHER = "write a SourceFunction or a SinkFunction in Python"
WITHOUT = (
    Without(
        "py4j Py4J* JavaClass JavaException JavaGateway JavaObject* java_import get_java_class "
        "CallbackServerParameters GatewayParameters *_py4j_* "
        "install_exception_handler capture_java_exception exception_mapping logger",
        "PyFlink talks to a JVM through Py4J, headrace runs Python only",
        "leave it out; errors are those of headrace.errors",
    ),
    Without(
        "to_j_* from_j_* to_jarray get_field get_field_value invoke_method is_instance_of load_java_class "
        "add_jars_to_context_class_loader create_url_class_loader create_hadoop_configuration create_java_properties "
        "get_j_env_configuration is_local_deployment import_flink_view launch_gateway* is_launch_gateway_disabled "
        "PythonFunctionFactory Watchdog",
        "it works on Java objects, and there are none",
        "use the public methods of the environment and of its configuration",
    ),
    Without("Elasticsearch* FlushBackoffType", "there is no Elasticsearch connector", _SINK),
    Without(
        "Cassandra* ClusterBuilder ConsistencyLevel MapperOptions",
        "there is no Cassandra connector",
        "write a GenericWriteAheadSink or a SinkFunction in Python",
    ),
    Without("*Kinesis* PartitionKeyGenerator WatermarkTracker", "there is no Kinesis connector", _EITHER),
    Without(
        "Pulsar* StartCursor StopCursor SubscriptionType MessageDelayer RangeGenerator TopicRoutingMode",
        "there is no Pulsar connector",
        _EITHER,
    ),
    Without(
        "DynamicKafka* KafkaMetadataService KafkaStream*Subscriber StreamPatternSubscriber "
        "SingleClusterTopicMetadataService",
        "a Kafka source reads one cluster that does not change",
        "use KafkaSource, one for each cluster, and union()",
    ),
    Without(
        "Catalog* Database* Function*Exception Model* Partition*Exist* PartitionSpec* Table*",
        "the Table API is not part of this version",
        "catch HeadraceError of headrace.errors",
    ),
    Without(
        "PickleSerializer BatchedSerializer IterableSerializer VarLengthDataSerializer SpecialLengths read_int write_int",
        "values between PyFlink's processes are encoded so; headrace has no such processes",
        "use Python's pickle",
    ),
    Without(
        "Internal* FilterFunctionWrapper FlatMapFunctionWrapper KeySelectorFunctionWrapper MapFunctionWrapper "
        "PartitionerFunctionWrapper WindowOperationDescriptor WINDOW_STATE_NAME GenericMetricGroup MetricGroupType N void "
        "ResultTypeQueryable convert_to_python_obj pickled_bytes_to_python_* Public PublicEvolving Experimental Deprecated "
        "BaseAPIStabilityDecorator override",
        "it is a part of PyFlink's own inside, which its documentation does not name",
        "use the public classes and functions",
    ),
)
