"""Whose handles are committed, when, and what is noted about it, when a job starts from another job's checkpoint."""

from __future__ import annotations

from types import SimpleNamespace
from typing import ClassVar

import pytest

from headrace.checkpoint import names, origin_commits
from headrace.checkpoint.errors import CommitRefusedError, StoreError
from headrace.checkpoint.file_store import FileStore
from headrace.checkpoint.manifests import IncompatibleStateError
from headrace.checkpoint.model import Committable, Manifest, Marker
from headrace.checkpoint.origin_commits import finish_commits
from headrace.checkpoint.remote_store import RemoteStore
from headrace.checkpoint.savepoints import copy_files, find_origin, has_open_commits
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_committer import Handle, SinkCommitter, StagedOutputLostError
from headrace.errors import StateError
from headrace.graph.specs import StagedSink
from headrace.state_processor import SavepointReader, SavepointWriter

JOB = "a" * 32


class Remembered(Sink):
    """Remember who committed what; fail as asked for."""

    def __init__(self, *failures):
        self.committed, self.closed, self.failures = [], 0, list(failures)

    def open_writer(self, context, states):
        raise AssertionError("nothing is written here")

    def open_committer(self, job_id, sink_id):
        sink = self

        class _Committer(SinkCommitter):
            def commit(self, handle):
                if sink.failures:
                    sink.failures.pop(0)()
                sink.committed.append((job_id, sink_id, handle.id, handle.recovered))

            def abort(self, handle):
                raise AssertionError("handles of another job are never aborted")

            def close(self):
                sink.closed += 1

        return _Committer()


def graph(**sinks):
    nodes = [SimpleNamespace(spec=StagedSink(s), operator_id=o, name=o, uid=o) for o, s in sinks.items()]
    return SimpleNamespace(vertices={"v": SimpleNamespace(id="v", nodes=nodes, head=SimpleNamespace(spec=None))})


def checkpoint(epoch, *sinks):
    handles = tuple(Committable(sink, Handle(f"{sink}-{epoch}", 0, epoch, 3)) for sink in sinks)
    layout = {"v": {"operators": {sink: {"uid": f"the {sink}", "name": "Out"} for sink in sinks}}}
    return Manifest(JOB, 3, epoch, "x", None, committables=handles, facts={"layout": layout})


@pytest.fixture(params=["local", "remote"])
def root(request, tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "state.key"))
    return str(tmp_path / JOB) if request.param == "local" else f"memory://{tmp_path.name}/{JOB}"


@pytest.fixture
def store(root):
    return RemoteStore(root, JOB) if root.startswith("memory:") else FileStore(root, JOB)


def put(store, record, name):
    assert store.create(name, record)


def finish(origin, graph):
    finish_commits(origin, graph, sleep=lambda seconds: None)


def written(store, manifest, marked=False):
    put(store, manifest, names.entry_name(manifest.epoch))
    if marked:
        put(store, Marker(JOB, 3, manifest.epoch, "x"), names.marker_name(manifest.epoch))


def refuse(error):
    def fail():
        raise error

    return fail


def test_all_handles_are_committed_under_the_id_of_their_job_and_noted(root, store):
    written(store, checkpoint(5, "one", "two"))
    one, two = Remembered(), Remembered()
    finish(find_origin(root), graph(one=one, two=two))
    assert one.committed == [(JOB, "one", "one-5", True)] and two.committed == [(JOB, "two", "two-5", True)]
    assert (one.closed, two.closed) == (1, 1)
    assert store.read(names.marker_name(5)).epoch == 5
    finish(find_origin(root), graph(one=one, two=two))
    assert len(one.committed) == 1, "the marker says that there is nothing to do"


@pytest.mark.parametrize("named", ["", "/chk-5"])
def test_a_checkpoint_with_a_marker_is_left_alone(root, store, named):
    written(store, checkpoint(5, "one"), marked=True)
    sink = Remembered()
    finish(find_origin(root + named), graph(one=sink))
    assert sink.committed == [] and sink.closed == 0, "not even opened"


def test_only_handles_of_the_checkpoint_that_is_named(root, store):
    """The later one is work that the new job does again."""
    written(store, checkpoint(5, "one"), marked=True)
    written(store, checkpoint(6, "one"))
    sink = Remembered()
    finish(find_origin(f"{root}/chk-5"), graph(one=sink))
    assert sink.committed == []
    finish(find_origin(root), graph(one=sink))
    assert [handle for _, _, handle, _ in sink.committed] == ["one-6"]


def test_a_damaged_marker_says_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "state.key"))
    store = FileStore(tmp_path / JOB, JOB)
    written(store, checkpoint(5, "one"))
    (tmp_path / JOB / names.marker_name(5)).write_bytes(b"torn")
    sink = Remembered()
    finish(find_origin(str(tmp_path / JOB)), graph(one=sink))
    assert len(sink.committed) == 1
    assert isinstance(store.read(names.marker_name(5)), Marker), "it is written again"


def test_a_savepoint_has_no_open_commits(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "state.key"))
    folder = copy_files(checkpoint(5, "one"), str(tmp_path), str(tmp_path / "savepoint"))
    assert not has_open_commits(find_origin(folder))


def test_output_without_a_sink_is_refused_before_anything_is_committed(root, store):
    written(store, checkpoint(5, "one", "two"))
    sink = Remembered()
    with pytest.raises(IncompatibleStateError, match=r"no sink for output of 'Out' \(uid the two\)"):
        finish(find_origin(root), graph(one=sink))
    assert sink.committed == [] and sink.closed == 1
    with pytest.raises(IncompatibleStateError):
        finish(find_origin(root), graph())


def test_output_without_a_sink_is_dropped_if_that_is_allowed(root, store, caplog):
    written(store, checkpoint(5, "one", "two"))
    sink = Remembered()
    finish(find_origin(root, ignore_unclaimed=True), graph(one=sink))
    assert len(sink.committed) == 1
    assert "staged output of 'Out' (uid the two) is dropped" in caplog.text
    assert has_open_commits(find_origin(root)), "the job that staged it can still commit it"


def test_a_commit_that_fails_for_a_while_is_tried_again(root, store):
    written(store, checkpoint(5, "one"))
    sink = Remembered(refuse(ConnectionError("away")), refuse(ConnectionError("away")))
    finish(find_origin(root), graph(one=sink))
    assert len(sink.committed) == 1 and not has_open_commits(find_origin(root))


@pytest.mark.parametrize("times", [1, 4])
def test_a_commit_that_cannot_be_done_is_an_error(root, store, times):
    """Staged output that is gone is refused at once; a system that stays away, after some tries."""
    written(store, checkpoint(5, "one"))
    error = StagedOutputLostError("It is gone") if times == 1 else ConnectionError("away")
    sink = Remembered(*[refuse(error)] * times)
    with pytest.raises(CommitRefusedError if times == 1 else Exception, match="gone|away"):
        finish(find_origin(root), graph(one=sink))
    assert sink.failures == [] and sink.committed == [] and sink.closed == 1
    assert has_open_commits(find_origin(root))


def test_the_job_itself_was_faster(root, store):
    """It lives, has committed and collected what was staged; the second to come finds nothing."""
    written(store, checkpoint(5, "one"))

    def other_job_finishes():
        put(store, Marker(JOB, 3, 5, "x"), names.marker_name(5))
        raise StagedOutputLostError("It is gone")

    finish(find_origin(root), graph(one=Remembered(other_job_finishes)))


def test_a_checkpoint_that_was_removed_since_it_was_found(root, store):
    written(store, checkpoint(5, "one"))
    origin, sink = find_origin(root), Remembered()
    store.delete(names.entry_name(5))
    with pytest.raises(StateError, match="has been removed"):
        finish(origin, graph(one=sink))
    assert sink.committed == []


def test_a_checkpoint_that_is_removed_meanwhile_leaves_no_marker(root, store):
    written(store, checkpoint(5, "one"))
    finish(find_origin(root), graph(one=Remembered(lambda: store.delete(names.entry_name(5)))))
    assert store.list(names.MARKERS) == []


class Unwritable(FileStore):
    refused: ClassVar[list[str]] = []

    def create(self, name, record, inside=None):
        self.refused.append(name)
        raise StoreError("Read-only file system")


def test_a_folder_that_cannot_be_written_costs_only_the_note(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "state.key"))
    written(FileStore(tmp_path / JOB, JOB), checkpoint(5, "one"))
    monkeypatch.setattr(origin_commits, "FileStore", Unwritable)
    sink = Remembered()
    finish(find_origin(str(tmp_path / JOB)), graph(one=sink))
    assert Unwritable.refused == [names.marker_name(5)]
    assert len(sink.committed) == 1 and "repeated" in caplog.text


def test_a_savepoint_is_not_made_of_a_checkpoint_with_open_commits(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "state.key"))
    store = FileStore(tmp_path / JOB, JOB)
    manifest = checkpoint(5, "one")
    manifest.facts["layout"]["v"] |= {"parallelism": 1}
    manifest.facts["layout"]["v"]["operators"]["one"]["max_parallelism"] = 128
    written(store, manifest)
    with pytest.raises(StateError, match="staged but not committed"):
        SavepointWriter.from_existing(SavepointReader.read(str(tmp_path / JOB)))
    put(store, Marker(JOB, 3, 5, "x"), names.marker_name(5))
    SavepointWriter.from_existing(SavepointReader.read(str(tmp_path / JOB)))
