"""Every kind of sink: each record arrives once, whatever fails while the driver lives."""

from __future__ import annotations

from collections import Counter

import pytest
from sink_kit import FailsOnce, Trouble, environment, numbers

from headrace.common.errors import HeadraceError
from headrace.foundation.faultpoints import arm, counting, disarm

LAST = 1000
ONCE = Counter(range(1, LAST + 1))


@pytest.fixture
def fault():
    yield arm
    disarm()


def run(env, outer, *steps):
    stream = numbers(env, LAST)
    for step in steps:
        stream = stream.map(step)
    outer.attach(stream)
    with counting() as reached:
        env.execute()
    return reached


def test_many_checkpoints(outer, tmp_path):
    reached = run(environment(tmp_path), outer)
    assert 5 < reached["manifest.post"] < 100, "several checkpoints were made, and not one for every few records"
    assert reached["commit.between"] > 5, "of several subtasks"
    assert outer.arrived() == ONCE
    assert not outer.leftovers()


def test_without_checkpoints_all_is_committed_at_the_end(outer, tmp_path):
    settings = {"execution.checkpointing.interval": None, "execution.checkpointing.dir": None}
    reached = run(environment(tmp_path, **settings), outer)
    assert reached["manifest.post"] == 1
    assert reached["commit.between"] > 5, "several epochs"
    assert outer.arrived() == ONCE
    assert not outer.leftovers()


def test_checkpoints_are_rarer_than_epochs(outer, tmp_path):
    reached = run(environment(tmp_path, **{"execution.checkpointing.interval": "200 ms"}), outer)
    assert reached["manifest.post"] < reached["precommit.post"] / 2
    assert outer.arrived() == ONCE


def test_the_job_fails_and_starts_again(outer, tmp_path):
    env = environment(tmp_path)
    run(env, outer, FailsOnce(tmp_path, 777))
    assert not (tmp_path / "armed").exists(), "it has failed"
    assert outer.arrived() == ONCE
    assert not outer.leftovers()


def test_the_job_fails_before_its_first_checkpoint(outer, tmp_path):
    env = environment(tmp_path, **{"execution.checkpointing.interval": "1 h"})
    run(env, outer, FailsOnce(tmp_path, 777))
    assert outer.arrived() == ONCE
    assert not outer.leftovers()


def test_nothing_is_seen_of_a_job_that_fails_for_good(outer, tmp_path):
    settings = {"execution.checkpointing.interval": None, "restart-strategy.type": "none"}
    env = environment(tmp_path, **settings)
    with pytest.raises(HeadraceError, match="777 is not to my liking"):
        run(env, outer, FailsOnce(tmp_path, 777))
    assert outer.arrived() == Counter()
    assert not outer.leftovers(), "what was staged is dropped"


@pytest.mark.parametrize("point", ["commit.ambiguous:3", "commit.between:3", "marker.pre:2", "manifest.post:3"])
def test_the_driver_loses_an_answer(outer, tmp_path, fault, point):
    fault(f"{point}:raise")
    run(environment(tmp_path), outer)
    assert outer.arrived() == ONCE


@pytest.mark.parametrize("kind", ["two-phase", "write-ahead", "writers"], indirect=True)
class TestTroubleInTheUsersCode:
    def test_refused_for_a_while(self, outer, tmp_path):
        trouble = Trouble(tmp_path)
        trouble.ask("refuse", 6)
        run(environment(tmp_path), outer)
        assert not trouble.left
        assert outer.arrived() == ONCE

    def test_commit_happens_and_raises(self, outer, tmp_path):
        trouble = Trouble(tmp_path)
        trouble.ask("ambiguous", 2)
        run(environment(tmp_path), outer)
        assert not trouble.left
        assert outer.arrived() == ONCE

    def test_refused_longer_than_the_job_may_restart(self, outer, tmp_path):
        trouble = Trouble(tmp_path)
        trouble.ask("refuse", 200)
        settings = {"headrace.job.id": "kept", "restart-strategy.type": "none"}
        with pytest.raises(HeadraceError) as raised:
            run(environment(tmp_path, **settings), outer)
        assert raised.value.operator_name is not None
        before = len(trouble.left)
        assert 0 < before < 200
        for name in trouble.left:
            (tmp_path / "trouble" / name).unlink()
        run(environment(tmp_path, **settings), outer)
        assert outer.arrived() == ONCE, "the next driver commits first"

    def test_no_savepoint_without_its_commits(self, outer, tmp_path):
        """The checkpoint that it would be a copy of exists: a job that starts from there commits first."""
        trouble, last = Trouble(tmp_path), 5_000
        trouble.ask("refuse", 200)
        settings = {"restart-strategy.type": "none", "execution.checkpointing.interval": "1 h"}
        env = environment(tmp_path, **settings, **{"headrace.job.id": "stopped"})
        outer.attach(numbers(env, last))
        with pytest.raises(HeadraceError):
            env.execute_async().stop_with_savepoint(False, str(tmp_path / "savepoints")).result()
        assert not list(tmp_path.glob("savepoints/*"))
        assert outer.arrived() == Counter()
        for name in trouble.left:
            (tmp_path / "trouble" / name).unlink()
        (path,) = (tmp_path / "checkpoints").iterdir()
        env = environment(tmp_path, **settings, **{"execution.state-recovery.path": str(path)})
        outer.attach(numbers(env, last))
        env.execute()
        assert outer.arrived() == Counter(range(1, last + 1))


def test_live_rescale(outer, tmp_path):
    env = environment(tmp_path)
    outer.attach(numbers(env, 20_000))
    client = env.execute_async()
    for parallelism in (3, 1, 2):
        client.rescale(parallelism)
    client.get_job_execution_result().result()
    assert outer.arrived() == Counter(range(1, 20_001))
    assert not outer.leftovers()
