"""What the conformance tests share: environments on the local executor, in both modes.

The expectations are what PyFlink 2.3 gives for the same program (1.20 where a name is older), unless a test says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from headrace.common import Configuration, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import RuntimeExecutionMode, StreamExecutionEnvironment

STREAMING, BATCH = RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH


def local_environment(parallelism: int = 2, **settings: str) -> StreamExecutionEnvironment:
    configuration = Configuration().set_string("headrace.executor", "local")
    for key, value in settings.items():
        configuration.set_string(key.replace("__", "."), value)
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(parallelism)


@pytest.fixture
def make_env() -> Callable[..., StreamExecutionEnvironment]:
    """Makes environments: `make_env(parallelism, some__key="value")`."""
    return local_environment


@pytest.fixture
def env() -> StreamExecutionEnvironment:
    """A streaming environment of parallelism 2."""
    return local_environment()


@pytest.fixture(params=[STREAMING, BATCH], ids=["streaming", "batch"])
def both(request: pytest.FixtureRequest) -> StreamExecutionEnvironment:
    """An environment of parallelism 2 in each mode."""
    return local_environment().set_runtime_mode(request.param)


@pytest.fixture
def batch() -> StreamExecutionEnvironment:
    """A batch environment of parallelism 2."""
    return local_environment().set_runtime_mode(BATCH)


@pytest.fixture
def collected() -> Callable[[Any], list[Any]]:
    """Runs the program and gives the elements of a stream."""

    def collect(stream: Any) -> list[Any]:
        with stream.execute_and_collect() as results:
            return list(results)

    return collect


class SecondField(TimestampAssigner):
    """The second field of an element is its event time."""

    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


@pytest.fixture
def by_second_field() -> WatermarkStrategy:
    return WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(SecondField())
