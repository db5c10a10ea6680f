"""The driver of checkpoints on real files: what it does when storage, sinks or tasks fail. No waiting: `sleep` is recorded."""

import os
from types import SimpleNamespace

import pytest

from headrace.checkpoint.driver import FINISHED, Checkpoints
from headrace.checkpoint.errors import CheckpointError, CommitRefusedError, FencedError, StoreError
from headrace.checkpoint.file_store import FileStore
from headrace.checkpoint.model import Committable
from headrace.config.checkpoint_settings import CheckpointSettings, DurabilitySettings
from headrace.connectors.base.sink_committer import Handle, SinkCommitter, StagedOutputLostError
from headrace.connectors.base.split_enumerator import Split
from headrace.errors import UserCodeError
from headrace.graph.specs import StagedSink
from headrace.operators.source import SplitPosition
from headrace.worker.messages import TaskAck, VertexReport

TASKS = [("v", 0), ("v", 1)]


class Sink(SinkCommitter):
    def __init__(self):
        self.visible, self.aborted, self.failures = [], [], []

    def open_committer(self, job_id, sink_id):
        return self

    def commit(self, handle):
        if self.failures:
            raise self.failures.pop(0)
        self.visible.append(handle.id)

    def abort(self, handle):
        self.aborted.append(handle.id)
        return handle.id not in self.visible


class Progress:
    def __init__(self):
        self.tasks, self.files, self.handles, self.offset = TASKS, {}, [], 0

    @property
    def positions(self):
        return {"v": [SplitPosition(Split("s", None), self.offset)]}

    def watermark(self):
        return 0

    def take_handles(self):
        handles, self.handles = self.handles, []
        return handles

    def give_back(self, handles):
        self.handles = [*handles, *self.handles]


class Job:
    """One driver process of a job with two tasks and a sink. Each look at the clock takes a millisecond."""

    def __init__(self, root, sink, **settings):
        node = SimpleNamespace(spec=StagedSink(sink), operator_id="sink", name="my sink", uid="uid")
        vertex = SimpleNamespace(id="v", nodes=[node], head=node, parallelism=2)
        self.slept, self.clock = [], 0
        self.root = root / "job"
        self.checkpoints = Checkpoints(
            "job",
            str(self.root),
            DurabilitySettings(
                CheckpointSettings(**{"interval": 1, "tolerable_failures": 9, **settings}),
                directory=str(root),
                job_id="job",
                trust=True,
            ),
            SimpleNamespace(vertices={"v": vertex}, edges=()),
            SimpleNamespace(levels=()),
            lambda: 0,
            monotonic=self.now,
            sleep=self.slept.append,
        )
        self.progress = Progress()

    def now(self):
        self.clock += 1
        return self.clock

    def stage(self, name):
        self.progress.handles.append(Committable("sink", Handle(name, 0, 1, 1)))

    def epoch(self, name, acked=TASKS, declined=None):
        order = self.checkpoints.order(self.progress)
        assert order.now
        return self.finish_epoch(order, name, acked, declined)

    def finish_epoch(self, order, name, acked=TASKS, declined=None):
        self.stage(name)
        self.progress.offset += 1
        return self.checkpoints.complete(self.progress, [ack(order, *owner, declined) for owner in acked])

    def last(self):
        return self.checkpoints.statistics.summary()["history"][0]


def ack(order, vertex, subtask, declined=None):
    report = VertexReport(vertex, subtask, 0, 0, 0, False, None, False, 0.0)
    return TaskAck((0, subtask), order.number, 1, {}, None, False, (report,), declined=declined)


@pytest.fixture
def sink():
    return Sink()


@pytest.fixture
def start(tmp_path, sink):
    def make(**settings):
        job = Job(tmp_path, sink, **settings)
        job.checkpoints.recover()
        return job

    return make


def refuse_entries(monkeypatch, times=1):
    """Let the store be full when a manifest is created."""
    create, left = FileStore.create, [times]

    def full(self, name, record, inside=None):
        if name.startswith("slots/") and left[0]:
            left[0] -= 1
            raise StoreError("no space")
        return create(self, name, record, inside)

    monkeypatch.setattr(FileStore, "create", full)


def test_a_checkpoint_commits_and_is_announced(start, sink):
    job = start()
    assert job.epoch("a").epoch == 1
    assert sink.visible == ["a"]
    order = job.checkpoints.order(job.progress)
    assert (order.completed, order.aborted, order.number, order.restored) == ((1,), (), 2, 1)


def test_what_a_failed_checkpoint_staged_belongs_to_the_next(start, sink, monkeypatch):
    job = start()
    refuse_entries(monkeypatch)
    assert job.epoch("a") is None
    assert job.checkpoints.problem == "no space"
    assert sink.visible == []
    order = job.checkpoints.order(job.progress)
    assert (order.aborted, order.number) == ((1,), 1)
    assert job.finish_epoch(order, "b").epoch == 1
    assert sink.visible == ["a", "b"]


def test_more_failures_than_tolerated_fail_the_job(start, monkeypatch):
    job = start(tolerable_failures=1)
    refuse_entries(monkeypatch, times=2)
    assert job.epoch("a") is None
    with pytest.raises(CheckpointError, match="one more than is tolerated: no space"):
        job.epoch("b")


def test_a_task_that_does_not_acknowledge_fails_the_checkpoint(start, sink):
    job = start()
    assert job.epoch("a", acked=TASKS[:1]) is None
    assert job.last()["failure_message"] == "CHECKPOINT_DECLINED: subtask 1 of v did not acknowledge it"
    assert job.epoch("b") is not None
    assert sink.visible == ["a", "b"]


def test_a_task_that_declines_fails_the_checkpoint(start, sink):
    job = start()
    assert job.epoch("a", declined="disk full") is None
    assert job.last()["failure_message"] == "CHECKPOINT_ASYNC_EXCEPTION: disk full"
    assert sink.visible == []


def test_a_checkpoint_that_takes_too_long_expires(start, sink):
    job = start(timeout=500)
    order = job.checkpoints.order(job.progress)
    job.clock += 500
    assert job.finish_epoch(order, "a") is None
    assert job.last()["failure_message"].startswith("CHECKPOINT_EXPIRED")
    assert sink.visible == []


def test_a_commit_is_retried_for_a_while(start, sink):
    job = start()
    sink.failures = [ConnectionError("down")] * 3
    assert job.epoch("a") is not None
    assert job.slept == [0.05, 0.2, 0.8]
    assert sink.visible == ["a"]


def test_a_sink_that_stays_down_fails_the_job_and_is_asked_again_after_the_restart(start, sink):
    job = start()
    sink.failures = [ConnectionError("down")] * 4
    with pytest.raises(UserCodeError, match="down") as error:
        job.epoch("a")
    assert error.value.operator_name == "my sink"
    job.checkpoints.abandon(job.progress)
    assert sink.aborted == []  # the manifest lists it
    assert job.checkpoints.recover().epoch == 1
    assert sink.visible == ["a"]


def test_lost_output_is_not_retried(start, sink):
    job = start()
    sink.failures = [StagedOutputLostError("gone")]
    with pytest.raises(CommitRefusedError, match="gone"):
        job.epoch("a")
    assert job.slept == []


def test_the_end_of_the_input_is_recorded(start, sink):
    job = start()
    job.epoch("a")
    job.stage("b")
    job.checkpoints.finish(job.progress)
    assert sink.visible == ["a", "b"]
    assert start().checkpoints.recover().facts[FINISHED] is True


def test_the_end_fails_if_it_cannot_be_recorded(start, monkeypatch):
    job = start()
    refuse_entries(monkeypatch)
    with pytest.raises(CheckpointError, match="manifest could not be written"):
        job.checkpoints.finish(job.progress)


def test_output_without_a_manifest_is_dropped(start, sink):
    job = start()
    job.stage("a")
    job.checkpoints.abandon(job.progress)
    assert sink.aborted == ["a"]


def test_a_replaced_driver_does_not_take_the_job_back(start):
    old = start()
    start()
    with pytest.raises(FencedError):
        old.checkpoints.recover()


def test_neither_after_a_recovery_that_failed(start, monkeypatch):
    old = start()
    with monkeypatch.context() as patch:
        patch.setattr(FileStore, "create", lambda *arguments: (_ for _ in ()).throw(StoreError("no space")))
        with pytest.raises(StoreError):
            old.checkpoints.recover()
    start()
    with pytest.raises(FencedError):
        old.checkpoints.recover()


def test_remove_needs_the_job(start):
    old = start()
    old.epoch("a")
    new = start()
    with pytest.raises(FencedError):
        old.checkpoints.remove()
    assert os.listdir(new.root / "slots")
    new.checkpoints.remove()
    assert not new.root.exists()


def test_a_driver_that_never_had_the_job_removes_nothing(start, tmp_path, sink):
    start().epoch("a")
    stranger = Job(tmp_path, sink)
    stranger.checkpoints.remove()
    stranger.checkpoints.tidy()
    stranger.checkpoints.abandon(stranger.progress)
    assert os.listdir(stranger.root / "slots")


def test_without_an_interval_the_first_request_takes_the_job_over(tmp_path, sink):
    job = Job(tmp_path, sink, interval=None)
    assert not job.checkpoints.order(job.progress).durable
    assert not job.root.exists()
    order = job.checkpoints.order(job.progress, forced=True)
    assert (order.now, order.durable, order.generation) == (True, True, 1)
    assert job.finish_epoch(order, "a").epoch == 1


def test_without_storage_a_request_is_refused_and_the_job_continues(tmp_path, sink):
    (tmp_path / "job").write_text("in the way")
    job = Job(tmp_path, sink, interval=None)
    order = job.checkpoints.order(job.progress, forced=True)
    assert not order.now
    assert "could not be prepared" in job.checkpoints.problem
