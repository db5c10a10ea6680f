"""JSON and CSV give what Flink 2.3's schemas give: the answers in `answers/` were printed by them."""

from __future__ import annotations

import ast
import datetime
import decimal
import pickle
from array import array
from pathlib import Path
from typing import Any

import pytest

from headrace.common import Row, Types
from headrace.common.errors import BadRecordError, HeadraceError, InvalidProgramError, TypeMismatchError
from headrace.common.time import Instant
from headrace.datastream.formats.csv import CsvRowDeserializationSchema, CsvRowSerializationSchema
from headrace.datastream.formats.json import JsonRowDeserializationSchema, JsonRowSerializationSchema

ANSWERS = Path(__file__).parent / "answers"
TYPES: dict[str, Any] = {
    "BOOLEAN": Types.BOOLEAN(),
    "STRING": Types.STRING(),
    "BYTE": Types.BYTE(),
    "SHORT": Types.SHORT(),
    "INT": Types.INT(),
    "LONG": Types.LONG(),
    "FLOAT": Types.FLOAT(),
    "DOUBLE": Types.DOUBLE(),
    "BIG_DEC": Types.BIG_DEC(),
    "BIG_INT": Types.BIG_INT(),
    "SQL_DATE": Types.SQL_DATE(),
    "SQL_TIME": Types.SQL_TIME(),
    "SQL_TIMESTAMP": Types.SQL_TIMESTAMP(),
    "INSTANT": Types.INSTANT(),
    "BYTES": Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "PARR_INT": Types.PRIMITIVE_ARRAY(Types.INT()),
    "MAP": Types.MAP(Types.STRING(), Types.INT()),
}
JSON_TYPES = {
    **TYPES,
    "OARR": Types.OBJECT_ARRAY(Types.STRING()),
    "BARR": Types.BASIC_ARRAY(Types.LONG()),
    "LIST": Types.LIST(Types.INT()),
    "ROW": Types.ROW_NAMED(["x"], [Types.INT()]),
}
CSV_TYPES = {
    **TYPES,
    "OARR": Types.OBJECT_ARRAY(Types.INT()),
    "BARR": Types.BASIC_ARRAY(Types.INT()),
    "ROW": Types.ROW_NAMED(["x", "y"], [Types.INT(), Types.STRING()]),
}


def lines(name: str) -> list[list[str]]:
    return [line.split("\t") for line in (ANSWERS / f"{name}.tsv").read_text().splitlines()]


def narrow(number: float) -> float:
    return float(array("f", (number,))[0])


def matches(value: Any, answer: str) -> bool:
    """Whether a value is what Flink printed: `kind:value` of its Java object."""
    if answer == "null":
        return value is None
    kind, _, text = answer.partition(":")
    if kind in ("bool", "int", "str", "bytes"):
        return type(value).__name__ == kind and repr(value) == text
    if kind == "float":
        return isinstance(value, float) and (repr(value) == text or value == narrow(float(text)))
    if kind.startswith("Decimal"):
        return isinstance(value, decimal.Decimal) and value == decimal.Decimal(answer[9:-2])
    if kind == "BigInteger":
        return type(value) is int and value == int(text)
    if kind == "Date":
        return type(value) is datetime.date and str(value) == text
    if kind == "Time":
        return isinstance(value, datetime.time) and str(value) == text
    if kind == "Timestamp":
        return isinstance(value, datetime.datetime) and value == datetime.datetime.fromisoformat(
            text.removesuffix(".0")
        )
    if kind == "Instant":
        moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
        return isinstance(value, Instant) and value.to_epoch_milli() == round(moment.timestamp() * 1000)
    if kind in ("array", "ArrayList"):
        return isinstance(value, (list, array))
    if kind == "HashMap":
        return (
            isinstance(value, dict)
            and text == "{" + ", ".join(f"{k}={'null' if v is None else v}" for k, v in value.items()) + "}"
        )
    if kind == "Row":
        return (
            isinstance(value, Row) and text == "+I[" + ", ".join("null" if v is None else str(v) for v in value) + "]"
        )
    raise AssertionError(f"unknown answer {answer}")


def fields(row: Any, answers: str) -> bool:
    if answers == "None":
        return row is None
    parts = answers.split(" | ")
    return len(row) == len(parts) and all(map(matches, row, parts))


@pytest.mark.parametrize(("kind", "text", "answer"), lines("json_values"))
def test_a_json_value_is_read_as_flink_reads_it(kind: str, text: str, answer: str) -> None:
    schema = JsonRowDeserializationSchema.builder().type_info(Types.ROW_NAMED(["f"], [JSON_TYPES[kind]])).build()
    message = f'{{"f":{text}}}'.encode()
    if answer == "refused":
        with pytest.raises(BadRecordError):
            schema.deserialize(message)
    else:
        row = schema.deserialize(message)
        assert matches(row[0], answer), row


TWO = Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()])


@pytest.mark.parametrize(("settings", "text", "answer"), lines("json_documents"))
def test_a_json_document_is_read_as_flink_reads_it(settings: str, text: str, answer: str) -> None:
    builder = JsonRowDeserializationSchema.builder().type_info(TWO)
    if settings == "missing":
        builder.fail_on_missing_field()
    if settings == "ignore":
        builder.ignore_parse_errors()
    schema = pickle.loads(pickle.dumps(builder.build()))
    if answer == "refused":
        with pytest.raises(BadRecordError, match="not JSON of the declared type"):
            schema.deserialize(text.encode())
    else:
        assert fields(schema.deserialize(text.encode()), answer)


def test_json_in_broken_utf_8_is_refused() -> None:
    schema = JsonRowDeserializationSchema.builder().type_info(TWO).build()
    with pytest.raises(BadRecordError):
        schema.deserialize(b'{"a":1,"b":"\xff"}')


@pytest.mark.parametrize(
    ("kind", "value", "written"),
    [
        ("INT", 5, "5"),
        ("DOUBLE", 1.0, "1.0"),
        ("DOUBLE", 1e21, "1.0E21"),
        ("DOUBLE", float("nan"), '"NaN"'),
        ("STRING", 'a"b\\c\nü\u2028/', '"a\\"b\\\\c\\nü\u2028/"'),
        ("STRING", "\x01\U0001f600\x1f", '"\\u0001\\uD83D\\uDE00\\u001F"'),
        ("BOOLEAN", True, "true"),
        ("STRING", None, "null"),
        ("BIG_DEC", decimal.Decimal("1.50"), "1.50"),
        ("BIG_DEC", decimal.Decimal("1E+3"), "1000"),
        ("BIG_INT", 123456789012345678901234567890, "123456789012345678901234567890"),
        ("SQL_DATE", datetime.date(2020, 1, 2), '"2020-01-02"'),
        ("SQL_TIME", datetime.time(3, 4, 5), '"03:04:05Z"'),
        ("SQL_TIMESTAMP", datetime.datetime(2020, 1, 2, 3, 4, 5, 123000), '"2020-01-02T03:04:05.123Z"'),
        ("SQL_TIMESTAMP", datetime.datetime(2020, 1, 2, 3, 4, 5), '"2020-01-02T03:04:05Z"'),
        ("INSTANT", Instant(1577934245, 123_000_000), '"2020-01-02T03:04:05.123Z"'),
        ("BYTES", b"abc", '"YWJj"'),
        ("ROW", Row(1), '{"x":1}'),
        ("LIST", [1, None], "[1,null]"),
        ("MAP", {"k": 1, "n": None}, '{"k":1,"n":null}'),
    ],
)
def test_json_is_written_as_flink_writes_it(kind: str, value: Any, written: str) -> None:
    schema = JsonRowSerializationSchema.builder().with_type_info(Types.ROW_NAMED(["f"], [JSON_TYPES[kind]])).build()
    assert pickle.loads(pickle.dumps(schema)).serialize(Row(value)) == f'{{"f":{written}}}'.encode()


def test_json_refuses_rows_of_another_type() -> None:
    schema = JsonRowSerializationSchema.builder().with_type_info(TWO).build()
    assert schema.serialize(Row(1, "b", "more")) == b'{"a":1,"b":"b"}'
    for wrong in (Row(1), Row("x", "y"), Row(True, "y"), None.__class__, 5):
        with pytest.raises(TypeMismatchError, match="Could not serialize a row as JSON"):
            schema.serialize(wrong)


def test_json_builders_refuse_what_is_incomplete() -> None:
    with pytest.raises(InvalidProgramError, match="needs a type"):
        JsonRowDeserializationSchema.builder().build()
    with pytest.raises(TypeError, match="needs a type"):
        JsonRowSerializationSchema.builder().build()
    with pytest.raises(InvalidProgramError, match="not both"):
        JsonRowDeserializationSchema.builder().type_info(TWO).ignore_parse_errors().fail_on_missing_field().build()
    with pytest.raises(TypeError, match="JSON objects need a row type"):
        JsonRowDeserializationSchema.builder().type_info(Types.STRING())  # type: ignore[arg-type]


# -- CSV --------------------------------------------------------------------------------------------------------------

THREE = Types.ROW_NAMED(["a", "b", "c"], [Types.INT(), Types.STRING(), Types.DOUBLE()])
READERS = {
    "plain": lambda b: b,
    "ignore": lambda b: b.set_ignore_parse_errors(True),
    "null": lambda b: b.set_null_literal("null"),
    "comments": lambda b: b.set_allow_comments(True),
    "semi": lambda b: b.set_field_delimiter(";"),
    "quote": lambda b: b.set_quote_character("'"),
    "esc": lambda b: b.set_escape_character("\\"),
}


def check(schema: Any, text: str, answer: str) -> None:
    message = ast.literal_eval(text).encode()
    if answer == "refused":
        with pytest.raises(BadRecordError):
            schema.deserialize(message)
    else:
        row = schema.deserialize(message)
        assert fields(row, answer), row


@pytest.mark.parametrize(("settings", "text", "answer"), lines("csv_lines"))
def test_a_csv_line_is_read_as_flink_reads_it(settings: str, text: str, answer: str) -> None:
    schema = READERS[settings](CsvRowDeserializationSchema.Builder(THREE)).build()
    check(pickle.loads(pickle.dumps(schema)), text, answer)


@pytest.mark.parametrize(("kind", "text", "answer"), lines("csv_values"))
def test_a_csv_value_is_read_as_flink_reads_it(kind: str, text: str, answer: str) -> None:
    check(CsvRowDeserializationSchema.Builder(Types.ROW_NAMED(["f"], [CSV_TYPES[kind]])).build(), text, answer)


WRITERS = {
    "plain": lambda b: b,
    "nq": lambda b: b.disable_quote_character(),
    "null": lambda b: b.set_null_literal("NULL"),
    "line": lambda b: b.set_line_delimiter("\n"),
    "noline": lambda b: b.set_line_delimiter(""),
    "semi": lambda b: b.set_field_delimiter(";"),
    "q": lambda b: b.set_quote_character("'"),
    "esc": lambda b: b.set_escape_character("\\"),
}


@pytest.mark.parametrize(("settings", "row", "written"), lines("csv_written"))
def test_csv_is_written_as_flink_writes_it(settings: str, row: str, written: str) -> None:
    schema = WRITERS[settings](CsvRowSerializationSchema.Builder(THREE)).build()
    values = eval(row, {"nan": float("nan")})
    assert pickle.loads(pickle.dumps(schema)).serialize(Row(*values)) == ast.literal_eval(written)


@pytest.mark.parametrize(
    ("kind", "value", "written"),
    [
        ("SQL_DATE", datetime.date(2020, 1, 2), "2020-01-02"),
        ("SQL_TIME", datetime.time(3, 4, 5), "03:04:05"),
        ("SQL_TIMESTAMP", datetime.datetime(2020, 1, 2, 3, 4, 5, 123000), '"2020-01-02 03:04:05.123"'),
        ("SQL_TIMESTAMP", datetime.datetime(2020, 1, 2, 3, 4, 5), '"2020-01-02 03:04:05.0"'),
        ("INSTANT", Instant(1577934245, 123_000_000), '"2020-01-02 03:04:05.123Z"'),
        ("BYTES", b"abc", "YWJj"),
        ("BIG_DEC", decimal.Decimal("1.50"), "1.50"),
        ("BOOLEAN", True, "true"),
        ("ROW", Row(1, None), "1;"),
        ("OARR", [1, None, 3], "1;;3"),
        ("STRING", None, ""),
    ],
)
def test_csv_values_are_written_as_flink_writes_them(kind: str, value: Any, written: str) -> None:
    row_type = Types.ROW_NAMED(["f", "g"], [CSV_TYPES[kind], Types.INT()])
    assert CsvRowSerializationSchema.Builder(row_type).build().serialize(Row(value, 1)) == f"{written},1\n".encode()


def test_csv_of_messages_is_quoted_by_its_own_characters() -> None:
    row_type = Types.ROW_NAMED(["a", "b", "c"], [Types.STRING(), Types.STRING(), Types.STRING()])
    builder = CsvRowSerializationSchema.Builder(row_type).set_field_delimiter(";").set_quote_character("'")
    assert builder.build().serialize(Row("BEGIN", "1:hello", "END")) == b"BEGIN;'1:hello';END\n"
    kinds = Types.ROW_NAMED(["a", "b"], [Types.BIG_DEC(), Types.SQL_DATE()])
    bars = CsvRowSerializationSchema.Builder(kinds).set_field_delimiter("|").build()
    assert bars.serialize(Row(decimal.Decimal("1.50"), datetime.date(2020, 1, 2))) == b'1.50|"2020-01-02"\n'


def test_csv_refusals() -> None:
    for kind in ("MAP",):
        with pytest.raises(InvalidProgramError, match="CSV"):
            CsvRowDeserializationSchema.Builder(Types.ROW_NAMED(["f"], [CSV_TYPES[kind]])).build()
        with pytest.raises(InvalidProgramError, match="CSV"):
            CsvRowSerializationSchema.Builder(Types.ROW_NAMED(["f"], [CSV_TYPES[kind]])).build()
    with pytest.raises(TypeMismatchError, match="3 fields expected but was 1"):
        CsvRowSerializationSchema.Builder(THREE).build().serialize(Row(1))
    with pytest.raises(HeadraceError):
        CsvRowDeserializationSchema.Builder(Types.INT())  # type: ignore[arg-type]
    with pytest.raises(HeadraceError, match="one character"):
        CsvRowDeserializationSchema.Builder(THREE).set_field_delimiter("--")
