"""Failures of a job that starts again: an unbroken row of the same one is one entry, others stay entries of their own."""

from __future__ import annotations

import pytest

from headrace.common import Configuration
from headrace.common.errors import HeadraceError
from headrace.datastream import StreamExecutionEnvironment


def exceptions_of(function, attempts, parallelism=1):
    configuration = Configuration()
    for key, value in {
        "headrace.executor": "local",
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": str(attempts),
        "restart-strategy.fixed-delay.delay": "1 ms",
    }.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(parallelism)
    env.from_collection([1, 2]).map(function).print()
    job = env.submit("fails")
    with pytest.raises(HeadraceError):
        job.wait(60)
    return job.view().exceptions


def test_the_same_failure_is_counted():
    def fail(value):
        raise ValueError(f"bad record {value}")

    [entry] = exceptions_of(fail, 30)
    assert entry.count == 31 and 0 < entry.first_ms <= entry.timestamp_ms
    assert entry.advice is not None and "side output" in entry.advice and "bad record 1" in entry.text


def test_a_record_that_goes_to_another_subtask_each_time_is_the_same():
    def fail_at_two(value):
        if value == 2:
            raise ValueError(f"bad record {value}")
        return value

    [entry] = exceptions_of(fail_at_two, 5, parallelism=2)
    assert entry.count == 6


def test_a_single_failure_has_no_advice():
    def fail(value):
        raise ValueError("bad record")

    [entry] = exceptions_of(fail, 0)
    assert (entry.count, entry.first_ms, entry.advice) == (1, -1, None)


def test_another_failure_between_them_begins_a_new_entry(tmp_path):
    tries = tmp_path / "tries"
    tries.write_text("")

    def fail(value):
        with tries.open("a") as file:
            file.write("x")
        number = len(tries.read_text())
        raise ValueError("first" if number in (1, 2, 4) else "second")

    entries = exceptions_of(fail, 3)
    said = [(entry.count, "ValueError: first" in entry.text) for entry in entries]
    assert said == [(2, True), (1, False), (1, True)]
