"""Provide names that PyFlink's modules expose because they import them, or exposed in older versions.

Decides what happens if a program imports a name that a module of headrace does not define: it gets the object from the
defining module, an `ImportError` with the alternative for a name that headrace does not have, or an AttributeError.
`WITHOUT` lists what headrace does not have. Imports are lazy. `tests/data/pyflink_names.json` lists what PyFlink exposes,
and a test imports all of it.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any, NamedTuple

from headrace.compatibility.exports import ANYWHERE, EXPORTS
from headrace.errors import HeadraceError


class Without(NamedTuple):
    """Names that are missing for the same reason; an asterisk matches any characters.

    >>> Without("Elasticsearch*", "there is no Elasticsearch connector", "write a SinkFunction in Python").names
    'Elasticsearch*'
    """

    names: str
    why: str
    instead: str


_SINK = "write a SinkFunction in Python"
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


MODULES = "import"


class NameNotSupportedError(HeadraceError, ImportError):
    """A name of PyFlink that headrace does not have.

    >>> from headrace.datastream.connectors.elasticsearch import Elasticsearch7SinkBuilder
    Traceback (most recent call last):
    ...
    headrace.compatibility.names.NameNotSupportedError: headrace has no Elasticsearch7SinkBuilder [NAME_NOT_SUPPORTED]
      seen:     headrace.datastream.connectors.elasticsearch.Elasticsearch7SinkBuilder
      remedy:   there is no Elasticsearch connector: write a SinkFunction in Python
    """

    code = "NAME_NOT_SUPPORTED"


def offer_pyflink_names(module: str, definitions: str | None = None) -> None:
    """Let a module provide all names of the PyFlink module with the same path.

    `definitions` is the module whose names this one re-exports. Names that it imports are visible here, too.

    >>> from headrace.datastream.window import Time
    >>> Time.seconds(1).to_milliseconds()
    1000
    """
    table = {
        name: home
        for homes in (ANYWHERE, EXPORTS.get(module.removeprefix("headrace."), {}))
        for home, names in homes.items()
        for name in names.split()
    }

    def find(name: str) -> Any:
        home = table.get(name)
        if home is not None:
            return import_module(name) if home == MODULES else _member(home, name)
        if definitions is not None and hasattr(own := import_module(definitions), name):
            return getattr(own, name)
        for without in WITHOUT:
            if any(fnmatchcase(name, pattern) for pattern in without.names.split()):
                raise NameNotSupportedError(
                    f"headrace has no {name}", seen=f"{module}.{name}", remedy=f"{without.why}: {without.instead}"
                )
        raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=sys.modules[module])

    sys.modules[module].__dict__["__getattr__"] = find


def _member(home: str, name: str) -> Any:
    module = import_module(home)
    return getattr(module, name) if hasattr(module, name) else import_module(f"{home}.{name}")
