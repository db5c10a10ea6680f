"""A function that needs more memory than there is: the failure names its operator, and the restart strategy decides."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
from typing import Any

import cloudpickle
import pytest

from headrace.common import RestartStrategies
from headrace.common.errors import UserCodeError
from headrace.datastream import MapFunction
from headrace.driver.executor import EpochLostError

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.spark
ROOM = 96 << 20


class Hungry(MapFunction):
    """Holds more and more, for as many lives of the job as it is told."""

    def __init__(self, way: str, lives: int) -> None:
        self.way, self.lives = way, lives

    def open(self, runtime_context: Any) -> None:
        self.hungry = runtime_context.get_attempt_number() < self.lives
        self.limits = resource.getrlimit(resource.RLIMIT_AS)
        self.hoard: list[Any] = []

    def close(self) -> None:
        resource.setrlimit(resource.RLIMIT_AS, self.limits)

    def map(self, value: int) -> int:
        if value == 7 and self.hungry:
            if self.way == "kernel":  # has no other way to say no
                os.kill(os.getpid(), signal.SIGKILL)
            resource.setrlimit(resource.RLIMIT_AS, (address_space() + ROOM, self.limits[1]))
            while True:
                self.hoard.append((value, value * 1000))
        return value


def address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def build(env: Any, way: str, lives: int) -> Any:
    return env.from_sequence(0, 9).set_parallelism(1).rebalance().map(Hungry(way, lives)).name("hungry").uid("h")


def test_a_memory_error_is_a_failure_of_its_operator(make_env):
    env = make_env()
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 10))
    with pytest.raises(UserCodeError, match="operator: hungry .uid h.") as failure:
        with contextlib.closing(build(env, "limit", lives=2).execute_and_collect()) as rows:
            list(rows)
    assert "MemoryError" in failure.value.user_traceback
    assert "self.hoard.append" in failure.value.user_traceback


def test_a_job_whose_process_is_killed_for_its_memory_starts_again_as_it_is_told(make_env):
    env = make_env()
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 10))
    build(env, "kernel", lives=1).print()
    job = env.execute_async("hungry")
    job.get_job_execution_result().result()
    (exception,) = job._handle.view().exceptions
    assert exception.name == EpochLostError.__name__
    assert "operator: hungry" in exception.text
