"""Programs that bring jars along run: each jar is named once, with what does its work."""

from __future__ import annotations

import warnings

import pytest

from headrace.common import Configuration
from headrace.common.errors import NoJvmError
from headrace.compatibility import jars
from headrace.compatibility.ignored_settings import WithoutEffectWarning
from headrace.datastream import SourceFunction, StreamExecutionEnvironment


@pytest.fixture(autouse=True)
def nothing_said_yet(monkeypatch):
    monkeypatch.setattr(jars, "_warned", set())


def environment(**settings):
    configuration = {"headrace.executor": "local", "parallelism.default": "1", **settings}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(configuration))


@pytest.mark.parametrize(
    ("jar", "words"),
    [
        ("flink-sql-connector-kafka-1.17.1.jar", "connectors.kafka"),
        ("flink-connector-kafka_2.12-1.14.0.jar", "connectors.kafka"),
        ("kafka-clients-3.4.0.jar", "connectors.kafka"),
        ("flink-connector-jdbc-3.1.0-1.17.jar", "connectors.jdbc"),
        ("postgresql-42.6.0.jar", "headrace[postgres]"),
        ("mysql-connector-java-8.0.30.jar", "headrace[mysql]"),
        ("mariadb-java-client-3.1.4.jar", "headrace[mysql]"),
        ("sqlite-jdbc-3.40.jar", "part of Python"),
        ("flink-sql-connector-rabbitmq-3.0.1-1.17.jar", "connectors.rabbitmq"),
        ("flink-sql-connector-elasticsearch7-3.0.1-1.17.jar", "has no connector"),
        ("flink-sql-avro-1.17.1.jar", "headrace.datastream.formats"),
        ("flink-json-1.17.1.jar", "headrace.datastream.formats"),
        ("flink-s3-fs-hadoop-1.17.1.jar", "through fsspec"),
        ("own-functions.jar", "no Java code"),
    ],
)
@pytest.mark.parametrize("form", ["file:///opt/jars/{}", "C:\\jars\\{}", "{}", "https://repo/{}"])
def test_the_name_tells_what_replaces_a_jar(jar, words, form):
    assert words in jars.replacement_of(form.format(jar))


@pytest.mark.parametrize("call", ["add_jars", "add_classpaths"])
def test_a_call_warns_once_and_the_job_runs(call):
    env = environment()
    with pytest.warns(WithoutEffectWarning) as caught:
        getattr(env, call)("file:///opt/flink-sql-connector-kafka-1.17.1.jar", "file:///opt/postgresql-42.6.0.jar")
        getattr(env, call)("file:///opt/postgresql-42.6.0.jar")
        assert list(env.from_collection([1]).execute_and_collect()) == [1]
    assert [str(warning.message) for warning in caught] == [
        f"{call} does not load flink-sql-connector-kafka-1.17.1.jar: "
        "Kafka is built in, as headrace.datastream.connectors.kafka",
        f"{call} does not load postgresql-42.6.0.jar: PostgreSQL's driver comes with pip install 'headrace[postgres]'",
    ]
    assert all(warning.filename == __file__ for warning in caught), "the warning shows the program's own line"


@pytest.mark.parametrize("key", ["pipeline.jars", "pipeline.classpaths"])
def test_an_option_warns_once_and_the_job_runs(key):
    env = environment(**{key: "file:///opt/flink-connector-jdbc-3.1.jar;file:///opt/mysql-connector-j-8.0.33.jar"})
    with pytest.warns(WithoutEffectWarning) as caught:
        for _ in range(2):
            assert list(env.from_collection([1]).execute_and_collect()) == [1]
    assert [str(w.message).split(":")[0] for w in caught] == [
        f"{key} does not load flink-connector-jdbc-3.1.jar",
        f"{key} does not load mysql-connector-j-8.0.33.jar",
    ]


def test_the_calls_are_in_the_configuration():
    env = environment()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env.add_jars("file:///a.jar")
        env.add_jars("file:///b.jar", "file:///c.jar")
    assert env.get_configuration().to_dict()["pipeline.jars"] == "file:///a.jar;file:///b.jar;file:///c.jar"


def test_a_java_class_is_refused_where_it_is_named():
    env = environment()
    with pytest.warns(WithoutEffectWarning, match=r"own\.jar"):
        env.add_jars("file:///own.jar")
    with pytest.raises(NoJvmError, match="written in Java"):
        SourceFunction("org.example.MySource")
