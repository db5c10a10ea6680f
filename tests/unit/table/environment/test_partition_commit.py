"""Directories of partitions get a marker when their partition is complete, not before."""

from __future__ import annotations

import os

import pytest

from headrace.connectors.base.sink_committer import Handle
from headrace.connectors.base.sink_writer import EpochEnd, WriterContext
from headrace.connectors.files.buckets import BucketAssigner
from headrace.connectors.files.rolling import OnCheckpointRollingPolicy, RollingPolicy
from headrace.table.connectors.partition_commit import CommitRules, MarkedParts
from headrace.table.errors import SqlNotSupportedError, SqlRuntimeError
from headrace.types.serialization import Encoder

HOUR = 3_600_000


class ByValue(BucketAssigner):
    """The value is the directory."""

    def get_bucket_id(self, element, context):
        return f"day={element}"


def sink(tmp_path, rules, rolling=None):
    encoder = Encoder.simple_string_encoder()
    return MarkedParts(str(tmp_path), encoder, rolling or OnCheckpointRollingPolicy(), ByValue(), rules=rules)


class Subtask:
    """A writer and the committer of what it stages."""

    def __init__(self, parts, tmp_path, states=()):
        self.watermark = -HOUR
        context = WriterContext("sink", "job", directory=str(tmp_path), current_watermark=lambda: self.watermark)
        self.writer = parts.open_writer(context, list(states))
        self.committer = parts.open_committer("job", "sink")

    def end(self, now=0, last=False):
        payloads = self.writer.end_epoch(EpochEnd("h", 1, 1, checkpointing=True, last=last, now=now))
        for number, payload in enumerate(payloads):
            for _ in range(2):  # a commit may be repeated
                self.committer.commit(Handle(str(number), 0, 1, 1, payload))


def by_time(**changes):
    return CommitRules(
        **{"by_partition_time": True, "delay": HOUR, "time_zone": "UTC", "pattern": None} | changes, marker="_SUCCESS"
    )


def marked(tmp_path):
    return sorted(path.parent.name for path in tmp_path.glob("day=*/_SUCCESS"))


def test_the_watermark_decides(tmp_path):
    task = Subtask(sink(tmp_path, by_time()), tmp_path)
    task.writer.write(["1970-01-01", "1970-01-02"], None)
    task.watermark = HOUR
    task.end()
    assert marked(tmp_path) == []
    task.watermark = HOUR + 1
    task.end()
    assert marked(tmp_path) == ["day=1970-01-01"]
    task.end(last=True)
    assert marked(tmp_path) == ["day=1970-01-01", "day=1970-01-02"]


def test_open_partitions_survive_a_restart(tmp_path):
    parts = sink(tmp_path, by_time())
    task = Subtask(parts, tmp_path)
    task.writer.write(["1970-01-01"], None)
    task.end()
    after = Subtask(parts, tmp_path, [task.writer.state()])
    after.watermark = 2 * HOUR
    after.end()
    assert marked(tmp_path) == ["day=1970-01-01"]


def test_all_files_are_visible_when_the_marker_is(tmp_path):
    """The rolling policy would keep the file open for longer."""
    task = Subtask(sink(tmp_path, by_time(), RollingPolicy.default_rolling_policy()), tmp_path)
    task.writer.write(["1970-01-01"], None)
    task.watermark = 2 * HOUR
    task.end()
    visible = [name for name in os.listdir(tmp_path / "day=1970-01-01") if not name.startswith(".")]
    assert len(visible) == 2 and "_SUCCESS" in visible


@pytest.mark.parametrize("delay, now, expected", [(0, 0, 1), (HOUR, HOUR - 1, 0), (HOUR, 10**15, 1)])
def test_processing_time(tmp_path, delay, now, expected):
    task = Subtask(sink(tmp_path, by_time(by_partition_time=False, delay=delay)), tmp_path)
    task.writer.write(["x"], None)
    task.end(now=now)
    assert len(marked(tmp_path)) == expected


def test_time_zone_and_pattern():
    rules = by_time(time_zone="Asia/Shanghai", pattern="$y-$m-01 $hour:00:00")
    assert rules.partition_time("y=1970/m=1/hour=8") == 0
    with pytest.raises(SqlRuntimeError, match="cannot be read"):
        rules.partition_time("y=now/m=1/hour=8")


DDL = """CREATE TABLE {name} (a INT, dt STRING, hm STRING) PARTITIONED BY (dt, hm) WITH ('connector' = 'filesystem',
    'path' = '{path}', 'format' = 'json', 'sink.partition-commit.policy.kind' = '{kind}', {options})"""


def test_a_table_with_marks(t_env, tmp_path):
    options = """'sink.partition-commit.trigger' = 'partition-time', 'sink.partition-commit.delay' = '1 min',
        'partition.time-extractor.timestamp-pattern' = '$dt $hm:00'"""
    t_env.execute_sql(DDL.format(name="marked", path=tmp_path, kind="success-file", options=options))
    t_env.get_config().set("parallelism.default", "2")
    values = "(1, '2024-01-01', '10:00'), (2, '2024-01-01', '10:01'), (3, '2024-01-01', '10:00')"
    t_env.execute_sql(f"INSERT INTO marked VALUES {values}").wait()
    assert sorted(path.parent.name for path in tmp_path.glob("*/*/_SUCCESS")) == ["hm=10%3A00", "hm=10%3A01"]
    with t_env.execute_sql("SELECT a FROM marked").collect() as rows:
        assert sorted(row[0] for row in rows) == [1, 2, 3]


def test_other_policies_are_refused(t_env, tmp_path):
    options = "'sink.partition-commit.delay' = '1 min'"
    t_env.execute_sql(DDL.format(name="other", path=tmp_path, kind="metastore,success-file", options=options))
    with pytest.raises(SqlNotSupportedError, match="metastore"):
        t_env.execute_sql("INSERT INTO other VALUES (1, 'a', 'b')")
