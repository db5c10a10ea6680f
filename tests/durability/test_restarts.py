"""A job that fails goes on from its last checkpoint: what is collected comes exactly once."""

from __future__ import annotations

import pytest
from durability_kit import (
    FailsOnce,
    Remembering,
    expected_counts,
    expected_remembered,
    numbers,
    remembered,
    running_counts,
)

from headrace.common import Types
from headrace.common.errors import HeadraceError, UserCodeError
from headrace.datastream.functions import TwoPhaseCommitSinkFunction


def test_results_come_once_although_the_job_failed(make_env, tmp_path):
    env = make_env(interval="1 ms")
    failing = numbers(env, 1000).map(FailsOnce(tmp_path / "mark", 777), Types.LONG())
    counted = failing.map(lambda v: (v % 7, 1)).key_by(lambda t: t[0]).reduce(lambda a, b: (a[0], a[1] + b[1]))
    assert sorted(counted.execute_and_collect()) == expected_counts(1000)
    assert not (tmp_path / "mark").exists(), "it has failed"


class CommitsLate(TwoPhaseCommitSinkFunction):
    """Cannot commit for as long as the driver tries: the checkpoint is durable, and the job fails after that."""

    def __init__(self, tries):
        self.tries = tries

    def begin_transaction(self):
        return "transaction"

    def invoke(self, transaction, value, context):
        pass

    def pre_commit(self, transaction):
        pass

    def commit(self, transaction):
        done = len(self.tries.read_text())
        if done < 4:
            self.tries.write_text("x" * (done + 1))
            raise OSError("the system is away")

    def abort(self, transaction):
        pass


@pytest.mark.parametrize("interval", ["1 ms", "1 h"], ids=["a checkpoint", "the last checkpoint"])
def test_results_come_once_although_the_job_failed_between_checkpoint_and_commit(make_env, tmp_path, interval):
    env = make_env(1, interval=interval)
    (tmp_path / "tries").write_text("")
    stream = numbers(env, 350)
    stream.add_sink(CommitsLate(tmp_path / "tries"))
    results = stream.execute_and_collect()
    assert sorted(results) == list(range(1, 351))
    assert [entry.count for entry in results._job.view().exceptions] == [1], "it has failed"


def test_without_checkpoints_a_restart_begins_anew(make_env, tmp_path):
    env = make_env(interval=None)
    failing = numbers(env, 400).map(FailsOnce(tmp_path / "mark", 395), Types.LONG())
    rows = list(failing.execute_and_collect())
    assert set(rows) == set(range(1, 401))
    assert len(rows) > 400, "without checkpoints what was handed out comes again"


def test_the_strategy_limits_restarts(make_env, tmp_path):
    env = make_env(parallelism=1, restart_strategy__fixed_delay__attempts=2)
    calls = tmp_path / "calls"

    def fail(value):
        with calls.open("a") as stream:
            stream.write("x")
        raise ValueError("never")

    numbers(env, 10).map(fail).print()
    with pytest.raises(UserCodeError, match="never"):
        env.execute()
    assert calls.read_text() == "xxx", "the first try and two restarts"


def test_attempt_numbers_count_restarts(make_env, tmp_path):
    env = make_env(parallelism=1)
    seen = tmp_path / "seen"

    class Attempt(FailsOnce):
        def open(self, runtime_context):
            with seen.open("a") as stream:
                stream.write(str(runtime_context.get_attempt_number()))

    numbers(env, 100).map(Attempt(tmp_path / "mark", 70)).print()
    env.execute()
    assert seen.read_text() == "01"


def test_keyed_state_of_all_kinds_survives(make_env, tmp_path):
    env = make_env()
    failing = numbers(env, 600, parallelism=1).map(FailsOnce(tmp_path / "mark", 590), Types.LONG()).set_parallelism(1)
    rows = failing.key_by(lambda v: v % 7).process(Remembering()).execute_and_collect()
    assert sorted(rows) == expected_remembered(600)


def test_checkpoints_are_gone_when_the_job_has_finished(make_env, tmp_path):
    env = make_env()
    assert sorted(running_counts(env, 300).execute_and_collect()) == expected_counts(300)
    assert list((tmp_path / "checkpoints").iterdir()) == []


def test_checkpoints_of_a_failed_job_stay_if_that_is_wanted(make_env, tmp_path):
    env = make_env(
        interval="1 ms",
        execution__checkpointing__externalized_checkpoint_retention="DELETE_ON_CANCELLATION",
        restart_strategy__type="none",
    )
    numbers(env, 1000).map(FailsOnce(tmp_path / "mark", 900)).print()
    with pytest.raises(HeadraceError, match="900 is not to my liking"):
        env.execute()
    (job,) = (tmp_path / "checkpoints").iterdir()
    assert list((job / "slots").iterdir())


def test_a_named_job_goes_on_where_it_was_and_ends_at_once_when_it_had_finished(make_env, tmp_path):
    def run():
        env = make_env(interval="1 ms", headrace__job__id="counting", restart_strategy__type="none")
        stream = numbers(env, 500, parallelism=1).map(FailsOnceIfArmed(tmp_path / "mark", 450), Types.LONG())
        return stream.set_parallelism(1).key_by(lambda v: v % 7).process(Remembering()).uid("r")

    class FailsOnceIfArmed(FailsOnce):
        def __init__(self, mark, value):
            self.mark, self.value = str(mark), value

    (tmp_path / "mark").write_text("armed")
    first = []
    with pytest.raises(UserCodeError):
        for row in run().execute_and_collect():
            first.append(row)
    second = list(run().execute_and_collect())
    assert sorted(first + second) == expected_remembered(500)
    assert first, "some checkpoints had been completed"
    assert second, "and not all of the work was done"
    assert list(run().execute_and_collect()) == [], "a job that has finished is not run again"


def test_statistics(make_env):
    env = make_env(interval="1 ms")
    remembered(env, 500).print()
    client = env.execute_async()
    client.get_job_execution_result().result()
    statistics = client.get_checkpoint_statistics()
    assert statistics["counts"]["completed"] >= 2
    assert statistics["counts"]["failed"] == 0
    newest = statistics["history"][0]
    assert newest["status"] == "COMPLETED" and newest["duration"] >= 0
    assert any(entry.get("tasks") for entry in statistics["history"])
