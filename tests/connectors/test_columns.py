"""Functions on columns: rows of columnar files stay columns from the source to the sink, and are rows wherever needed."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from headrace.common import Instant, Row, Types, WatermarkStrategy
from headrace.common.errors import BadRecordError, InvalidProgramError, TypeMismatchError, UserCodeError
from headrace.datastream import ProcessFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource
from headrace.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from headrace.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from headrace.formats import arrow_rows
from headrace.formats.row_columns import RowColumns
from headrace.table import DataTypes

MakeEnvironment = Callable[..., StreamExecutionEnvironment]
ORDER = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("price", DataTypes.DOUBLE())])
GROSS = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("gross", DataTypes.DOUBLE())])
COUNT = 10_000


def even(batch: Any) -> Any:
    return pc.equal(pc.bit_wise_and(batch["id"], 1), 0)


def gross(batch: Any) -> Any:
    return pa.record_batch([pc.multiply(batch["price"], 2), batch["id"]], ["gross", "id"])


def orders(count: int = COUNT) -> Any:
    return pa.table({"price": [n / 4 for n in range(count)], "id": list(range(count)), "note": ["x"] * count})


def stream_of(env: StreamExecutionEnvironment, file_format: Any, folder: Path) -> Any:
    source = FileSource.for_bulk_file_format(file_format, str(folder)).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")


def sink_of(folder: Path, writers: Any) -> FileSink:
    sink = FileSink.for_bulk_format(str(folder), writers)
    return sink.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build()


def check_written(tables: list[Any]) -> None:
    found = sorted(zip(*(pa.concat_tables(tables).column(name).to_pylist() for name in ("id", "gross"))))
    assert found == [(n, n / 2) for n in range(0, COUNT, 2)]


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_files_to_files_without_a_row(
    kind: str, tmp_path: Path, make_env: MakeEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    if kind == "parquet":
        pq.write_table(orders(), tmp_path / "in" / "orders", row_group_size=3000)
        reads, writes = ParquetColumnarRowInputFormat(ORDER), ParquetBulkWriters.for_row_type(GROSS)
    else:
        pyarrow.orc.write_table(orders(), tmp_path / "in" / "orders")
        reads, writes = OrcColumnarRowInputFormat(ORDER), OrcBulkWriters.for_row_type(GROSS)

    def refuse(*_: Any) -> Any:
        raise AssertionError("a row was made")

    monkeypatch.setattr(arrow_rows, "named_rows", refuse)
    env = make_env(2)
    stream = stream_of(env, reads, tmp_path / "in").filter_columns(even).map_columns(gross, GROSS)
    stream.sink_to(sink_of(tmp_path / "out", writes))
    env.execute()
    read = pq.read_table if kind == "parquet" else pyarrow.orc.read_table
    check_written([read(path) for path in (tmp_path / "out").iterdir()])


def test_parts_of_columns_are_written_once_although_the_job_fails(tmp_path: Path, make_env: MakeEnvironment) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(orders(), tmp_path / "in" / "orders", row_group_size=3000)
    (tmp_path / "armed").touch()
    armed = str(tmp_path / "armed")

    def fails_once(batch: Any) -> Any:
        import os

        if batch["id"][0].as_py() > COUNT // 2 and os.path.exists(armed):
            os.unlink(armed)
            raise RuntimeError("once")
        return gross(batch)

    env = make_env(
        2,
        execution__checkpointing__interval="20 ms",
        **{"headrace__epoch__max-records": 1000, "restart-strategy__type": "fixed-delay"},
        **{"restart-strategy__fixed-delay__delay": "10 ms"},
    )
    stream = stream_of(env, ParquetColumnarRowInputFormat(ORDER), tmp_path / "in").filter_columns(even)
    stream.map_columns(fails_once, GROSS).sink_to(sink_of(tmp_path / "out", ParquetBulkWriters.for_row_type(GROSS)))
    env.execute()
    assert not (tmp_path / "armed").exists(), "it has failed"
    check_written([pq.read_table(path) for path in (tmp_path / "out").glob("part-*")])


def test_rows_of_other_operators_become_columns_and_rows_again(make_env: MakeEnvironment) -> None:
    class Stamped(ProcessFunction):
        def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Any:
            yield value.id, value.gross, ctx.timestamp()

    env = make_env(1)
    rows = [Row(id=n, price=n / 4) for n in range(6)]
    stream = env.from_collection(rows, Types.ROW_NAMED(["id", "price"], [Types.LONG(), Types.DOUBLE()]))
    stamps = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(_IdAsTime())
    results = stream.assign_timestamps_and_watermarks(stamps).filter_columns(even).map_columns(gross, GROSS)
    with results.process(Stamped()).execute_and_collect() as collected:
        assert list(collected) == [(0, 0.0, 0), (2, 1.0, 200), (4, 2.0, 400)]


def test_instants_of_a_stream_stay_instants(make_env: MakeEnvironment) -> None:
    rows = [Row(id=n, at=Instant(n, 0)) for n in range(4)]
    stream = make_env(1).from_collection(rows, Types.ROW_NAMED(["id", "at"], [Types.LONG(), Types.INSTANT()]))
    with stream.filter_columns(even).execute_and_collect() as collected:
        assert list(collected) == [rows[0], rows[2]]


class _IdAsTime:
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value.id) * 100


def test_a_mapped_row_meets_functions_of_rows_and_a_file_without_the_right_types(
    tmp_path: Path, make_env: MakeEnvironment
) -> None:
    table = pa.table({"id": pa.array(range(5), pa.int16()), "price": pa.array([1, None, 3, 4, 5], pa.float32())})
    pq.write_table(table, tmp_path / "orders")
    stream = stream_of(make_env(1), ParquetColumnarRowInputFormat(ORDER), tmp_path)
    kept = stream.filter_columns(lambda batch: pc.greater(batch["price"], 1.5))  # null counts as false
    with kept.map(lambda row: (row.id, row.price)).execute_and_collect() as collected:
        assert list(collected) == [(2, 3.0), (3, 4.0), (4, 5.0)]
    pq.write_table(pa.table({"id": ["a"], "price": [1.0]}), tmp_path / "orders")
    with pytest.raises(BadRecordError, match=r"(?s)orders.*block 0.*column 'id'"):
        list(stream_of(make_env(1), ParquetColumnarRowInputFormat(ORDER), tmp_path).execute_and_collect())


def test_texts_that_are_none_are_found_where_rows_are_made(tmp_path: Path, make_env: MakeEnvironment) -> None:
    broken = _broken_text()
    pq.write_table(pa.table({"name": broken}), tmp_path / "names")
    names = DataTypes.ROW([DataTypes.FIELD("name", DataTypes.STRING())])
    with pytest.raises(BadRecordError, match=r"(?s)names.*block 0"):
        list(stream_of(make_env(1), ParquetColumnarRowInputFormat(names), tmp_path).execute_and_collect())


def _broken_text() -> Any:
    raw = pa.array([b"\xff\xfe"], pa.binary())
    return pa.Array.from_buffers(pa.string(), 1, raw.buffers())


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda batch: batch.slice(1), "999 rows|with as many rows"),
        (lambda batch: batch["id"], "must return a pyarrow RecordBatch"),
        (lambda batch: pa.record_batch([batch["id"]], ["id"]), "lacks columns"),
        (lambda batch: pa.record_batch([batch["id"], pa.array(["x"] * len(batch))], ["id", "gross"]), "column 'gross'"),
    ],
)
def test_a_function_that_gives_something_else_fails_the_job(
    function: Any, said: str, tmp_path: Path, make_env: MakeEnvironment
) -> None:
    pq.write_table(orders(10), tmp_path / "orders")
    stream = stream_of(make_env(1), ParquetColumnarRowInputFormat(ORDER), tmp_path)
    with pytest.raises(TypeMismatchError, match=said) as raised:
        list(stream.map_columns(function, GROSS).execute_and_collect())
    assert raised.value.operator_name == "Map Columns"


def test_what_else_is_refused(tmp_path: Path, make_env: MakeEnvironment) -> None:
    pq.write_table(orders(10), tmp_path / "orders")
    stream = stream_of(make_env(1), ParquetColumnarRowInputFormat(ORDER), tmp_path)
    with pytest.raises(TypeMismatchError, match="with a value for each row"):
        list(stream.filter_columns(lambda batch: batch["id"]).execute_and_collect())
    with pytest.raises(UserCodeError, match=r"(?s)Filter Columns.*columns of 10 rows"):
        list(stream.filter_columns(lambda batch: batch["nothing"]).execute_and_collect())
    with pytest.raises(TypeMismatchError, match="takes a row type"):
        stream.map_columns(gross, Types.ROW([Types.LONG()]))
    with pytest.raises(TypeMismatchError, match="takes a function"):
        stream.filter_columns("id > 1")
    with pytest.raises(InvalidProgramError, match="fields have names and types"):
        make_env(1).from_collection([1, 2]).filter_columns(even)


def test_only_the_rows_of_a_part_travel() -> None:
    run = RowColumns(ORDER).run([(n, n / 4) for n in range(COUNT)])
    sent = pickle.dumps(run[10:20])
    assert len(sent) < 2000
    assert list(pickle.loads(sent)) == [Row(id=n, price=n / 4) for n in range(10, 20)]
    assert [row.id for row in run[9_998:]] == [9_998, 9_999]
    assert run[-1] == Row(id=9_999, price=2499.75)
