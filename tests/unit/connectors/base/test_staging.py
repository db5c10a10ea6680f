"""Staged files: where they are, what stays behind, and what a missing one means. The remote side is in memory."""

from __future__ import annotations

import uuid

import fsspec
import pyarrow.parquet
import pytest

from headrace.connectors.base import staging
from headrace.connectors.base.sink_committer import Handle, StagedOutputLostError
from headrace.connectors.base.sink_writer import EpochEnd, WriterContext
from headrace.connectors.dataframes.sink import FrameFiles, FrameSink
from headrace.state.storage import UploadError
from headrace.types.data_types import DataTypes

NAME = "sink-0-e0000000003-g0000000001-17.4.messages"


@pytest.fixture(params=["local", "memory"])
def place(request, tmp_path):
    if request.param == "local":
        (tmp_path / "state").mkdir()
        return str(tmp_path / "state")
    return f"memory://{uuid.uuid4().hex}/state"


@pytest.fixture
def working(tmp_path):
    (tmp_path / "working").mkdir()
    return tmp_path / "working"


def test_what_is_staged_can_be_read_until_it_is_removed(place, working, tmp_path):
    address = staging.stage(NAME, lambda file: file.write(b"abc"), place, str(working))
    assert address == f"{place}/{NAME}"
    assert list(working.iterdir()) == [], "only one copy is kept"
    with staging.open_staged(address, "Lines are lost") as file:
        assert file.read() == b"abc"
    with open(staging.fetch(address, str(tmp_path), "Lines are lost"), "rb") as file:
        assert file.read() == b"abc"
    staging.remove(address)
    staging.remove(address)
    assert not staging.exists(address)
    with pytest.raises(StagedOutputLostError, match="Lines are lost"):
        staging.open_staged(address, "Lines are lost")
    with pytest.raises(StagedOutputLostError, match="Lines are lost"):
        staging.fetch(address, str(tmp_path), "Lines are lost")


def test_marks(place, working):
    mark = staging.stage(NAME, lambda file: None, place, str(working)) + ".committed"
    assert not staging.exists(mark)
    staging.create_mark(mark)
    assert staging.exists(mark)


def test_an_upload_that_fails_raises_and_leaves_no_copy(working, monkeypatch):
    system = fsspec.filesystem("memory")
    tries = []

    def refuse(*arguments, **options):
        tries.append(arguments)
        raise RuntimeError("the HTTP client gives up")

    monkeypatch.setattr(type(system), "put_file", refuse)
    with pytest.raises(UploadError, match="the HTTP client gives up"):
        staging.stage(NAME, lambda file: file.write(b"abc"), "memory://x/state", str(working))
    assert len(tries) == 3 and list(working.iterdir()) == []


def test_a_store_that_does_not_answer_is_not_taken_for_one_without_the_file(monkeypatch):
    """A mark that cannot be looked up must not look as if it were absent: its output would be committed twice."""
    system = fsspec.filesystem("memory")

    def refuse(*arguments, **options):
        raise ConnectionError("no answer")

    monkeypatch.setattr(type(system), "info", refuse)
    with pytest.raises(ConnectionError):
        staging.exists("memory://x/state/mark")


def test_rows_for_spark_wait_beside_the_checkpoints(place, working, tmp_path):
    """The driver that commits them may be another one, on a machine that never saw the working folder."""
    frames = tmp_path / "frames"
    frames.mkdir()
    rows = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())])
    sink = FrameSink(rows, FrameFiles(str(frames)), str(tmp_path / "shared"))
    writer = sink.open_writer(WriterContext("s", "j", directory=str(working), staging=place), [])
    writer.write([1, 2, 3], None)
    (payload,) = writer.end_epoch(EpochEnd(NAME, 3, 1))
    assert payload["paths"] == [f"{place}/{NAME}.parquet"] and list(working.iterdir()) == []
    handle = Handle(NAME, 0, 3, 1, payload, recovered=True)
    committer = sink.open_committer("j", "s")
    for _ in range(2):
        committer.commit(handle)
    assert committer.abort(handle) is False
    (file,) = frames.iterdir()
    assert pyarrow.parquet.read_table(file).to_pydict() == {"n": [1, 2, 3]}
    assert not staging.exists(payload["paths"][0]) and list((tmp_path / "shared").iterdir()) == []
    committer.close()
    sink.open_committer("j", "s").commit(handle)  # known for as long as the checkpoint may have no marker
    staging.remove(f"{payload['paths'][0]}.committed")
    with pytest.raises(StagedOutputLostError, match="neither written nor staged"):
        sink.open_committer("j", "s").commit(handle)
