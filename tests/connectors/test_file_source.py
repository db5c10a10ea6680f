"""FileSource on real files: every format, every cut, resumed at every position."""

from __future__ import annotations

import bz2
import datetime
import decimal
import gzip
import json
import lzma
import pickle
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastavro
import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from pyarrow import orc

from headrace.common import Row, Types, WatermarkStrategy
from headrace.common.errors import BadRecordError, HeadraceError, MissingExtraError, TypeMismatchError
from headrace.common.time import Duration
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import SplitProgress
from headrace.connectors.base.split_reader import ReaderContext
from headrace.connectors.files import text_file
from headrace.datastream.connectors.file_system import FileEnumeratorProvider, FileSource, StreamFormat
from headrace.datastream.formats.avro import (
    AvroInputFormat,
    AvroReaderFormat,
    AvroRowDeserializationSchema,
    AvroRowSerializationSchema,
    AvroSchema,
)
from headrace.datastream.formats.csv import CsvReaderFormat, CsvSchema
from headrace.datastream.formats.json import JsonReaderFormat
from headrace.datastream.formats.orc import OrcColumnarRowInputFormat
from headrace.datastream.formats.parquet import AvroParquetReaders, ParquetColumnarRowInputFormat
from headrace.formats import column_files
from headrace.foundation.extras import need
from headrace.table import DataTypes

Contents = Callable[..., list[Any]]


def records_of(source: Source, parallelism: int = 1, limit: int = 1000, reopen: bool = False) -> list[Any]:
    """All records, split by split; with `reopen` each batch is read by a new reader at the position of the last one."""
    source = pickle.loads(pickle.dumps(source))
    records: list[Any] = []
    for split in source.enumerator().start(parallelism):
        reader = source.open_reader(split, None, ReaderContext())
        while not reader.finished:
            records += reader.read(limit, 0).values
            if reopen:
                position = pickle.loads(pickle.dumps(reader.position()))
                finished = reader.finished
                reader.close()
                reader = source.open_reader(split, position, ReaderContext())
                assert reader.finished == finished
        reader.close()
    return records


def of_stream(stream_format: StreamFormat, *paths: object) -> Source:
    return FileSource.for_record_stream_format(stream_format, *map(str, paths)).build().get_definition()


def of_bulk(bulk_format: Any, *paths: object) -> Source:
    return FileSource.for_bulk_file_format(bulk_format, *map(str, paths)).build().get_definition()


# -- text -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [2, 3, 7])
def test_a_text_file_is_cut_and_every_line_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    monkeypatch.setattr(text_file, "_PART", 40)
    monkeypatch.setattr(text_file, "_CHUNK", 16)
    rng = random.Random(parts)
    for trial in range(20):
        lines = ["x" * rng.choice([0, 1, 5, 30, 90]) + str(n) for n in range(rng.randrange(60))]
        path = tmp_path / f"{trial}.txt"
        path.write_text("\n".join(lines) + rng.choice(["", "\n"]) if lines else "")
        source = of_stream(StreamFormat.text_line_format(), path)
        splits = source.enumerator().start(parts)
        assert len(splits) == max(1, min(parts, path.stat().st_size // 40))
        assert sorted(records_of(source, parts)) == sorted(lines)
        assert sorted(records_of(source, parts, limit=3, reopen=True)) == sorted(lines)


def test_the_enumerator_says_whether_files_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "_PART", 10)
    (tmp_path / "a").write_text("one\ntwo\nthree\nfour\nfive\n" * 10)
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))

    def splits(provider: FileEnumeratorProvider) -> int:
        return len(builder.set_file_enumerator(provider).build().get_definition().enumerator().start(4))

    assert splits(FileEnumeratorProvider.default_splittable_file_enumerator()) == 4
    assert splits(FileEnumeratorProvider.default_non_splittable_file_enumerator()) == 1


def test_parts_of_a_known_file_are_not_discovered_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "_PART", 10)
    (tmp_path / "a#1-2").write_text("one\ntwo\nthree\nfour\nfive\n" * 10)
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    source = builder.monitor_continuously(Duration.of_millis(1)).build().get_definition()
    known = frozenset(s.id for s in source.enumerator().start(3))
    assert len(known) == 3
    (tmp_path / "b").write_text("one\ntwo\n" * 10)
    found = source.enumerator().discover(SplitProgress(known))
    assert {Path(s.payload.path).name for s in found} == {"b"}
    assert source.enumerator().discover(SplitProgress(known | {s.id for s in found})) == []


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".deflate": zlib.compress,
    ".zst": lambda data: zstandard.compress(data[:20]) + zstandard.compress(data[20:]),
}


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_compressed_files_of_lines_and_of_csv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    monkeypatch.setattr(text_file, "_CHUNK", 16)
    lines = [f"{n},text {n}" for n in range(100)]
    path = tmp_path / f"file{ending}"
    path.write_bytes(COMPRESSORS[ending]("\n".join(lines).encode()))
    assert records_of(of_stream(StreamFormat.text_line_format(), path), 3, limit=7, reopen=True) == lines
    schema = CsvSchema.builder().add_number_column("n").add_string_column("t").build()
    rows = records_of(of_stream(CsvReaderFormat.for_schema(schema), path), limit=7, reopen=True)
    assert rows == [Row(n=n, t=f"text {n}") for n in range(100)]


def test_other_file_systems(contents: Contents) -> None:
    system = fsspec.filesystem("memory")
    for name in ("in/a.txt", "in/deep/b.txt", "in/_hidden", "in/.x/c.txt"):
        system.pipe(f"/{name}", f"{name}\n".encode())
    text = StreamFormat.text_line_format()
    assert contents(FileSource.for_record_stream_format(text, "memory://in").build()) == ["in/a.txt", "in/deep/b.txt"]
    assert contents(FileSource.for_record_stream_format(text, "memory://in/*.txt").build()) == ["in/a.txt"]
    with pytest.raises(HeadraceError, match="does not exist"):
        contents(FileSource.for_record_stream_format(text, "memory://nothing").build())


def test_a_missing_extra_is_named() -> None:
    with pytest.raises(MissingExtraError, match=r"pip install 'headrace\[formats\]'"):
        need("pyarroww.parquet", "formats", "Parquet")


# -- JSON and CSV -----------------------------------------------------------------------------------------------------

ID_NAME = Types.ROW_NAMED(["id", "name"], [Types.LONG(), Types.STRING()])


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": n, "name": f"ü{n}"}) + "\n" for n in range(50)))
    source = of_stream(JsonReaderFormat.for_type_info(ID_NAME), path)
    assert records_of(source, limit=7, reopen=True) == [Row(id=n, name=f"ü{n}") for n in range(50)]
    assert source.produced_type == ID_NAME
    path.write_text('{"id": 1}\n{"id": oops}\n{"id": 3}\n')
    with pytest.raises(BadRecordError, match=r"a.jsonl' cannot be read, line 2: The message is not JSON"):
        records_of(source)
    tolerant = of_stream(JsonReaderFormat.for_type_info(ID_NAME, ignore_parse_errors=True), path)
    assert [row.id for row in records_of(tolerant)] == [1, 3]


def shop() -> Any:
    return (
        CsvSchema.builder()
        .add_number_column("id", DataTypes.INT())
        .add_string_column("name")
        .add_boolean_column("new")
        .add_array_column("sizes", "|", DataTypes.DOUBLE())
    )


def test_csv_files(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('1,"a, ""b""\nc",true,1|2.5\r\n2,,false,\n')
    source = of_stream(CsvReaderFormat.for_schema(shop().build()), path)
    expected = [Row(id=1, name='a, "b"\nc', new=True, sizes=[1.0, 2.5]), Row(id=2, name="", new=False, sizes=[])]
    assert records_of(source, limit=1, reopen=True) == expected


def test_csv_headers_nulls_comments_and_separators(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("# shop\nid;name;new;sizes\n0;skipped;;\n7;NULL;true;1\n# end\n")
    builder = shop().set_column_separator(";").set_null_value("NULL").set_allow_comments()
    builder.set_use_header().set_skip_first_data_row()
    for schema in (builder.build(), builder.set_strict_headers().build()):
        assert records_of(of_stream(CsvReaderFormat.for_schema(schema), path)) == [
            Row(id=7, name=None, new=True, sizes=[1.0])
        ]


@pytest.mark.parametrize("header", ["h1,h2", "number,string", "string", "string,number,more", "", "String,Number"])
def test_a_csv_header_is_only_read_over_unless_it_is_strict(tmp_path: Path, header: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\nstring,123\n")
    builder = CsvSchema.builder().add_string_column("string").add_number_column("number").set_use_header()
    assert records_of(of_stream(CsvReaderFormat.for_schema(builder.build()), path)) == [
        Row(string="string", number=123)
    ]
    with pytest.raises(BadRecordError, match=r"(?s)a.csv' cannot be read.*the header \[.*headers are strict"):
        records_of(of_stream(CsvReaderFormat.for_schema(builder.set_strict_headers().build()), path))


def test_a_csv_header_does_not_make_room_for_more_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,2\n1,2,3\n")
    schema = CsvSchema.builder().add_number_column("a").add_number_column("b").set_use_header().build()
    with pytest.raises(
        BadRecordError, match=r"a.csv' cannot be read, row 2 .*Too many entries: 2 fields expected but was 3"
    ):
        records_of(of_stream(CsvReaderFormat.for_schema(schema), path))
    path.write_text("")
    assert records_of(of_stream(CsvReaderFormat.for_schema(schema), path)) == []


@pytest.mark.parametrize(
    ("precision", "scale", "answers"),
    [
        (2, 0, {"1.5": "2", "2.5": "3", "-1.5": "-2", "99.4": "99", "100": None, "99.5": None, "7": "7"}),
        (5, 2, {"1.5": "1.50", "1.005": "1.01", "1.015": "1.02", "123456": None, "1e2": "100.00", "-0.004": "0.00"}),
    ],
)
def test_decimal_numbers_of_csv_fit_their_column(
    tmp_path: Path, precision: int, scale: int, answers: dict[str, str | None]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("".join(f"{text},1;{text}\n" for text in answers))
    kind = DataTypes.DECIMAL(precision, scale)
    schema = CsvSchema.builder().add_number_column("d", kind).add_array_column("a", element_type=kind).build()
    rows = records_of(of_stream(CsvReaderFormat.for_schema(schema), path))
    read = [None if answer is None else decimal.Decimal(answer) for answer in answers.values()]
    assert [str(row.d) for row in rows] == list(map(str, read))
    assert [row.a[1] for row in rows] == read


def test_points_in_time_of_csv_have_a_time_zone(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("2020-01-02 03:04:05.123Z\n")
    schema = CsvSchema.builder().add_array_column("a", element_type=DataTypes.TIMESTAMP_LTZ(3)).build()
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5, 123_000, datetime.timezone.utc)
    assert records_of(of_stream(CsvReaderFormat.for_schema(schema), path)) == [Row(a=[moment])]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x,a,true,1", r"row 2 .*not an integer: 'x'"),
        ("1,a", "4 fields expected but was 2"),
        ("1,a,true,1,5", "4 fields expected but was 5"),
        ('1,"a,true,1', "line 2"),
    ],
)
def test_bad_lines_of_csv_are_named(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"1,a,true,1\n{line}\n")
    with pytest.raises(BadRecordError, match=problem):
        records_of(of_stream(CsvReaderFormat.for_schema(shop().build()), path))


# -- columns ----------------------------------------------------------------------------------------------------------

EVERYTHING = DataTypes.ROW(
    [
        DataTypes.FIELD("i", DataTypes.INT()),
        DataTypes.FIELD("s", DataTypes.STRING()),
        DataTypes.FIELD("d", DataTypes.DECIMAL(10, 2)),
        DataTypes.FIELD("t", DataTypes.TIMESTAMP(3)),
        DataTypes.FIELD("z", DataTypes.TIMESTAMP_LTZ(3)),
        DataTypes.FIELD("day", DataTypes.DATE()),
        DataTypes.FIELD("a", DataTypes.ARRAY(DataTypes.BIGINT())),
        DataTypes.FIELD("m", DataTypes.MAP(DataTypes.STRING(), DataTypes.DOUBLE())),
        DataTypes.FIELD("r", DataTypes.ROW([DataTypes.FIELD("x", DataTypes.BOOLEAN())])),
    ]
)


def everything(n: int) -> Row:
    if n % 10 == 9:
        return Row(i=n, s=None, d=None, t=None, z=None, day=None, a=None, m=None, r=None)
    return Row(
        i=n,
        s=f"text {n}",
        d=decimal.Decimal(n) / 4,
        t=datetime.datetime(2020, 1, 1) + datetime.timedelta(milliseconds=n),
        z=datetime.datetime.fromtimestamp(1_600_000_000 + n, datetime.timezone.utc)
        + datetime.timedelta(milliseconds=5),
        day=datetime.date(2020, 1, 1) + datetime.timedelta(days=n),
        a=[n, None],
        m={"k": float(n)},
        r=Row(x=n % 2 == 0),
    )


def write_parquet(path: Path, count: int, group: int = 10) -> None:
    from headrace.formats.arrow_rows import columns_writer

    table = pa.Table.from_batches([columns_writer(EVERYTHING)([everything(n) for n in range(count)])])
    pq.write_table(table, path, row_group_size=group)


def write_orc(path: Path, count: int) -> None:
    from headrace.formats.arrow_rows import columns_writer

    orc.write_table(pa.Table.from_batches([columns_writer(EVERYTHING)([everything(n) for n in range(count)])]), path)


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_parquet(tmp_path: Path, limit: int) -> None:
    write_parquet(tmp_path / "a.parquet", 35)
    source = of_bulk(ParquetColumnarRowInputFormat(EVERYTHING, batch_size=4), tmp_path)
    assert "z: LocalZonedTimestampTypeInfo" in repr(source.produced_type)
    assert records_of(source, limit=limit) == [everything(n) for n in range(35)]
    assert records_of(source, limit=limit, reopen=True) == [everything(n) for n in range(35)]


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_orc(tmp_path: Path, limit: int) -> None:
    write_orc(tmp_path / "a.orc", 35)
    source = of_bulk(OrcColumnarRowInputFormat(EVERYTHING, 4), tmp_path)
    assert records_of(source, limit=limit) == [everything(n) for n in range(35)]
    assert records_of(source, limit=limit, reopen=True) == [everything(n) for n in range(35)]


@pytest.mark.parametrize("parallelism", [2, 3, 4])
def test_large_parquet_files_are_cut_between_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parallelism: int
) -> None:
    monkeypatch.setattr(column_files, "_LARGE", 100)
    write_parquet(tmp_path / "a.parquet", 35)
    source = of_bulk(ParquetColumnarRowInputFormat(EVERYTHING), tmp_path)
    assert len(source.enumerator().start(parallelism)) == parallelism
    assert records_of(source, parallelism, limit=3, reopen=True) == [everything(n) for n in range(35)]


def test_only_the_columns_of_the_type_are_read_and_they_must_be_there(tmp_path: Path) -> None:
    write_parquet(tmp_path / "a.parquet", 3)
    some = DataTypes.ROW([DataTypes.FIELD("S", DataTypes.STRING()), DataTypes.FIELD("i", DataTypes.BIGINT())])
    with pytest.raises(BadRecordError, match="The file has no column 'S'"):
        records_of(of_bulk(ParquetColumnarRowInputFormat(some), tmp_path))
    either = of_bulk(ParquetColumnarRowInputFormat(some, is_case_sensitive=False), tmp_path)
    assert records_of(either) == [Row(S=f"text {n}", i=n) for n in range(3)]


def test_a_file_of_another_format_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("this is text")
    with pytest.raises(BadRecordError, match="a.parquet' cannot be read"):
        records_of(of_bulk(ParquetColumnarRowInputFormat(EVERYTHING), tmp_path))
    with pytest.raises(TypeMismatchError, match="for_bulk_file_format takes a bulk format"):
        FileSource.for_bulk_file_format(StreamFormat.text_line_format(), "a")  # type: ignore[arg-type]


# -- Avro -------------------------------------------------------------------------------------------------------------

AVRO = """{"type": "record", "name": "person", "fields": [
    {"name": "name", "type": "string"},
    {"name": "age", "type": ["null", "int"]},
    {"name": "tags", "type": {"type": "array", "items": "string"}},
    {"name": "seen", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "home", "type": {"type": "record", "name": "place", "fields": [{"name": "x", "type": "double"}]}}]}"""


def person(n: int) -> dict[str, Any]:
    seen = datetime.datetime.fromtimestamp(1_600_000_000 + n, datetime.timezone.utc)
    return {"name": f"p{n}", "age": n or None, "tags": ["a"] * (n % 3), "seen": seen, "home": {"x": float(n)}}


@pytest.mark.parametrize("limit", [1, 7, 1000])
def test_avro_files(tmp_path: Path, limit: int, make_env: Any) -> None:
    schema = AvroSchema.parse_string(AVRO)
    with (tmp_path / "a.avro").open("wb") as file:
        fastavro.writer(file, schema.parsed, [person(n) for n in range(50)], sync_interval=200)
    source = of_stream(AvroReaderFormat.for_generic_record(schema), tmp_path)
    assert records_of(source, limit=limit) == [person(n) for n in range(50)]
    assert records_of(source, limit=limit, reopen=True) == [person(n) for n in range(50)]
    with make_env(1).create_input(AvroInputFormat(str(tmp_path), schema)).execute_and_collect() as results:
        assert [each["name"] for each in results] == [f"p{n}" for n in range(50)]


def test_avro_rows_in_messages() -> None:
    writing, reading = (
        AvroRowSerializationSchema(avro_schema_string=AVRO),
        AvroRowDeserializationSchema(avro_schema_string=AVRO),
    )
    row = Row(name="Ada", age=None, tags=["a", "b"], seen=datetime.datetime(2020, 1, 2, 3, 4, 5), home=Row(x=1.5))
    message = pickle.loads(pickle.dumps(writing)).serialize(row)
    assert pickle.loads(pickle.dumps(reading)).deserialize(message) == row
    assert "name: String" in repr(reading.get_produced_type())
    with pytest.raises(BadRecordError, match="not a record of the Avro schema"):
        reading.deserialize(b"\x02")
    for wrong in (Row("Ada"), Row("Ada", "x", [], row.seen, row.home)):
        with pytest.raises(TypeMismatchError, match="Could not serialize a row as Avro"):
            writing.serialize(wrong)
    with pytest.raises(HeadraceError, match="Java classes"):
        AvroRowDeserializationSchema("a.B")
    with pytest.raises(HeadraceError, match="Invalid Avro schema"):
        AvroSchema.parse_string('{"type": "nonsense"}')


def test_parquet_as_avro_records(tmp_path: Path) -> None:
    pq.write_table(pa.table({"b": ["x", None], "a": [1, 2]}), tmp_path / "a.parquet")
    fields = '[{"name": "a", "type": "long"}, {"name": "b", "type": ["null", "string"]}]'
    schema = AvroSchema.parse_string(f'{{"type": "record", "name": "r", "fields": {fields}}}')
    source = of_stream(AvroParquetReaders.for_generic_record(schema), tmp_path)
    assert records_of(source) == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]


# -- programs ---------------------------------------------------------------------------------------------------------


def test_a_job_over_parquet(tmp_path: Path, make_env: Any) -> None:
    for name in "abc":
        write_parquet(tmp_path / f"{name}.parquet", 35)
    source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(EVERYTHING), str(tmp_path)).build()
    stream = make_env(2).from_source(source, WatermarkStrategy.no_watermarks(), "rows")
    with stream.map(lambda row: row.i, Types.INT()).execute_and_collect() as results:
        assert sorted(results) == sorted([*range(35)] * 3)


def test_a_job_finds_new_files(tmp_path: Path, make_env: Any) -> None:
    (tmp_path / "a").write_text("one\n")
    builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    source = builder.monitor_continuously(Duration.of_millis(50)).build()
    with make_env(2).from_source(source, WatermarkStrategy.no_watermarks(), "lines").execute_and_collect() as results:
        assert next(results) == "one"
        (tmp_path / ".b").write_text("two\n")
        (tmp_path / ".b").rename(tmp_path / "b")
        assert next(results) == "two"
