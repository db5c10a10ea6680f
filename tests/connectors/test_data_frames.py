"""DataFrames as sources and sinks of streams: batch and streaming ones, any writer of Spark, Python data sources."""

from __future__ import annotations

import datetime
import decimal
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headrace.common import Instant, Row
from headrace.common.errors import HeadraceError, InvalidProgramError, JobExecutionError, TypeMismatchError
from headrace.datastream import StreamExecutionEnvironment

pytestmark = pytest.mark.spark

MakeEnvironment = Callable[..., StreamExecutionEnvironment]


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    from pyspark.sql import SparkSession

    return SparkSession(spark)


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as results:
        return list(results)


# -- batch -----------------------------------------------------------------------------------------------------------


def test_rows_of_all_types(session: Any, make_env: MakeEnvironment) -> None:
    frame = session.sql(
        """SELECT 1Y AS a, 2S AS b, 3 AS c, 4L AS d, 1.5F AS e, 2.5D AS f, 'x' AS g, true AS h, X'01' AS i,
        DATE'2020-02-03' AS j, TIMESTAMP_NTZ'2020-02-03 04:05:06.007' AS k, TIMESTAMP'2020-02-03 04:05:06Z' AS l,
        CAST(1.25 AS DECIMAL(5,2)) AS m, array(1, null) AS n, map('k', 1L) AS o, named_struct('p', 7, 'q', 'r') AS s,
        CAST(null AS STRING) AS t"""
    )
    stream = make_env(2).from_dataframe(frame)
    assert stream.get_type().get_field_names() == frame.columns
    (row,) = collected(stream)
    moment = datetime.datetime(2020, 2, 3, 4, 5, 6, tzinfo=datetime.timezone.utc)
    assert row.as_dict(recursive=True) == {
        "a": 1, "b": 2, "c": 3, "d": 4, "e": 1.5, "f": 2.5, "g": "x", "h": True, "i": b"\x01",
        "j": datetime.date(2020, 2, 3), "k": datetime.datetime(2020, 2, 3, 4, 5, 6, 7000),
        "l": Instant(int(moment.timestamp()), 0), "m": decimal.Decimal("1.25"), "n": [1, None], "o": {"k": 1},
        "s": {"p": 7, "q": "r"}, "t": None,
    }  # fmt: skip


def test_each_row_once_although_the_job_fails(session: Any, make_env: MakeEnvironment, tmp_path: Path) -> None:
    env = make_env(
        2,
        "spark",
        execution__checkpointing__interval="50 ms",
        **{"headrace__epoch__max-records": 400, "restart-strategy__type": "fixed-delay"},
        **{"restart-strategy__fixed-delay__delay": "10 ms"},
        headrace__state__directory=str(tmp_path / "state"),
    )
    (tmp_path / "armed").touch()
    armed = str(tmp_path / "armed")

    def fails_once(row: Row) -> Row:
        import os

        if row[0] > 2500 and os.path.exists(armed):
            os.unlink(armed)
            raise RuntimeError("once")
        return row

    # A second computation would give other numbers: what was read is what is read again.
    frame = session.range(0, 3000, 1, 3).selectExpr("id", "uuid() AS name")
    stream = env.from_dataframe(frame)
    rows = stream.map(fails_once, stream.get_type()).to_dataframe("id long, name string").collect()
    assert not (tmp_path / "armed").exists(), "it has failed"
    assert Counter(row.id for row in rows) == Counter(range(3000))
    assert len({row.name for row in rows}) == 3000
    assert not list((tmp_path / "state").glob("headrace-state-*")), "rows and state are cleared away"


def test_what_is_no_frame_is_refused(session: Any, make_env: MakeEnvironment) -> None:
    env = make_env()
    with pytest.raises(TypeMismatchError, match="needs a DataFrame"):
        env.from_dataframe([1, 2])
    with pytest.raises(InvalidProgramError, match="Column 'v' has a type that streams do not support"):
        env.from_dataframe(session.sql("SELECT INTERVAL '1' DAY AS v"))
    with pytest.raises(InvalidProgramError, match="unique column names"):
        env.from_dataframe(session.sql("SELECT 1 AS a, 2 AS a"))
    with pytest.raises(InvalidProgramError, match="has a trigger"):
        env.from_dataframe(session.range(3), trigger={"once": True})


def test_a_frame_that_spark_cannot_compute_fails_the_job(session: Any, make_env: MakeEnvironment) -> None:
    frame = session.sql("SELECT raise_error('no such thing') AS a")
    with pytest.raises(JobExecutionError, match="no such thing"):
        collected(make_env().from_dataframe(frame.selectExpr("CAST(a AS STRING) AS a")))


def test_to_dataframe(session: Any, make_env: MakeEnvironment) -> None:
    env = make_env(2)
    frame = env.from_collection([(1, "a"), (2, None)]).to_dataframe("id long, name string")
    assert sorted(tuple(row) for row in frame.collect()) == [(1, "a"), (2, None)]
    assert make_env().from_collection([{"b": 2}]).to_dataframe("a int, b int").collect()[0].asDict() == {
        "a": None,
        "b": 2,
    }
    numbers = make_env().from_collection([3, 4]).to_dataframe("n long")
    assert numbers.selectExpr("sum(n)").first()[0] == 7
    nothing = make_env().from_collection([1]).filter(lambda n: n > 1).to_dataframe("n long")
    assert nothing.count() == 0
    again = collected(make_env().from_dataframe(frame))
    assert sorted(row.id for row in again) == [1, 2], "and back"


def test_records_that_do_not_fit_are_named(make_env: MakeEnvironment) -> None:
    with pytest.raises(HeadraceError, match=r"(?s)field 'id'.*\('two', 'x'\)"):
        make_env(1).from_collection([(1, "a"), ("two", "x")]).to_dataframe("id long, name string")
    with pytest.raises(HeadraceError, match="(?s)it has 1 fields"):
        make_env(1).from_collection([(1, "a"), (2,)]).to_dataframe("id long, name string")
    with pytest.raises(HeadraceError, match="(?s)fields that are not columns"):
        make_env(1).from_collection([{"id": 1, "nmae": "a"}]).to_dataframe("id long, name string")
    with pytest.raises(InvalidProgramError, match="cannot parse the schema"):
        make_env(1).from_collection([1]).to_dataframe("id lnog")


# -- streaming -------------------------------------------------------------------------------------------------------


def test_a_streaming_frame_of_files_until_all_is_read(session: Any, make_env: MakeEnvironment, tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}.json").write_text("".join(json.dumps({"n": number * 10 + i}) + "\n" for i in range(10)))
    frame = session.readStream.schema("n long").option("maxFilesPerTrigger", 2).json(str(tmp_path))
    stream = make_env(2).from_dataframe(frame, trigger={"availableNow": True})
    assert sorted(row.n for row in collected(stream)) == list(range(60))


def test_a_streaming_frame_goes_on_after_a_failure(session: Any, make_env: MakeEnvironment, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(8):
        lines = "".join(f"{number * 100 + i}\n" for i in range(100))
        (tmp_path / "in" / f"{number}.txt").write_text(lines)
    (tmp_path / "armed").touch()
    armed = str(tmp_path / "armed")

    def fails_once(row: Row) -> int:
        import os

        if int(row[0]) > 500 and os.path.exists(armed):
            os.unlink(armed)
            raise RuntimeError("once")
        return int(row[0])

    env = make_env(
        2,
        execution__checkpointing__interval="20 ms",
        **{"restart-strategy__type": "fixed-delay", "restart-strategy__fixed-delay__delay": "10 ms"},
    )
    frame = session.readStream.option("maxFilesPerTrigger", 1).text(str(tmp_path / "in"))
    kept = tmp_path / "kept"
    stream = env.from_dataframe(frame, trigger={"availableNow": True}, directory=str(kept))
    assert Counter(collected(stream.map(fails_once))) == Counter(range(800))
    assert not (tmp_path / "armed").exists(), "it has failed"
    assert len(list((kept / "batches").iterdir())) < 8, "what checkpoints have passed is removed"


def test_an_endless_frame(session: Any, make_env: MakeEnvironment) -> None:
    frame = session.readStream.format("rate").option("rowsPerSecond", 100).option("numPartitions", 1).load()
    stream = make_env(1).from_dataframe(frame.select("value"))
    with stream.execute_and_collect() as results:
        first = [next(results).value for _ in range(50)]
    assert first == list(range(50))
    assert not session.streams.active, "the query ends with the job"


def test_a_query_that_fails_fails_the_job(session: Any, make_env: MakeEnvironment, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    frame = session.readStream.text(str(tmp_path)).selectExpr("CAST(raise_error(value) AS STRING) AS value")
    with pytest.raises(JobExecutionError, match="query of a streaming DataFrame failed"):
        collected(make_env(1).from_dataframe(frame))


def test_a_query_that_somebody_stops_fails_the_job(session: Any, make_env: MakeEnvironment) -> None:
    frame = session.readStream.format("rate").option("rowsPerSecond", 100).load()
    with make_env(1).from_dataframe(frame.select("value")).execute_and_collect() as results:
        next(results)
        (query,) = session.streams.active
        query.stop()
        with pytest.raises(JobExecutionError, match="was stopped from outside"):
            list(results)


SPARK_ENDS = """
import os, signal
from headrace.common import Configuration
from headrace.datastream import StreamExecutionEnvironment
from pyspark.sql import SparkSession

configuration = Configuration().set_string("headrace.executor", "local")

def begin():
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    return spark.sparkContext, spark.readStream.format("rate").option("rowsPerSecond", 100).load().select("value")

def run(frame, ends):
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    try:
        with env.from_dataframe(frame).execute_and_collect() as results:
            next(results)
            ends()
            list(results)
    except Exception as error:
        print(type(error).__name__, error.message, flush=True)

context, frame = begin()
run(frame, context.stop)
run(frame, None)  # on a Spark that was stopped before
context, frame = begin()
run(frame, lambda: os.kill(context._gateway.proc.pid, signal.SIGKILL))
os._exit(0)  # nobody is there any more to stop
"""


@pytest.mark.long
def test_a_job_does_not_wait_for_a_spark_that_has_ended() -> None:
    done = subprocess.run([sys.executable, "-c", SPARK_ENDS], capture_output=True, text=True, timeout=100, check=False)
    said = done.stdout.splitlines()
    assert len(said) == 3, done.stderr[-3000:]
    assert all(line.startswith("JobExecutionError") and "Spark" in line for line in said), said


# -- writers of Spark ------------------------------------------------------------------------------------------------


def test_any_writer_with_the_epoch(session: Any, make_env: MakeEnvironment, tmp_path: Path) -> None:
    kept = {"execution__checkpointing__dir": str(tmp_path / "checkpoints"), "headrace__job__id": "any-writer"}
    env = make_env(2, execution__checkpointing__interval="20 ms", **{"headrace__epoch__max-records": 300}, **kept)
    out = tmp_path / "out"
    numbers = env.from_sequence(1, 2000).limit_rate(4000)
    options = {"path": f"{out}/epoch={{epoch}}", "header": True}
    numbers.sink_to_spark("csv", options, schema="n long", mode="overwrite")
    env.execute()
    frame = session.read.option("header", True).csv(str(out))
    assert Counter(int(row.n) for row in frame.collect()) == Counter(range(1, 2001))
    assert len(list(out.iterdir())) > 1, "a write for each checkpoint"
    assert list((tmp_path / "checkpoints").rglob("slots/*")) and not list(tmp_path.rglob("*.committed"))


def test_a_write_is_repeated_under_the_same_epoch(session: Any, tmp_path: Path, make_env: MakeEnvironment) -> None:
    from headrace.connectors.base.sink_committer import Handle, StagedOutputLostError
    from headrace.connectors.base.sink_writer import EpochEnd, WriterContext

    env = make_env(1)
    sink = env.from_collection([1]).sink_to_spark(
        "json", {"path": f"{tmp_path}/out/{{job}}-{{epoch}}"}, schema="n long", mode="overwrite"
    )
    definition = env.registry.get(sink.transformation_id).spec.sink
    handles = []
    for subtask in range(2):
        writer = definition.open_writer(WriterContext("s", "j", subtask, directory=str(tmp_path)), [])
        writer.write([subtask], None)
        handle = f"s-{subtask}"
        handles += [Handle(handle, subtask, 7, 1, payload) for payload in writer.end_epoch(EpochEnd(handle, 7, 1))]
    committer = definition.open_committer("j", "s")
    (handle,) = committer.combined(handles)
    paths = {path: path.read_bytes() for path in tmp_path.glob("*.parquet")}
    committer.commit(handle)
    assert not list(tmp_path.glob("*.parquet"))
    committer.commit(handle)
    assert committer.abort(handle) is False
    (mark,) = tmp_path.glob("*.committed")
    mark.unlink()  # a process that died right after the write: it is done again, over the first one
    for path, data in paths.items():
        path.write_bytes(data)
    definition.open_committer("j", "s").commit(handle)
    mark.unlink()
    with pytest.raises(StagedOutputLostError, match="neither written nor staged"):
        definition.open_committer("j", "s").commit(handle)
    assert sorted(row.n for row in session.read.json(f"{tmp_path}/out/j-7").collect()) == [0, 1]


def test_a_python_data_source_both_ways(session: Any, make_env: MakeEnvironment, tmp_path: Path) -> None:
    from pyspark.sql.datasource import (
        DataSource,
        DataSourceReader,
        DataSourceWriter,
        SimpleDataSourceStreamReader,
        WriterCommitMessage,
    )

    class Reader(DataSourceReader):
        def partitions(self) -> Any:
            from pyspark.sql.datasource import InputPartition

            return [InputPartition(0), InputPartition(100)]

        def read(self, partition: Any) -> Any:
            yield from ((partition.value + n,) for n in range(5))

    class StreamReader(SimpleDataSourceStreamReader):
        def initialOffset(self) -> dict[str, int]:
            return {"n": 0}

        def read(self, start: dict[str, int]) -> Any:
            end = min(start["n"] + 3, 9)
            return iter([(n,) for n in range(start["n"], end)]), {"n": end}

        def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Any:
            return iter([(n,) for n in range(start["n"], end["n"])])

        def commit(self, end: dict[str, int]) -> None:
            pass

    class Writer(DataSourceWriter):
        def __init__(self, folder: str) -> None:
            self.folder = folder

        def write(self, iterator: Any) -> WriterCommitMessage:
            import uuid

            with open(f"{self.folder}/{uuid.uuid4()}", "w") as file:
                file.writelines(f"{row.n}\n" for row in iterator)
            return WriterCommitMessage()

    class Counting(DataSource):
        @classmethod
        def name(cls) -> str:
            return "counting"

        def schema(self) -> str:
            return "n long"

        def reader(self, schema: Any) -> DataSourceReader:
            return Reader()

        def simpleStreamReader(self, schema: Any) -> SimpleDataSourceStreamReader:
            return StreamReader()

        def writer(self, schema: Any, overwrite: bool) -> DataSourceWriter:
            return Writer(self.options["folder"])

    session.dataSource.register(Counting)
    out = tmp_path / "out"
    out.mkdir()
    env = make_env(2)
    stream = env.from_dataframe(session.read.format("counting").load())
    stream.sink_to_spark("counting", {"folder": str(out)}, schema="n long")
    env.execute()
    written = sorted(int(line) for file in out.iterdir() for line in file.read_text().splitlines())
    assert written == [*range(5), *range(100, 105)]

    endless = make_env(1).from_dataframe(session.readStream.format("counting").load())
    with endless.execute_and_collect() as results:
        assert [next(results).n for _ in range(9)] == list(range(9))
