"""Enumerators of DataFrames: what Spark has written is found once, folders and queries end with the job."""

from __future__ import annotations

import json
import os
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headrace.connectors.base.split_enumerator import SplitProgress
from headrace.connectors.base.split_reader import ReaderContext
from headrace.connectors.dataframes.source import FrameRows, FrameStream
from headrace.errors import JobExecutionError
from headrace.spark import dataframes, frame_query
from headrace.table import DataTypes

ROWS = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())])


@pytest.fixture
def written(monkeypatch):
    """Folders that Spark was asked to write a frame into."""
    folders = []

    def write(frame, folder):
        folders.append(folder)
        os.makedirs(folder)
        paths = [os.path.join(folder, f"{number}.parquet") for number in range(2)]
        for number, path in enumerate(paths):
            pq.write_table(pa.table({"n": [number, number + 10]}), path)
        return paths

    monkeypatch.setattr(dataframes, "write_files", write)
    return folders


@pytest.mark.parametrize("named", [True, False])
def test_a_batch_is_written_once_and_goes_with_the_job(tmp_path, written, named):
    source = FrameRows(ROWS, object(), str(tmp_path / "named") if named else None, str(tmp_path))
    enumerator = source.enumerator()
    assert enumerator.start(2) == [] and not written, "a restored job does not need the rows again"
    splits = enumerator.discover(SplitProgress(parallelism=2))
    assert enumerator.discover(SplitProgress(parallelism=2)) == splits, "after a restart without a checkpoint"
    assert enumerator.discover(SplitProgress(frozenset(split.id for split in splits))) == []
    assert len(written) == 1
    copy = pickle.loads(pickle.dumps(source))
    readers = [copy.open_reader(split, None, ReaderContext()) for split in splits]
    assert [row[0] for reader in readers for row in reader.read(10, 0).values] == [0, 10, 1, 11]
    enumerator.close(kept=False)
    assert not os.path.exists(written[0])


def test_rows_of_a_job_that_another_driver_continues_stay(tmp_path, written):
    enumerator = FrameRows(ROWS, object(), str(tmp_path), None).enumerator()
    enumerator.discover(SplitProgress())
    enumerator.close(kept=True)
    assert os.path.exists(written[0])


class Query:
    """Stands in for the query of Structured Streaming."""

    made: list[Query] = []

    def __init__(self, frame, folder, lanes, trigger):
        self.lanes, self.error, self.stopped, self.forgotten = lanes, None, False, None
        Query.made.append(self)

    def check(self):
        if self.error is not None:
            raise self.error

    def stop(self):
        self.stopped = True

    def forget_before(self, number):
        self.forgotten = number


@pytest.fixture
def queries(monkeypatch):
    monkeypatch.setattr(Query, "made", [])
    monkeypatch.setattr(frame_query, "FrameQuery", Query)
    return Query.made


def test_a_stream_keeps_its_number_of_lanes(tmp_path, queries):
    source = FrameStream(ROWS, object(), str(tmp_path), None, {})
    assert [split.id for split in source.enumerator().start(2)] == ["lane-0", "lane-1"]
    assert json.loads((tmp_path / "lanes.json").read_text()) == 2
    restored = source.enumerator()
    known = frozenset(["lane-0", "lane-1"])
    assert restored.discover(SplitProgress(known, parallelism=3)) == []
    assert queries[0].lanes == 2, "also if the job was restored with another parallelism"
    restored.notify_checkpoint_complete({"lane-0": (4, 0, None), "lane-1": (3, 1, None)})
    assert queries[0].forgotten == 3
    restored.close(kept=True)
    assert queries[0].stopped


def test_a_query_that_fails_starts_again_with_the_job(tmp_path, queries):
    enumerator = FrameStream(ROWS, object(), str(tmp_path), None, {}).enumerator()
    enumerator.start(1)
    enumerator.discover(SplitProgress())
    queries[0].error = JobExecutionError("it failed")
    with pytest.raises(JobExecutionError, match="it failed"):
        enumerator.discover(SplitProgress())
    assert queries[0].stopped
    enumerator.discover(SplitProgress())
    assert len(queries) == 2
