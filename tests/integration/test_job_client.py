"""Jobs in one program: watched, cancelled, one after the other, at the same time, on a Spark that the user gives."""

from __future__ import annotations

import sys
import time
from typing import Any

import cloudpickle
import pytest

from headrace.common import JobStatus, Types, WatermarkStrategy
from headrace.common.errors import ConfigurationError, JobCancelledError, UserCodeError
from headrace.connectors.generated.datagen import DataGenerator
from headrace.datastream import StreamExecutionEnvironment
from headrace.worker.slot.folder import job_folder

cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.spark

FIELDS = {
    "id",
    "name",
    "timestamp",
    "epochId",
    "numInputRows",
    "totalInputRows",
    "inputRowsPerSecond",
    "processedRowsPerSecond",
    "durationMs",
    "watermark",
    "watermarkLagMs",
    "nextEpochLimit",
    "vertices",
}


def endless(env: StreamExecutionEnvironment, rate: float = 1000) -> Any:
    source = DataGenerator(lambda index: index, records_per_second=rate)
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())


def wait_for(condition: Any, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def test_a_job_is_watched_to_its_end(make_env):
    env = make_env(2)
    env.from_sequence(1, 1000).key_by(lambda n: n % 3).map(lambda n: n).filter(lambda n: False).print()
    client = env.execute_async("watched")
    assert client.get_job_status().result() in (JobStatus.RUNNING, JobStatus.FINISHED)
    result = client.get_job_execution_result().result()
    assert client.get_job_status().result() is JobStatus.FINISHED
    assert result.get_job_id() == client.get_job_id()
    last = client.last_epoch
    assert set(last) == FIELDS
    assert last["name"] == "watched"
    assert last["totalInputRows"] == 1000
    assert last["durationMs"]["epoch"] > 0
    assert {v["name"].split(" ")[0] for v in last["vertices"]} == {"Source:", "Map"}


def test_a_job_is_cancelled(make_env, slots):
    env = make_env(2)
    endless(env).filter(lambda n: False).print()
    client = env.execute_async("to be cancelled")
    wait_for(lambda: client.last_epoch.get("totalInputRows", 0) > 0)
    assert client.get_job_status().result() is JobStatus.RUNNING
    assert client.cancel().result() is None
    assert client.get_job_status().result() is JobStatus.CANCELED
    assert not slots(job_folder(str(client.get_job_id())[:8]))
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()
    client.cancel().result()
    assert client.get_job_status().result() is JobStatus.CANCELED


def test_a_job_fails(make_env):
    env = make_env(2)
    env.from_sequence(1, 10).map(lambda n: 1 // (n - 4)).print()
    client = env.execute_async("failing")
    with pytest.raises(UserCodeError, match="ZeroDivisionError"):
        client.get_job_execution_result().result()
    assert client.get_job_status().result() is JobStatus.FAILED


def test_results_are_collected_whole_in_part_and_up_to_a_failure(make_env, slots):
    env = make_env(2)
    squares = env.from_sequence(1, 100).map(lambda n: n * n).execute_and_collect()
    assert sorted(squares) == [n * n for n in range(1, 101)]

    with endless(env).execute_and_collect() as numbers:
        first = [next(numbers) for _ in range(5)]
        job = numbers._job
    assert len(first) == 5
    assert job.status() is JobStatus.CANCELED
    assert not slots(job_folder(str(job.job_id)[:8]))

    assert len(endless(env).execute_and_collect(limit=7)) == 7

    with pytest.raises(UserCodeError):
        list(env.from_sequence(1, 10).map(lambda n: 1 // (n - 4)).execute_and_collect())


def test_two_jobs_at_the_same_time(make_env):
    first, second = make_env(2), make_env(2)
    endless(first).key_by(lambda n: n % 5).map(lambda n: n).filter(lambda n: False).print()
    watched = first.execute_async("endless")
    wait_for(lambda: watched.last_epoch.get("epochId", 0) >= 1)
    before = watched.last_epoch["epochId"]
    totals = second.from_sequence(1, 100).map(lambda n: (n % 4, n)).key_by(lambda v: v[0])
    sums = list(totals.reduce(lambda a, b: (a[0], a[1] + b[1])).execute_and_collect())
    assert sorted(dict(sums).values()) == sorted(sum(n for n in range(1, 101) if n % 4 == k) for k in range(4))
    wait_for(lambda: watched.last_epoch["epochId"] > before + 1)
    watched.cancel().result()


def test_a_given_context_or_session_is_used_and_not_stopped(spark):
    from pyspark.sql import SparkSession

    session = SparkSession(spark)
    for given in (spark, session):
        env = StreamExecutionEnvironment.get_execution_environment(spark=given)
        assert env.get_parallelism() == 2
        assert sorted(env.from_sequence(1, 4).execute_and_collect()) == [1, 2, 3, 4]
    assert spark.parallelize([1, 2, 3]).sum() == 6


@pytest.mark.parametrize("given", ["stopped", "nonsense"])
def test_what_is_no_running_context_is_refused(spark, given):
    class Stopped(type(spark)):
        def __init__(self) -> None:
            self._jsc = None

    env = StreamExecutionEnvironment.get_execution_environment(spark=Stopped() if given == "stopped" else object())
    env.set_parallelism(1)
    env.from_sequence(1, 4).print()
    with pytest.raises(ConfigurationError):
        env.execute()
