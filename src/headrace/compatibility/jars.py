"""Jars of a Flink program: headrace loads none of them and warns once what replaces each.

Decides by a jar's file name. Never rejects a jar: a program that needs a Java class fails where it names the class.
Called by `add_jars`, `add_classpaths`, and when a job is submitted, for `pipeline.jars`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from headrace.compatibility.ignored_settings import WithoutEffectWarning

JARS = "pipeline.jars"
CLASSPATHS = "pipeline.classpaths"


class BuiltIn(NamedTuple):
    """The replacement of jars whose names contain one of these words."""

    words: tuple[str, ...]
    replacement: str


_CONNECTORS = "headrace.datastream.connectors"
_FORMATS = "headrace.datastream.formats"
_NOT_THERE = "headrace has no connector for it; write a SinkFunction or a SourceFunction in Python"
BUILT_IN = (
    BuiltIn(("postgres",), "PostgreSQL's driver comes with pip install 'headrace[postgres]'"),
    BuiltIn(("mysql", "mariadb"), "the driver of MySQL and MariaDB comes with pip install 'headrace[mysql]'"),
    BuiltIn(("sqlite",), "SQLite's driver is part of Python"),
    BuiltIn(("confluent", "schema-registry"), f"schemas are given to the formats themselves, see {_FORMATS}.avro"),
    BuiltIn(("kafka",), f"Kafka is built in, as {_CONNECTORS}.kafka"),
    BuiltIn(("jdbc",), f"JDBC sinks are built in, as {_CONNECTORS}.jdbc"),
    BuiltIn(("rabbitmq", "amqp-client"), f"RabbitMQ is built in, as {_CONNECTORS}.rabbitmq"),
    BuiltIn(("redis", "jedis"), f"Redis is built in, as {_CONNECTORS}.redis"),
    BuiltIn(("elasticsearch", "opensearch", "kinesis", "pulsar", "cassandra", "mongodb", "hbase", "-cdc-"), _NOT_THERE),
    BuiltIn(("connector-files", "connector-datagen", "connector-base"), f"it is built in, see {_CONNECTORS}"),
    BuiltIn(("avro", "parquet", "orc", "-csv", "-json"), f"file and message formats are built in, as {_FORMATS}"),
    BuiltIn(("statebackend", "rocksdb"), "state backends are built in"),
    BuiltIn(("-cep",), "patterns are built in, as headrace.cep"),
    BuiltIn(("s3", "hadoop", "gs-fs", "azure"), "file systems are reached through fsspec: s3:// and other URLs work"),
    BuiltIn(("metrics-",), "metric reporters are built in"),
    BuiltIn(
        ("flink-python", "flink-dist", "flink-table", "flink-streaming", "flink-core"), "Spark takes Flink's place"
    ),
)
_OTHER = "headrace runs no Java code; jars for Spark go into spark.jars"
_warned: set[str] = set()


def replacement_of(jar: str) -> str:
    """Return what replaces a jar, by its file name.

    >>> replacement_of("file:///opt/jars/flink-sql-connector-kafka-3.0.1-1.18.jar")
    'Kafka is built in, as headrace.datastream.connectors.kafka'
    >>> replacement_of("postgresql-42.6.0.jar")
    "PostgreSQL's driver comes with pip install 'headrace[postgres]'"
    """
    name = file_name(jar).lower()
    return next((known.replacement for known in BUILT_IN if any(word in name for word in known.words)), _OTHER)


def warn_of_jars(call: str, jars: Iterable[str]) -> None:
    """Warn about jars that are not loaded, once per file name and process.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_jars("add_jars", ["file:///a/own-code.jar", "file:///b/own-code.jar"])
    >>> [str(warning.message) for warning in caught]
    ['add_jars does not load own-code.jar: headrace runs no Java code; jars for Spark go into spark.jars']
    """
    for jar in jars:
        name = file_name(jar)
        if name not in _warned:
            _warned.add(name)
            warnings.warn(f"{call} does not load {name}: {replacement_of(jar)}", WithoutEffectWarning, stacklevel=4)


def warn_of_jar_options(configuration: Mapping[str, object]) -> None:
    """Warn about the jars of a configuration, unless a call has already done so."""
    for key in (JARS, CLASSPATHS):
        warn_of_jars(key, jar_paths(configuration.get(key)))


def jar_paths(value: object) -> list[str]:
    """Return the jars of a configuration value: a list, or a string with semicolons as in Flink.

    >>> jar_paths("file:///a.jar; file:///b.jar")
    ['file:///a.jar', 'file:///b.jar']
    """
    parts = value if isinstance(value, list | tuple) else str(value or "").strip("[]").split(";")
    return [text for part in parts if (text := str(part).strip().strip("'\""))]


def file_name(jar: str) -> str:
    r"""Return the last part of a path or URL, which may be a Windows path.

    >>> file_name("file:///C:\\jars\\my.jar")
    'my.jar'
    """
    return re.split(r"[/\\]", jar.rstrip("/\\"))[-1]
