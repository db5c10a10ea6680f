"""The connector datagen: sequences, random values, limits, and the same rows after a restart."""

from __future__ import annotations

import pytest

from headrace.connectors.base.split_reader import ReaderContext
from headrace.table.connectors.base import ConnectorContext
from headrace.table.connectors.datagen import FACTORY, GeneratedRows
from headrace.table.errors import SqlValidationError
from headrace.types import logical_types as t


def made(fields, **options):
    row_type = t.RowType(tuple(t.RowField(name, kind) for name, kind in fields.items()), is_nullable=False)
    given = {"connector": "datagen", **{key.replace("_", "."): value for key, value in options.items()}}
    given = {key.replace("null.rate", "null-rate").replace("var.len", "var-len"): value for key, value in given.items()}
    if "rows" in given:
        given["number-of-rows"] = given.pop("rows")
    table = FACTORY.source(ConnectorContext(("t",), row_type, {"rows-per-second": "1000000000", **given}))
    return GeneratedRows(table.row_type, table.generators, table.count, table.rate)


def read(source, parallelism=1, limit=1000, position=None, subtask=None):
    found = []
    for index, split in enumerate(source.splits(parallelism)):
        if subtask is not None and index != subtask:
            continue
        reader = source.open_reader(split, position, ReaderContext(index, parallelism))
        now = 0
        while not reader.finished:
            found += list(reader.read(limit, now).values)
            now += 10
    return found


def test_sequences_are_dealt_to_subtasks_in_turn():
    source = made({"i": t.BigIntType()}, fields_i_kind="sequence", fields_i_start="5", fields_i_end="9")
    assert read(source) == [(5,), (6,), (7,), (8,), (9,)]
    assert read(source, 2, subtask=0) == [(5,), (7,), (9,)] and read(source, 2, subtask=1) == [(6,), (8,)]
    assert source.bounded


def test_sequences_of_other_types_and_as_columns():
    fields = {"a": t.IntType(), "b": t.VarCharType(), "c": t.DecimalType(5, 1), "d": t.DoubleType()}
    bounds = {
        f"fields_{name}_{key}": value
        for name in fields
        for key, value in (("kind", "sequence"), ("start", "1"), ("end", "500"))
    }
    rows = read(made(fields, **bounds))
    assert len(rows) == 500 and [str(value) for value in rows[-1]] == ["500", "500", "500.0", "500.0"]


def test_a_restart_reads_the_same_rows():
    fields = {"i": t.IntType(), "s": t.VarCharType(), "b": t.BooleanType(), "f": t.FloatType()}
    source = made(fields, rows="3000", fields_i_null_rate="0.5")
    rows = read(source)
    assert read(source, limit=7) == rows
    assert read(source, position=1500) == rows[1500:]
    assert any(row[0] is None for row in rows) and any(row[0] is not None for row in rows)


def test_bounds_and_lengths():
    fields = {
        "i": t.SmallIntType(),
        "s": t.VarCharType(8),
        "c": t.CharType(3),
        "v": t.VarCharType(),
        "d": t.DecimalType(4, 2),
    }
    rows = read(
        made(
            fields,
            rows="200",
            fields_i_min="3",
            fields_i_max="5",
            fields_v_length="10",
            fields_d_min="1",
            fields_d_max="2",
        )
    )
    assert {row[0] for row in rows} == {3, 4, 5}
    assert {(len(row[1]), len(row[2]), len(row[3])) for row in rows} == {(8, 3, 10)}
    assert all(1 <= row[4] <= 2 and row[4].as_tuple().exponent == -2 for row in rows)


def test_the_rate_is_an_average():
    source = made({"i": t.IntType()})
    reader = GeneratedRows(source.row_type, source.generators, None, 100).open_reader(
        source.splits(1)[0], None, ReaderContext()
    )
    assert [len(reader.read(1000, now).values) for now in (0, 5, 1000, 1000)] == [1, 0, 100, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fields_i_kind": "sequence"}, "required property 'fields.i.start'"),
        ({"fields_i_kind": "sequence", "fields_i_start": "2", "fields_i_end": "1"}, "below"),
        ({"fields_i_start": "2"}, "for sequences"),
        ({"fields_i_min": "9", "fields_i_max": "1"}, "below"),
        ({"fields_i_min": "x"}, "is an integer"),
        ({"fields_j_min": "1"}, "names no column"),
        ({"fields_i_kind": "sequenc"}, "did you mean 'sequence'"),
        ({"fields_i_null_rate": "2"}, "from 0 to 1"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(SqlValidationError) as raised:
        made({"i": t.IntType()}, **options)
    assert message in str(raised.value)


def test_lengths_must_fit_the_schema():
    with pytest.raises(SqlValidationError, match="shorter than '3'"):
        made({"s": t.VarCharType(3)}, fields_s_length="4")
