"""The keyed state of a savepoint as a DataFrame of Spark."""

from __future__ import annotations

from datetime import date

import pytest

from headrace.common import Types, WatermarkStrategy
from headrace.common.errors import StateError
from headrace.common.time import Duration, Time
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.window import TumblingEventTimeWindows
from headrace.state_processor import SavepointReader, SavepointWriter

pytestmark = pytest.mark.spark


@pytest.fixture
def reader(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "state.key"))
    writer = SavepointWriter.new()
    writer.with_keyed_state("a", "count", "ValueState", ((f"key {n}", n) for n in range(300)))
    writer.with_keyed_state("a", "tags", "MapState", [(1, {"x": 1, "y": 2}), (2, {"z": 3})])
    writer.with_keyed_state("a", "days", "ListState", [(1, [date(2020, 1, 1)])])
    writer.with_keyed_state("a", "odd", "ValueState", [(1, object)])
    writer.with_keyed_state("a", "empty", "ValueState", [])
    return SavepointReader.read(writer.write(str(tmp_path / "savepoint")))


def test_state_as_a_data_frame(spark, reader):
    from pyspark.sql import SparkSession

    session = SparkSession(spark)
    counts = reader.to_data_frame(session, "a", "count")
    assert counts.columns == ["key", "value"]
    assert counts.where("value >= 100").count() == 200
    assert counts.selectExpr("sum(value)").first()[0] == sum(range(300))
    tags = {row.key: row.value for row in reader.to_data_frame(session, "a", "tags").collect()}
    assert tags == {1: {"x": 1, "y": 2}, 2: {"z": 3}}
    days = reader.to_data_frame(session, "a", "days", schema="key int, value array<date>").first()
    assert (days.key, days.value) == (1, [date(2020, 1, 1)])
    assert reader.to_data_frame(spark, "a", "empty", schema="key int, value int").count() == 0
    with pytest.raises(StateError, match="is empty"):
        reader.to_data_frame(session, "a", "empty")
    with pytest.raises(StateError, match="cannot infer the types"):
        reader.to_data_frame(session, "a", "odd")


class Stamp:
    def extract_timestamp(self, value, record_timestamp):
        return value


def test_windows_of_a_job_as_a_data_frame(spark, make_env, tmp_path, monkeypatch):
    monkeypatch.setenv("HEADRACE_STATE_KEY_FILE", str(tmp_path / "state.key"))
    env = make_env(2, headrace__epoch__max_records="200")
    behind = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(10**12))
    stream = env.from_source(NumberSequenceSource(1, 10**9), behind.with_timestamp_assigner(Stamp()), "n")
    window = stream.key_by(lambda v: v % 2, Types.LONG()).window(TumblingEventTimeWindows.of(Time.milliseconds(10)))
    window.reduce(lambda a, b: a + b).uid("sums").print()
    results = stream.execute_and_collect()
    for _, _ in zip(range(100), results):
        pass
    path = results._job.stop_with_savepoint(False, str(tmp_path))
    reader = SavepointReader.read(path)
    rows = reader.to_data_frame(spark, "sums", "_aligned_windows").where("window_end <= 100").collect()
    found = {(row.key, row.window_start, row.window_end): row.value for row in rows}
    assert found == {
        (key, start, start + 10): sum(v for v in range(max(start, 1), start + 10) if v % 2 == key)
        for start in range(0, 100, 10)
        for key in (0, 1)
    }
