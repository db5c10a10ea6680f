"""What the tests of connectors share: a Kafka broker, environments on the local executor, readers without a job."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headrace.common import Configuration
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_reader import ReaderContext, SplitReader
from headrace.datastream import StreamExecutionEnvironment

_HERE = str(Path(__file__).resolve().parent)
if _HERE not in sys.path:
    sys.path.insert(0, _HERE)

if TYPE_CHECKING:
    from kafka_kit.broker import Broker
    from rabbitmq_server import RabbitServer
    from redis_server import RedisServer


@pytest.fixture(scope="session")
def broker() -> Iterator[Broker]:
    """A running Kafka broker."""
    from kafka_kit.broker import Broker

    started = Broker()
    try:
        yield started.start()
    finally:
        started.remove()


@pytest.fixture
def make_env() -> Callable[..., StreamExecutionEnvironment]:
    """Makes environments: `make_env(parallelism, executor, some__key="value")`."""

    def make(parallelism: int = 2, executor: str = "local", **settings: Any) -> StreamExecutionEnvironment:
        configuration = Configuration().set_string("headrace.executor", executor)
        for key, value in settings.items():
            configuration.set_string(key.replace("__", "."), str(value))
        return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(parallelism)

    return make


def read_all(reader: SplitReader, limit: int = 1000) -> list[Any]:
    """Reads a bounded split to its end."""
    values: list[Any] = []
    while not reader.finished:
        values += reader.read(limit, 0).values
    return values


@pytest.fixture
def contents() -> Callable[[Any], list[Any]]:
    """Gives all values of a bounded source, split by split."""

    def read(source: Any, parallelism: int = 1) -> list[Any]:
        definition: Source = source.get_definition()
        values: list[Any] = []
        for split in definition.enumerator().start(parallelism):
            reader = definition.open_reader(split, None, ReaderContext())
            values += read_all(reader)
            reader.close()
        return values

    return read


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A running Redis."""
    from redis_server import RedisServer

    server = RedisServer()
    try:
        yield server.start()
    finally:
        server.remove()


@pytest.fixture(scope="session")
def rabbit() -> Iterator[RabbitServer]:
    """A running RabbitMQ."""
    from rabbitmq_server import RabbitServer

    server = RabbitServer()
    try:
        yield server.start()
    finally:
        server.remove()


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """Gives the names of a program in examples/servers, which then runs without Spark."""
    monkeypatch.setenv("HEADRACE_EXECUTOR", "local")
    folder = Path(__file__).parents[2] / "examples" / "servers"
    return lambda name: runpy.run_path(str(folder / f"{name}.py"))
