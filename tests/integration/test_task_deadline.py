"""A function that hangs: its task is ended after `headrace.task.timeout`, the failure says where it was, the job restarts."""

from __future__ import annotations

import re
import sys
import time
from typing import Any

import cloudpickle
import pytest

from headrace.common import RestartStrategies
from headrace.common.errors import ConfigurationError, TaskTimeoutError
from headrace.datastream import MapFunction
from headrace.foundation.own_code import PACKAGE

cloudpickle.register_pickle_by_value(sys.modules[__name__])
WAYS = ("sleep", "loop", "match")


class Hanging(MapFunction):
    """Hangs at one record, in each life of the job in another way, and in the last one not at all."""

    def __init__(self, *ways: str) -> None:
        self.ways = dict(enumerate(ways))

    def open(self, runtime_context: Any) -> None:
        self.way = self.ways.get(runtime_context.get_attempt_number())

    def map(self, value: int) -> int:
        if value == 7 and self.way is not None:
            self.hang(self.way)
        return value

    def hang(self, way: str) -> None:
        if way == "sleep":
            time.sleep(600)
        elif way == "loop":
            while True:
                try:
                    self.way = way
                except Exception:
                    pass
        else:
            re.match("(a+)+$", "a" * 40 + "b")  # never lets go of the interpreter


def build(env: Any, *ways: str) -> Any:
    numbers = env.from_sequence(0, 9).set_parallelism(1).rebalance()
    return numbers.map(Hanging(*ways)).name("hanging").uid("h").filter(lambda v: v % 2 == 1)


@pytest.mark.spark
def test_each_way_to_hang_is_ended_and_counted_by_the_restart_strategy(make_env, slots):
    env = make_env(headrace__task__timeout="3 s")
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(len(WAYS), 10))
    build(env, *WAYS).print()
    job = env.execute_async("hangs")
    job.get_job_execution_result().result()
    exceptions = job._handle.view().exceptions
    assert [e.name for e in exceptions] == ["TaskTimeoutError"] * len(WAYS)
    for way, exception in zip(WAYS, exceptions, strict=True):
        assert "A task took longer than headrace.task.timeout, 3 s [TASK_TIMEOUT]" in exception.text
        assert "operator: hanging" in exception.text, way
        assert "hang" in exception.text.partition("[TASK_TIMEOUT]")[0], way
        assert "subtask:  1" in exception.text or "subtask:  0" in exception.text
    assert "time.sleep(600)" in exceptions[0].text
    assert "(uid h)" in exceptions[1].text
    assert not slots(job._handle._parts.executor._folder), "no process is left"


def test_in_this_process_the_thread_that_hangs_is_left(make_local_env):
    env = make_local_env({"headrace.task.timeout": "1 s"})
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 10))
    with (
        pytest.raises(TaskTimeoutError, match="operator: hanging") as failure,
        build(env, *WAYS).execute_and_collect() as rows,
    ):
        list(rows)
    assert ", in hang" in failure.value.user_traceback.splitlines()[-2]
    assert PACKAGE not in failure.value.user_traceback
    assert failure.value.uid == "h"
    assert failure.value.subtask is not None


def test_a_job_in_time_is_not_disturbed(make_local_env):
    env = make_local_env({"headrace.task.timeout": "30 s"})
    with build(env).execute_and_collect() as rows:
        assert sorted(rows) == [1, 3, 5, 7, 9]


def test_no_time_at_all_is_refused(make_local_env):
    env = make_local_env({"headrace.task.timeout": "0 s"})
    env.from_sequence(0, 9).print()
    with pytest.raises(ConfigurationError, match="must be longer than 0"):
        env.execute("never")
