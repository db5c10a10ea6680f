"""The view of a job on the local executor: what is in it while the job runs, when it fails and when it has ended."""

import threading

import pytest

from headrace.common import Configuration, RestartStrategies, Types, WatermarkStrategy
from headrace.common.errors import UserCodeError
from headrace.connectors.generated.datagen import DataGenerator
from headrace.datastream import MapFunction, StreamExecutionEnvironment


def environment(**settings):
    configuration = Configuration().set_string("headrace.executor", "local")
    for key, value in settings.items():
        configuration.set_string(key.replace("_", "."), value)
    return StreamExecutionEnvironment.get_execution_environment(configuration)


def test_a_finished_job_shows_its_vertices_and_counts():
    env = environment(my_password="swordfish", pipeline_name="counted")
    env.set_parallelism(2)
    numbers = env.from_collection(list(range(10)), Types.LONG()).map(lambda v: v + 1, Types.LONG())
    numbers.key_by(lambda v: v % 3).reduce(lambda a, b: a + b).print()
    job = env.submit("counted")
    job.wait(30)
    view = job.view()
    assert (view.name, view.status, view.mode, view.parallelism) == ("counted", "FINISHED", "STREAMING", 2)
    assert view.start_ms <= view.state_timestamps["RUNNING"] <= view.end_ms == view.state_timestamps["FINISHED"]
    assert view.state_timestamps["FAILED"] == 0
    assert view.configuration["my.password"] == "******"
    assert [v.vertex_id for v in view.vertices] == [n["id"] for n in view.plan["nodes"]]
    assert view.vertices[-1].inputs[0][1] == "HASH"
    assert view.vertices[-1].metrics["numRecordsIn"] == 10
    assert all(len(v.subtasks) == v.parallelism for v in view.vertices)
    assert {s.status for v in view.vertices for s in v.subtasks} == {"FINISHED"}
    assert view.exceptions == ()


class Fails(MapFunction):
    def map(self, value):
        return 1 // (value - 3)


def test_failures_are_kept_with_the_users_traceback():
    env = environment()
    env.set_parallelism(1)
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(1, 10))
    env.from_collection([1, 2, 3], Types.LONG()).map(Fails(), Types.LONG()).name("divides").print()
    job = env.submit("fails")
    with pytest.raises(UserCodeError):
        job.wait(30)
    view = job.view()
    assert view.status == "FAILED"
    [last] = view.exceptions
    assert last.count == 2, "the same record, twice in a row"
    assert last.name == "UserCodeError"
    assert "ZeroDivisionError" in last.text
    assert last.task_name.endswith("divides -> Sink: Print to Std. Out (1/1)")
    assert view.state_timestamps["RESTARTING"] > 0


def test_it_can_be_looked_at_while_the_job_runs():
    env = environment()
    env.set_parallelism(1)
    source = DataGenerator(lambda index: index)
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()).map(
        lambda v: v, Types.LONG()
    ).filter(lambda v: False).print()
    job = env.submit("runs")
    try:
        waiter = threading.Event()
        for _ in range(1000):
            view = job.view()
            if view.vertices[0].metrics["numRecordsIn"]:
                break
            waiter.wait(0.01)
        assert view.status == "RUNNING"
        assert view.end_ms == -1
        subtask = view.vertices[0].subtasks[0]
        spent = [subtask.metrics[f"{kind}TimeMsPerSecond"] for kind in ("busy", "idle", "backPressured")]
        assert sum(spent) == pytest.approx(1000, abs=1)
    finally:
        job.cancel()
    assert job.view().status == "CANCELED"
