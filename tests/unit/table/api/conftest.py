"""Environments that run their jobs in this process, without a JVM."""

from __future__ import annotations

import pytest

from headrace.common import Configuration
from headrace.datastream import StreamExecutionEnvironment
from headrace.table import EnvironmentSettings, StreamTableEnvironment, TableEnvironment


def local(parallelism: int = 1) -> Configuration:
    configuration = Configuration()
    configuration.set_string("headrace.executor", "local")
    configuration.set_string("parallelism.default", str(parallelism))
    return configuration


@pytest.fixture
def t_env() -> TableEnvironment:
    builder = EnvironmentSettings.new_instance().with_configuration(local())
    return TableEnvironment.create(builder.in_streaming_mode().build())


@pytest.fixture
def batch_env() -> TableEnvironment:
    builder = EnvironmentSettings.new_instance().with_configuration(local())
    return TableEnvironment.create(builder.in_batch_mode().build())


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(local())


@pytest.fixture
def s_env(env: StreamExecutionEnvironment) -> StreamTableEnvironment:
    return StreamTableEnvironment.create(env)
