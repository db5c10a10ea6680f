"""A job starts from the checkpoint of another one whose driver was killed before its commits were done: none is lost.

The new job has another id, so it does not take the old one's checkpoints over. It is itself killed while it finishes
these commits, and after them, before its first own checkpoint.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from sink_kit import SERVERS, environment, numbers

from headrace.common.errors import HeadraceError

JOB = Path(__file__).with_name("sink_job.py")
LAST = 600
EVERY = Counter(range(1, LAST + 1))
UNFINISHED = "commit.between:3"
"""The second checkpoint is decided, and one of its two handles is committed."""
BEFORE_THE_FIRST_OWN_CHECKPOINT = "manifest.pre:1"


class Jobs:
    """The processes of one test."""

    def __init__(self, kind, directory, url):
        self._command = [sys.executable, str(JOB), kind, str(directory), str(LAST), url or ""]
        self._checkpoints = directory / "checkpoints"

    def run(self, fault=None, **settings):
        environment = {k: v for k, v in os.environ.items() if k != "HEADRACE_FAULT"}
        if fault is not None:
            environment["HEADRACE_FAULT"] = f"{fault}:kill"
        command = [*self._command, json.dumps(settings)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

    def kill(self, fault, **settings):
        killed = self.run(fault, **settings)
        assert killed.returncode == -signal.SIGKILL, f"{fault}: {killed.stderr[-3000:]}"

    def finish(self, **settings):
        ended = self.run(**settings)
        assert ended.stdout == "finished\n", ended.stderr[-3000:]

    def leave_unfinished(self):
        """Let a job die in the middle of its commits; return the folder of its checkpoints."""
        self.kill(UNFINISHED)
        (folder,) = self._checkpoints.iterdir()
        return str(folder)


@pytest.fixture
def jobs(kind, tmp_path, url, outer):
    return Jobs(kind, tmp_path, url)


def from_path(path, job_id=None, **settings):
    return {"execution.state-recovery.path": path, "headrace.job.id": job_id, **settings}


@pytest.mark.parametrize("kind", ["two-phase", "write-ahead", "writers", "postgres"], indirect=True)
def test_each_record_arrives_once(jobs, outer):
    path = jobs.leave_unfinished()
    assert outer.arrived() != EVERY
    jobs.kill("commit.between:1", **from_path(path, "another"))
    jobs.kill(BEFORE_THE_FIRST_OWN_CHECKPOINT, **from_path(path, "another"))
    jobs.finish(**from_path(path, "another"))
    assert outer.arrived() == EVERY


POINTS = ("commit.pre", "commit.between", "commit.ambiguous", "commit.post", "marker.pre", "marker.torn", "marker.post")


@pytest.mark.long
@pytest.mark.parametrize("again", ["another", None], ids=["same id", "new id"])
@pytest.mark.parametrize("kind", ["two-phase", "write-ahead", "writers", "sqlite", *SERVERS], indirect=True)
@pytest.mark.parametrize("point", POINTS)
def test_killed_at_every_point(jobs, outer, point, again):
    path = jobs.leave_unfinished()
    for fault in (f"{point}:1", BEFORE_THE_FIRST_OWN_CHECKPOINT):
        jobs.kill(fault, **from_path(path, again))
    jobs.finish(**from_path(path, again))
    assert outer.arrived() == EVERY


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_the_first_job_comes_back_under_its_own_id(jobs, outer):
    path = jobs.leave_unfinished()
    before = outer.arrived()
    jobs.kill("commit.post:1", **from_path(path))
    committed = outer.arrived()
    assert before < committed < EVERY
    jobs.finish()
    assert outer.arrived() == EVERY


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_the_same_id_with_another_checkpoint_directory(jobs, outer, tmp_path):
    """What is staged under its id may be the other directory's: it is not discarded as a leftover."""
    path = jobs.leave_unfinished()
    moved = {"execution.checkpointing.dir": str(tmp_path / "elsewhere")}
    jobs.kill("commit.pre:1", **from_path(path, "numbers-job", **moved))
    outer.ask("CREATE TRIGGER away BEFORE INSERT ON numbers BEGIN SELECT RAISE(ABORT, 'away'); END")
    failed = jobs.run(**from_path(path, "numbers-job", **moved, **{"restart-strategy.type": "none"}))
    assert failed.returncode == 1 and "away" in failed.stderr
    outer.ask("DROP TRIGGER away")
    jobs.finish(**from_path(path, "numbers-job", **moved))
    assert outer.arrived() == EVERY
    assert outer.leftovers() == []


@pytest.mark.parametrize("kind", ["write-ahead"], indirect=True)
@pytest.mark.parametrize(
    "settings",
    [
        {"parallelism": 3},
        {"execution.checkpointing.interval": None},
        {"execution.state-recovery.claim-mode": "CLAIM"},
    ],
    ids=["another parallelism", "without checkpoints", "claimed"],
)
def test_ways_to_go_on(jobs, outer, settings):
    path = jobs.leave_unfinished()
    jobs.finish(**from_path(path, **settings))
    assert outer.arrived() == EVERY
    assert Path(path).exists() == ("execution.state-recovery.claim-mode" not in settings)


@pytest.mark.parametrize("kind", ["sqlite"], indirect=True)
def test_staged_output_that_is_gone(jobs, outer):
    path = jobs.leave_unfinished()
    before = outer.arrived()
    outer.ask("DELETE FROM headrace_staged")
    refused = jobs.run(**from_path(path, **{"restart-strategy.type": "none"}))
    assert refused.returncode == 1 and "[COMMIT_REFUSED]" in refused.stderr, refused.stderr[-3000:]
    assert outer.arrived() == before, "it has not started"


@pytest.mark.parametrize("kind", ["two-phase"], indirect=True)
def test_a_program_without_the_sink(jobs, outer, tmp_path):
    """With neither checkpoints nor sinks that commit, the job would take nothing over on its own account."""
    path = jobs.leave_unfinished()
    before = outer.arrived()

    def run(**settings):
        env = environment(tmp_path, **from_path(path, **{"execution.checkpointing.interval": None}), **settings)
        with numbers(env, LAST).execute_and_collect() as results:
            return len(list(results))

    with pytest.raises(HeadraceError, match=r"no sink for output of .*\(uid sink\) that was staged") as raised:
        run()
    assert raised.value.code == "STATE_INCOMPATIBLE"
    assert 0 < run(**{"execution.state-recovery.ignore-unclaimed-state": "true"}) < LAST
    assert outer.arrived() == before
    jobs.finish()
    assert outer.arrived() == EVERY, "dropped for that job only"
