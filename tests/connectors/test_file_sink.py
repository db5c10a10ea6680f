"""FileSink: what becomes visible when, in which directory, under which name, and that nothing is there twice."""

from __future__ import annotations

import datetime
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import fastavro
import fsspec
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from headrace.common import Row, Types, WatermarkStrategy
from headrace.common.errors import (
    HeadraceError,
    InvalidProgramError,
    JobExecutionError,
    MissingExtraError,
    TypeMismatchError,
)
from headrace.common.serialization import Encoder
from headrace.connectors.base.sink_committer import Handle
from headrace.connectors.base.sink_writer import EpochEnd, SinkWriter, WriterContext
from headrace.connectors.kafka import client as kafka_client
from headrace.connectors.rabbitmq import client as rabbitmq_client
from headrace.connectors.redis.sink import RedisCommands
from headrace.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    OutputFileConfig,
    RecordWiseFileCompactor,
    RollingPolicy,
    StreamingFileSink,
)
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.formats.avro import AvroBulkWriters, AvroSchema
from headrace.datastream.formats.csv import CsvBulkWriters, CsvSchema
from headrace.datastream.formats.orc import OrcBulkWriters, OrcColumnarRowInputFormat
from headrace.datastream.formats.parquet import (
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from headrace.formats import arrow_rows
from headrace.table import DataTypes

ONE = BucketAssigner.base_path_bucket_assigner()
ROWS = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("name", DataTypes.STRING())])
ROW_TYPE = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])


EVERY = FileCompactStrategy.builder().enable_compaction_on_checkpoint(1).build()
CONCAT = FileCompactor.concat_file_compactor()


class Task:
    """A sink's subtask and its driver, without a job."""

    def __init__(self, sink: FileSink, log: Path, type_info: Any = None) -> None:
        self.definition = pickle.loads(pickle.dumps(sink.definition_for(type_info)))
        self.log = log
        log.mkdir(exist_ok=True)
        self.committer = self.definition.open_committer("job", "sink")
        self.epochs = 0
        self.open([])

    def open(self, states: list[Any]) -> None:
        states = pickle.loads(pickle.dumps(states))
        self.writer: SinkWriter = self.definition.open_writer(
            WriterContext("sink", "job", directory=str(self.log)), states
        )

    def end(self, checkpointing: bool = False, last: bool = False, now: int = 0) -> list[Handle]:
        self.epochs += 1
        name = f"sink-0-e0000000001-g0000000001-{self.epochs}"
        payloads = self.writer.end_epoch(EpochEnd(name, 1, 1, checkpointing, last, now))
        return [Handle(f"{name}.{i}", 0, 1, 1, payload) for i, payload in enumerate(payloads)]

    def fail_and_go_on(self) -> None:
        """Another process takes over; this one's memory is lost, its files stay open."""
        state = self.writer.state()
        self.open([] if state is None else [state])

    def commit(self, handles: list[Handle]) -> None:
        for handle in handles:
            self.committer.commit(handle)


def visible(folder: Path) -> list[str]:
    return sorted(
        line
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
        for line in path.read_text().splitlines()
    )


def text_sink(folder: Path, **policy: int) -> Any:
    builder = FileSink.for_row_format(str(folder), Encoder.simple_string_encoder()).with_bucket_assigner(ONE)
    return builder.with_rolling_policy(RollingPolicy.default_rolling_policy(**policy)) if policy else builder


def test_a_file_is_hidden_until_its_commit_and_committed_once(tmp_path: Path) -> None:
    out = tmp_path / "out"
    task = Task(text_sink(out).build(), tmp_path / "log")
    task.writer.write(["a", "b"], None)
    handles = task.end(last=True)
    assert len(handles) == 1 and visible(out) == []
    task.commit(handles)
    task.commit(handles)
    assert visible(out) == ["a", "b"]
    assert not task.committer.abort(handles[0]) and visible(out) == ["a", "b"]


def test_an_aborted_file_never_appears(tmp_path: Path) -> None:
    task = Task(text_sink(tmp_path / "out").build(), tmp_path / "log")
    task.writer.write(["a"], None)
    (handle,) = task.end(last=True)
    assert task.committer.abort(handle)
    with pytest.raises(JobExecutionError, match="pending file of checkpoint 1 is gone"):
        task.committer.commit(handle)
    assert visible(tmp_path / "out") == []


def test_a_part_goes_on_over_epochs_and_processes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    task = Task(text_sink(out).build(), tmp_path / "log")
    for number in range(4):
        task.writer.write([f"{number}"], None)
        assert task.end(checkpointing=True) == []
        lost = task.writer
        task.fail_and_go_on()
        lost.write(["of a zombie"], None)
        lost.close()
    handles = task.end(last=True)
    assert len(handles) == 1
    task.commit(handles)
    assert visible(out) == ["0", "1", "2", "3"]


def test_an_aborted_file_does_not_take_away_what_an_older_state_counts_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    task = Task(text_sink(out).build(), tmp_path / "log")
    task.writer.write(["kept"], None)
    assert task.end(checkpointing=True) == []
    state = task.writer.state()
    task.writer.write(["of a failed epoch"], None)
    (handle,) = task.end(last=True)
    assert task.committer.abort(handle)
    task.open([state])
    task.writer.write(["again"], None)
    task.commit(task.end(last=True))
    assert visible(out) == ["again", "kept"]
    with pytest.raises(JobExecutionError, match="is gone"):
        task.committer.commit(handle)


def test_rolling_by_size_age_and_idleness(tmp_path: Path) -> None:
    sink = text_sink(tmp_path / "out", part_size=10, rollover_interval=1000, inactivity_interval=300)
    task = Task(sink.with_bucket_check_interval(1).build(), tmp_path / "log")
    task.writer.write(["12345"] * 7, None)  # six bytes each: the third makes the part too large for a fourth
    sizes = [os.path.getsize(h.payload["from"]) for h in task.end()]
    assert sizes == [12, 12, 12]
    import time

    now = int(time.time() * 1000)
    assert task.end(now=now + 100) == []
    assert len(task.end(now=now + 400)) == 1
    task.writer.write(["x"], None)
    task.writer._parts[""].written = now + 100_000  # type: ignore[attr-defined]
    assert len(task.end(now=now + 2000)) == 1


def test_rolling_with_checkpoints(tmp_path: Path) -> None:
    builder = text_sink(tmp_path / "out").with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    task = Task(builder.build(), tmp_path / "log")
    task.writer.write(["a"], None)
    assert task.end() == []
    assert len(task.end(checkpointing=True)) == 1
    assert task.writer.state() is None


def test_names_of_files_and_directories(tmp_path: Path) -> None:
    config = OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".txt").build()

    class Parity(BucketAssigner):
        def get_bucket_id(self, element: Any, processing_time: int) -> str:
            return f"odd={element % 2}"

    for assigner in (Parity(), BucketAssigner.date_time_bucket_assigner("'year='yyyy", "UTC")):
        builder = FileSink.for_row_format(str(tmp_path / "out"), Encoder.simple_string_encoder())
        sink = builder.with_output_file_config(config).with_bucket_assigner(assigner).build()
        definition = sink.definition_for(None)
        writer = definition.open_writer(WriterContext("sink", "job", directory=str(tmp_path)), [])
        writer.write([1, 2, 3], None)
        for number, payload in enumerate(writer.end_epoch(EpochEnd("h", 1, 1, last=True))):
            definition.open_committer("job", "sink").commit(Handle(str(number), 0, 1, 1, payload))

    year = datetime.datetime.now(datetime.timezone.utc).year
    names = {str(path.parent.relative_to(tmp_path / "out")): path for path in (tmp_path / "out").rglob("pre-*.txt")}
    assert {name: path.read_text() for name, path in names.items()} == {
        "odd=0": "2\n",
        "odd=1": "1\n3\n",
        f"year={year}": "1\n2\n3\n",
    }


# -- formats ----------------------------------------------------------------------------------------------------------

AVRO = AvroSchema.parse_string(
    '{"type": "record", "name": "r", "fields": [{"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}]}'
)


def pairs_of_csv(path: Path) -> list[tuple[int, str | None]]:
    return [(int(a), b or None) for a, b in (line.split(",") for line in path.read_text().splitlines()[1:])]


def pairs_of_avro(path: Path) -> list[tuple[int, str | None]]:
    with path.open("rb") as file:
        return [(record["id"], record["name"]) for record in fastavro.reader(file)]


def pairs_of_table(table: Any) -> list[tuple[int, str | None]]:
    return [(row["id"], row["name"]) for row in table.to_pylist()]


CSV = CsvSchema.builder().add_number_column("id").add_string_column("name").set_use_header().build()
FORMATS = {
    "csv": (CsvBulkWriters.for_schema(CSV), Row, pairs_of_csv),
    "avro": (AvroBulkWriters.for_generic_record(AVRO), dict, pairs_of_avro),
    "parquet": (ParquetBulkWriters.for_row_type(ROWS), Row, lambda path: pairs_of_table(pq.read_table(path))),
    "orc": (
        OrcBulkWriters.for_row_type(ROWS, {"orc.compress": "ZSTD"}),
        Row,
        lambda path: pairs_of_table(orc.read_table(path)),
    ),
    "avro in parquet": (
        AvroParquetWriters.for_generic_record(AVRO),
        dict,
        lambda path: pairs_of_table(pq.read_table(path)),
    ),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_bulk_formats_over_epochs_and_processes(tmp_path: Path, kind: str) -> None:
    factory, make, read = FORMATS[kind]
    sink = FileSink.for_bulk_format(str(tmp_path / "out"), factory).with_bucket_assigner(ONE).build()
    task = Task(sink, tmp_path / "log")
    expected = [(n, None if n % 3 else f"n{n}") for n in range(50)]
    for start in range(0, 40, 10):
        task.writer.write([make(id=i, name=n) for i, n in expected[start : start + 10]], None)
        assert task.end() == []
        task.fail_and_go_on()
    task.writer.write([make(id=i, name=n) for i, n in expected[40:]], None)
    handles = task.end(checkpointing=True)
    assert len(handles) == 1 and task.writer.state() is None
    task.commit(handles)
    (path,) = [p for p in (tmp_path / "out").iterdir() if not p.name.startswith(".")]
    assert read(path) == expected


def test_a_value_that_does_not_fit_its_column(tmp_path: Path) -> None:
    sink = FileSink.for_bulk_format(str(tmp_path), ParquetBulkWriters.for_row_type(ROWS)).build()
    task = Task(sink, tmp_path / "log")
    task.writer.write([Row("x", "y")], None)
    with pytest.raises(TypeMismatchError, match="field 'id' does not have the type of its column"):
        task.end(last=True)


# -- programs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("checkpoints", [False, True])
def test_a_job_writes_every_element_once(tmp_path: Path, make_env: Any, checkpoints: bool) -> None:
    env = make_env(2)
    if checkpoints:
        env.enable_checkpointing(300)
    numbers = env.from_source(NumberSequenceSource(1, 20_000), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.map(lambda n: Row(n, f"n{n}"), ROW_TYPE).sink_to(text_sink(tmp_path / "text", part_size=50_000).build())
    parquet = FileSink.for_bulk_format(str(tmp_path / "parquet"), ParquetBulkWriters.for_row_type(ROWS))
    numbers.map(lambda n: Row(n, f"n{n}"), ROW_TYPE).sink_to(parquet.build())
    env.execute("files")
    assert visible(tmp_path / "text") == sorted(f"+I[{n}, n{n}]" for n in range(1, 20_001))
    files = [p for p in (tmp_path / "parquet").rglob("part-*")]
    assert sorted(i for path in files for i, _ in pairs_of_table(pq.read_table(path))) == list(range(1, 20_001))
    assert not list(tmp_path.rglob("*.inprogress.*"))


def test_the_old_name_with_add_sink(tmp_path: Path, make_env: Any) -> None:
    env = make_env(1)
    sink = StreamingFileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build()
    env.from_collection([True, False], Types.BOOLEAN()).add_sink(sink)
    env.execute("old")
    assert visible(tmp_path) == ["false", "true"]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: FileSink.for_row_format("/tmp", None), TypeMismatchError, "takes an Encoder"),
        (lambda: FileSink.for_bulk_format("/tmp", None), TypeMismatchError, "takes a BulkWriterFactory"),
        (
            lambda: FileSink.for_row_format("nowhere://b/x", Encoder.simple_string_encoder()),
            InvalidProgramError,
            "scheme 'nowhere' cannot be used",
        ),
        (
            lambda: BucketAssigner.date_time_bucket_assigner("QQQ"),
            InvalidProgramError,
            "letter of the pattern",
        ),
        (
            lambda: BucketAssigner.date_time_bucket_assigner("yyyy", "No/Where"),
            InvalidProgramError,
            "time zone",
        ),
        (lambda: text_sink(Path("/tmp")).with_rolling_policy(5), TypeMismatchError, "RollingPolicy"),
        (lambda: RollingPolicy.default_rolling_policy(part_size=0), InvalidProgramError, "above zero"),
        (
            lambda: FileSink.for_bulk_format("/tmp", FORMATS["csv"][0]).with_rolling_policy(
                RollingPolicy.default_rolling_policy()
            ),
            TypeMismatchError,
            "end with each checkpoint",
        ),
        (FileCompactStrategy.builder().build, InvalidProgramError, "At least one condition"),
        (
            lambda: FileCompactStrategy.builder().set_num_compact_threads(0),
            InvalidProgramError,
            "At least one thread",
        ),
        (lambda: text_sink(Path("/tmp")).enable_compact(1, 2), TypeMismatchError, "takes a FileCompactStrategy"),
        (
            lambda: FileSink.for_bulk_format("/tmp", FORMATS["csv"][0]).enable_compact(EVERY, CONCAT),
            InvalidProgramError,
            "bulk format cannot be concatenated",
        ),
    ],
)
def test_refusals(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        make()
    assert isinstance(caught.value, HeadraceError)


# -- small files put together -----------------------------------------------------------------------------------------


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_files_are_put_together_after_some_checkpoints(tmp_path: Path) -> None:
    out = tmp_path / "out"
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).build()
    sink = text_sink(out, part_size=3).enable_compact(strategy, FileCompactor.concat_file_compactor(b"--\n"))
    task = Task(sink.build(), tmp_path / "log")
    for number in range(2):
        task.writer.write([f"line {number}"], None)
        assert task.end(checkpointing=True) == []
        task.fail_and_go_on()
    task.writer.write(["line 2"], None)
    assert task.end(checkpointing=True) == [], "another process starts its own count"
    task.writer.write(["line 3"], None)
    assert task.end(checkpointing=True) == []
    task.writer.write(["line 4"], None)
    (handle,) = task.end(checkpointing=True)
    assert visible(out) == []
    task.commit([handle, handle])
    (name,) = files(out)
    assert name.startswith("compacted-part-")
    assert (out / name).read_text() == "--\n".join(f"line {n}\n" for n in range(5))


def test_files_are_put_together_by_size_and_at_the_end(tmp_path: Path) -> None:
    out = tmp_path / "out"
    strategy = FileCompactStrategy.builder().set_size_threshold(20).build()
    task = Task(text_sink(out, part_size=3).enable_compact(strategy, CONCAT).build(), tmp_path / "log")
    task.writer.write(["0123456789"], None)
    assert task.end(checkpointing=True) == []
    task.writer.write(["0123456789"], None)
    task.commit(task.end(checkpointing=True))
    assert len(files(out)) == 1 and visible(out) == ["0123456789"] * 2
    task.writer.write(["x"], None)
    task.commit(task.end(last=True))
    assert len(files(out)) == 2 and visible(out) == ["0123456789", "0123456789", "x"]


def test_an_aborted_compaction_leaves_the_files_to_the_state(tmp_path: Path) -> None:
    out = tmp_path / "out"
    task = Task(text_sink(out, part_size=3).enable_compact(EVERY, CONCAT).build(), tmp_path / "log")
    task.writer.write(["line"], None)
    task.end()  # not a checkpoint: the part is closed by the next one
    task.writer.write(["more"], None)
    state = task.writer.state()
    (handle,) = task.end(checkpointing=True)
    assert task.committer.abort(handle)
    task.open([state])
    task.writer.write(["more"], None)
    task.commit(task.end(last=True))
    assert visible(out) == ["line", "more"]


@pytest.mark.parametrize(
    ("writes", "reads", "read"),
    [
        (ParquetBulkWriters.for_row_type(ROWS), ParquetColumnarRowInputFormat(ROWS), pq.read_table),
        (OrcBulkWriters.for_row_type(ROWS), OrcColumnarRowInputFormat(ROWS), orc.read_table),
    ],
    ids=["parquet", "orc"],
)
def test_files_of_a_bulk_format_are_written_anew(tmp_path: Path, writes: Any, reads: Any, read: Any) -> None:
    out = tmp_path / "out"
    strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(3).build()
    builder = FileSink.for_bulk_format(str(out), writes).with_bucket_assigner(ONE)
    sink = builder.enable_compact(strategy, RecordWiseFileCompactor(reads)).build()
    task = Task(sink, tmp_path / "log", ROW_TYPE)
    for number in range(3):
        task.writer.write([Row(id=number, name=f"n{number}"), Row(id=number + 10, name=None)], None)
        handles = task.end(checkpointing=True)
        assert len(handles) == (number == 2)
    task.commit([*handles, *handles])
    (name,) = files(out)
    assert name.startswith("compacted-part-")
    found = read(out / name).to_pylist()
    assert found == [{"id": n + more, "name": None if more else f"n{n}"} for n in range(3) for more in (0, 10)]


def test_only_one_file_stays_as_it_is(tmp_path: Path) -> None:
    identical = FileCompactor.identical_file_compactor()
    task = Task(text_sink(tmp_path / "out", part_size=3).enable_compact(EVERY, identical).build(), tmp_path / "log")
    task.writer.write(["only"], None)
    task.commit(task.end(checkpointing=True))
    assert visible(tmp_path / "out") == ["only"]
    task.writer.write(["line 1", "line 2"], None)
    with pytest.raises(JobExecutionError, match="takes one file at a time"):
        task.end(checkpointing=True)


# -- other file systems -----------------------------------------------------------------------------------------------


def test_parts_on_another_file_system(tmp_path: Path) -> None:
    system = fsspec.filesystem("memory")
    builder = FileSink.for_row_format("memory://sink/out", Encoder.simple_string_encoder()).with_bucket_assigner(ONE)
    task = Task(builder.build(), tmp_path / "log")
    task.writer.write(["a"], None)
    assert task.end() == []
    task.fail_and_go_on()
    task.writer.write(["b"], None)
    (handle,) = task.end(last=True)
    assert [path for path in system.find("/sink/out") if "/." not in path] == []
    task.commit([handle, handle])
    (path,) = system.find("/sink/out")
    assert system.cat(path) == b"a\nb\n"
    assert not task.committer.abort(handle)
    assert files(tmp_path / "log") == [] or all(name.startswith(".part") for name in files(tmp_path / "log"))

    gone = Task(builder.build(), tmp_path / "log2")
    gone.writer.write(["c"], None)
    (handle,) = gone.end(last=True)
    assert gone.committer.abort(handle)
    assert len(system.find("/sink/out")) == 1
    with pytest.raises(JobExecutionError, match="is gone"):
        gone.commit([handle])


@pytest.mark.parametrize("compact", [False, True])
def test_a_job_writes_to_another_file_system(compact: bool, make_env: Any) -> None:
    system = fsspec.filesystem("memory")
    place = f"memory://sink/job-{compact}"
    env = make_env(2, execution__checkpointing__interval="20 ms", **{"headrace__epoch__max-records": 100})
    sink = FileSink.for_row_format(place, Encoder.simple_string_encoder()).with_bucket_assigner(ONE)
    sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    if compact:
        sink.enable_compact(FileCompactStrategy.builder().set_size_threshold(500).build(), CONCAT)
    env.from_sequence(1, 1000).limit_rate(4000).sink_to(sink.build())
    env.execute()
    found = system.find(f"/sink/job-{compact}")
    lines = [int(line) for path in found for line in system.cat(path).split()]
    assert sorted(lines) == list(range(1, 1001))
    assert not [path for path in found if "/." in path]
    if compact:
        assert all("/compacted-" in path for path in found)


@pytest.mark.parametrize(
    ("package", "extra", "make"),
    [
        ("fsspec", "files", lambda: FileSink.for_row_format("memory://x", Encoder.simple_string_encoder())),
        ("s3fs", "s3", lambda: FileSink.for_row_format("s3://bucket/x", Encoder.simple_string_encoder())),
        ("confluent_kafka", "kafka", kafka_client.confluent),
        ("pika", "rabbitmq", rabbitmq_client.away_errors),
        ("redis", "redis", lambda: RedisCommands("redis://x", list, {}, 1.0).open_writer(WriterContext("s", "j"), [])),
        ("pyarrow", "formats", arrow_rows.pyarrow),
    ],
)
def test_a_missing_extra_is_named(package: str, extra: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    known = sys.modules["fsspec.registry"]._registry  # it remembers classes that were imported before
    monkeypatch.delitem(known, "s3", raising=False)
    with pytest.raises(MissingExtraError, match=rf"pip install 'headrace\[{extra}\]'"):
        make()
