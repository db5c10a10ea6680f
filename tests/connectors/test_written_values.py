"""What values become in files of bulk formats, as Flink's writers make it: quoted, rounded, padded, null, or refused."""

from __future__ import annotations

import datetime
import io
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from headrace.common import Configuration, Row
from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.common.serialization import BulkWriterFactory
from headrace.common.time import Instant
from headrace.connectors.base.split_reader import ReaderContext
from headrace.datastream.connectors.file_system import FileSource
from headrace.datastream.formats.avro import AvroSchema
from headrace.datastream.formats.csv import CsvBulkWriters, CsvSchema
from headrace.datastream.formats.orc import OrcBulkWriters
from headrace.datastream.formats.parquet import (
    AvroParquetReaders,
    AvroParquetWriters,
    ParquetBulkWriters,
    ParquetColumnarRowInputFormat,
)
from headrace.formats.row_columns import RowColumns
from headrace.table import DataTypes

ROWS = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT()), DataTypes.FIELD("name", DataTypes.STRING())])


def written(writers: BulkWriterFactory, *elements: Any) -> bytes:
    """A file, made by a writer that has travelled to a worker."""
    stream = io.BytesIO()
    writer = pickle.loads(pickle.dumps(writers)).create(stream)
    for element in elements:
        writer.add_element(element)
    writer.finish()
    return stream.getvalue()


def written_csv(schema: Any, *rows: Row) -> list[str]:
    return written(CsvBulkWriters.for_schema(schema), *rows).decode().splitlines()


def written_table(writers: Any, read: Any, *rows: Row) -> Any:
    return read(io.BytesIO(written(writers, *rows)))


NESTED = AvroSchema.parse_string("""{"type": "record", "name": "r", "fields": [
    {"name": "nothing", "type": "null"},
    {"name": "point", "type": {"type": "record", "name": "p", "fields": [
        {"name": "x", "type": "int"}, {"name": "void", "type": {"type": "null"}}, {"name": "y", "type": ["null", "int"]}]}},
    {"name": "maybe", "type": ["null", "p"]},
    {"name": "points", "type": {"type": "array", "items": "p"}},
    {"name": "by_name", "type": {"type": "map", "values": ["null", "p"]}},
    {"name": "number", "type": ["int", "double", "null"]},
    {"name": "mixed", "type": {"type": "array", "items": ["long", "string", "boolean", "p",
        {"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 1}]}}]}""")
"""Records in records, and unions."""


def point(x: int, y: int | None = None) -> dict[str, Any]:
    return {"x": x, "void": None, "y": y}


def test_records_of_avro_are_written_to_parquet_and_read_again(tmp_path: Path) -> None:
    records = [
        {
            "nothing": None,
            "point": point(1, 2),
            "maybe": None if number is None else point(3),
            "points": [point(4, 5), point(6)],
            "by_name": {"a": point(7), "b": None},
            "number": number,
            "mixed": [2**40, "text", True, point(8), Decimal("1.5")],
        }
        for number in (1, 2.5, None, 2**40)
    ]
    path = tmp_path / "records.parquet"
    path.write_bytes(written(AvroParquetWriters.for_generic_record(NESTED), *records))
    table = pq.read_table(path)
    assert table.column_names == ["point", "maybe", "points", "by_name", "number", "mixed"]
    groups = [(1, None), (None, 2.5), None, (None, float(2**40))]
    assert table["number"].to_pylist() == [
        None if group is None else dict(zip(("member0", "member1"), group)) for group in groups
    ]
    assert table["point"][0].as_py() == {"x": 1, "y": 2}
    source = FileSource.for_record_stream_format(AvroParquetReaders.for_generic_record(NESTED), str(path)).build()
    reads = pickle.loads(pickle.dumps(source.get_definition()))
    (split,) = reads.enumerator().start(1)
    assert reads.open_reader(split, None, ReaderContext()).read(10, 0).values == records


@pytest.mark.parametrize("wrong", [{"point": None}, {"point": {"y": 1}}, {"number": "text"}, {"points": 5}])
def test_a_record_that_does_not_fit_its_avro_schema(wrong: dict[str, Any]) -> None:
    record = {"point": point(1), "points": [], "by_name": {}, "mixed": []}
    writer = AvroParquetWriters.for_generic_record(NESTED).create(io.BytesIO())
    writer.add_element(record)
    with pytest.raises(TypeMismatchError, match="The record does not match its Avro schema"):
        writer.add_element({**record, **wrong})


@pytest.mark.parametrize(
    ("precision", "scale", "answers"),
    [
        (2, 0, {"1.5": "2", "99.5": "", "-2.5": "-3", "100": "", "10": "1E+1"}),
        (5, 2, {"1.5": "1.5", "1.005": "1.01", "1": "1", "-1.005": "-1.01", "100": "1E+2", "0.001": "0", "1E+3": ""}),
        (38, 0, {"12345678901234567890123456789012345678": "12345678901234567890123456789012345678"}),
    ],
)
def test_decimal_numbers_are_written_to_csv_as_flink_writes_them(
    precision: int, scale: int, answers: dict[str, str]
) -> None:
    kind = DataTypes.DECIMAL(precision, scale)
    schema = CsvSchema.builder().add_number_column("d", kind).add_array_column("a", element_type=kind).build()
    rows = [Row(Decimal(text), [None, Decimal(text)]) for text in answers]
    written = [f'{text},";{text}"' if len(text) > 24 or "+" in text else f"{text},;{text}" for text in answers.values()]
    assert written_csv(schema, *rows) == written
    for wrong in ("x", float("nan"), True):
        with pytest.raises(TypeMismatchError, match="Could not write a row as CSV: not a"):
            written_csv(schema, Row(wrong, None))


TEXTS = [
    "hello",
    "World-1",
    "x y",
    "#z",
    "A+B",
    "q" * 24,
    "m_n",
    "q" * 25,
    "7",
    "é",
    "",
    "-5",
    "a\\b",
    "\U0001f600" * 13,
]
EMOJI = f'"{TEXTS[-1]}"'
QUOTED = {
    ",": ["hello", "World-1", '"x y"', '"#z"', '"A+B"', TEXTS[5], "m_n", f'"{TEXTS[7]}"', "7", "é", "", "-5"],
    ";": ["hello", '"World-1"', '"x y"', '"#z"', '"A+B"', TEXTS[5], "m_n", f'"{TEXTS[7]}"', '"7"', "é", "", '"-5"'],
    "|": [text if text in ("", "é") else f'"{text}"' for text in TEXTS[:12]],
    "\t": ["hello", "World-1", '"x y"', "#z", "A+B", TEXTS[5], "m_n", f'"{TEXTS[7]}"', "7", "é", "", "-5"],
    "a": ["hello", '"World-1"', '"x y"', '"#z"', '"A+B"', TEXTS[5], '"m_n"', f'"{TEXTS[7]}"', '"7"', "é", "", '"-5"'],
}


@pytest.mark.parametrize("separator", QUOTED)
def test_texts_of_csv_are_quoted_as_flink_quotes_them(separator: str) -> None:
    schema = CsvSchema.builder().add_string_column("a").add_string_column("b").set_column_separator(separator).build()
    expected = [*QUOTED[separator], '"a\\b"', EMOJI]
    assert written_csv(schema, *[Row(text, None) for text in TEXTS]) == [text + separator for text in expected]


@pytest.mark.parametrize(
    ("separator", "header", "line"),
    [
        ("|", '"i"|"d"|"de"|"b"|"a"|"a_name_of_thirty_letters_xxxxx"', '5|-1.5|2.25|true|"1;2;3"|"z"'),
        (";", 'i;d;de;b;a;"a_name_of_thirty_letters_xxxxx"', '5;-1.5;2.25;true;"1;2;3";z'),
        (",", 'i,d,de,b,a,"a_name_of_thirty_letters_xxxxx"', "5,-1.5,2.25,true,1;2;3,z"),
    ],
)
def test_numbers_and_truth_values_of_csv_are_never_quoted(separator: str, header: str, line: str) -> None:
    numbers = CsvSchema.builder().add_number_column("i", DataTypes.INT()).add_number_column("d", DataTypes.DOUBLE())
    numbers.add_number_column("de", DataTypes.DECIMAL(5, 2)).add_boolean_column("b")
    schema = numbers.add_array_column("a", element_type=DataTypes.INT()).set_use_header()
    schema.add_string_column("a_name_of_thirty_letters_xxxxx").set_column_separator(separator)
    row = Row(5, -1.5, Decimal("2.250"), True, [1, 2, 3], "z")
    assert written_csv(schema.build(), row) == [header, line]


def test_quote_escape_and_line_end_of_csv_count_for_quoting() -> None:
    def two() -> Any:
        return CsvSchema.builder().add_string_column("a").add_string_column("b")

    row = Row("string", "string2")
    assert written_csv(two().set_column_separator("|").build(), row) == ['"string"|"string2"']
    assert written_csv(two().set_quote_char("`").set_column_separator("|").build(), row) == ["`string`|`string2`"]
    escaped = two().set_escape_char("!").build()
    assert written_csv(escaped, Row("a!b", "c\\d"), Row('x"y', "z")) == ['"a!!b",c\\d', '"x""y",z']
    assert written_csv(two().set_escape_char("~").build(), Row("a~b", "c\\d")) == ['"a~~b",c\\d']
    assert written_csv(two().set_line_separator("Z").build(), Row("hello", "World")) == ['hello,"World"Z']
    assert written_csv(two().set_null_value("n l").build(), Row(None, "c")) == ["n l,c"]
    assert written_csv(two().disable_quote_char().build(), Row("a b", '"c"')) == ['a b,"c"']


COLUMNAR = pytest.mark.parametrize(
    ("writers", "read"),
    [(ParquetBulkWriters.for_row_type, pq.read_table), (OrcBulkWriters.for_row_type, orc.read_table)],
    ids=["parquet", "orc"],
)


@COLUMNAR
def test_decimal_numbers_are_rounded_to_their_column(writers: Any, read: Any) -> None:
    kind = DataTypes.DECIMAL(2, 0)
    rows = DataTypes.ROW([DataTypes.FIELD("d", kind), DataTypes.FIELD("a", DataTypes.ARRAY(kind))])
    numbers = [Decimal(text) for text in ("1.5", "-2.5", "99.4", "99.5", "100", "7")]
    expected = [Decimal(2), Decimal(-3), Decimal(99), None, None, Decimal(7)]
    table = written_table(writers(rows), read, *[Row(number, [number]) for number in numbers])
    assert table["d"].to_pylist() == expected
    assert table["a"].to_pylist() == [[number] for number in expected]
    with pytest.raises(
        TypeMismatchError, match="field 'd' does not have the type of its column: not a decimal number: 'x'"
    ):
        written_table(writers(rows), read, Row("x", []))


@COLUMNAR
def test_points_in_time_are_instants_or_have_a_time_zone(writers: Any, read: Any) -> None:
    rows = DataTypes.ROW([DataTypes.FIELD("z", DataTypes.TIMESTAMP_LTZ(3))])
    moment = datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc)
    elsewhere = moment.astimezone(datetime.timezone(datetime.timedelta(hours=2)))
    table = written_table(writers(rows), read, Row(Instant(1, 0)), Row(moment), Row(elsewhere))
    assert table["z"].to_pylist() == [moment] * 3


@COLUMNAR
def test_a_null_in_a_column_without_nulls_is_refused(writers: Any, read: Any) -> None:
    rows = DataTypes.ROW([DataTypes.FIELD("d", DataTypes.DECIMAL(2, 0, nullable=False))])
    assert written_table(writers(rows), read, Row(Decimal("1.5")))["d"].to_pylist() == [2]
    for wrong in (Decimal(100), None):
        with pytest.raises(
            TypeMismatchError, match=r"(?s)column 'd' is NOT NULL and has a null value.*too many digits"
        ):
            written_table(writers(rows), read, Row(wrong))


def test_properties_of_orc_are_a_configuration_or_a_dict() -> None:
    for properties, compression in (({"orc.compress": "ZSTD"}, "ZSTD"), ({"orc.compress": "NONE"}, "UNCOMPRESSED")):
        for given in (properties, Configuration.from_dict(properties)):
            file = written_table(OrcBulkWriters.for_row_type(ROWS, given), orc.ORCFile, Row(1, "a"))
            assert file.compression == compression
    with pytest.raises(InvalidProgramError, match="Unknown ORC property"):
        OrcBulkWriters.for_row_type(ROWS, Configuration().set_string("orc.nothing", "1"))


@COLUMNAR
def test_texts_of_char_have_blanks_in_orc_files(writers: Any, read: Any) -> None:
    kind, length = DataTypes.CHAR(10), 10 if read is orc.read_table else 0
    fields = {"c": kind, "v": DataTypes.VARCHAR(10), "a": DataTypes.ARRAY(kind), "m": DataTypes.MAP(kind, kind)}
    rows = DataTypes.ROW([DataTypes.FIELD(name, part) for name, part in fields.items()])
    table = written_table(writers(rows), read, Row("char", "var", ["ü", None], {"k": "v"}), Row(None, None, None, None))
    text = "char".ljust(length)
    assert table["c"].to_pylist() == [text, None]
    assert table["v"].to_pylist() == ["var", None]
    assert table["a"].to_pylist() == [["ü".ljust(length), None], None]
    assert table["m"].to_pylist() == [[("k".ljust(length), "v".ljust(length))], None]
    columns = DataTypes.ROW([DataTypes.FIELD("c", kind)])
    writer = writers(columns).create(io.BytesIO())
    assert writer.add_columns(RowColumns(columns).run([("char",)])) == (length == 0), "only rows are padded"
    with pytest.raises(TypeMismatchError, match="field 'c' does not have the type of its column"):
        written_table(writers(columns), read, Row(5))


@pytest.mark.parametrize(
    "make",
    [ParquetBulkWriters.for_row_type, ParquetColumnarRowInputFormat, OrcBulkWriters.for_row_type],
    ids=["parquet sink", "parquet source", "orc sink"],
)
def test_a_hadoop_configuration_may_be_there_if_it_says_nothing(make: Any) -> None:
    assert make(ROWS, hadoop_config=Configuration()) is not None
    with pytest.raises(InvalidProgramError, match=r"(?s)without Hadoop.*a.b.*remove hadoop_config"):
        make(ROWS, hadoop_config=Configuration().set_string("a.b", "c"))
