"""Rows as columns and back, for every type; packed for the exchange."""

from __future__ import annotations

import pickle
from decimal import Decimal

import pytest

from headrace.operators.table.batches import TableColumns, is_columnar
from headrace.types import logical_types as t
from headrace.types.sql_map import SqlMap

VALUES = [
    (t.BooleanType(), True),
    (t.TinyIntType(), -128),
    (t.SmallIntType(), 300),
    (t.IntType(), -(2**31)),
    (t.BigIntType(), 2**63 - 1),
    (t.FloatType(), 0.5),
    (t.DoubleType(), 0.1),
    (t.DecimalType(10, 2), Decimal("12.30")),
    (t.DecimalType(38, 18), Decimal("1.000000000000000001")),
    (t.CharType(3), "abc"),
    (t.VarCharType(), "ä€😀"),
    (t.BinaryType(2), b"\0\1"),
    (t.VarBinaryType(), b""),
    (t.DateType(), 19000),
    (t.TimeType(3), 86_399_999),
    (t.TimestampType(6), -1),
    (t.LocalZonedTimestampType(3), 1_700_000_000_000_000),
    (t.YearMonthIntervalType(), 14),
    (t.DayTimeIntervalType(), -5),
    (t.ArrayType(t.IntType()), (1, None)),
    (t.ArrayType(t.ArrayType(t.VarCharType())), (("a",), None, ())),
    (t.MapType(t.VarCharType(), t.IntType()), SqlMap(a=1, b=None)),
    (t.MultisetType(t.VarCharType()), SqlMap(a=2)),
    (t.RowType((t.RowField("a", t.IntType()), t.RowField("a", t.ArrayType(t.IntType())))), (1, (2,))),
    (t.MapType(t.IntType(), t.RowType((t.RowField("x", t.MapType(t.IntType(), t.IntType())),))), SqlMap({1: (SqlMap(),)})),
    (t.NullType(), None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), VALUES)
@pytest.mark.parametrize("kinds", [False, True])
def test_round_trip(kind, value, kinds):
    rows = [(value, *([2] if kinds else [])), (None, *([3] if kinds else []))]
    run = TableColumns(t.RowType((t.RowField("x", kind),)), kinds).run(rows)
    back = pickle.loads(pickle.dumps(run))
    assert list(back) == rows
    assert [type(v) for v in back[0]] == [type(v) for v in rows[0]]
    assert list(pickle.loads(pickle.dumps(run[1:]))) == rows[1:]


def test_no_columns():
    run = TableColumns(t.RowType(())).run([(), ()])
    assert list(pickle.loads(pickle.dumps(run))) == [(), ()]


def test_raw_values_have_no_columns():
    assert not is_columnar(t.RowType((t.RowField("x", t.ArrayType(t.RawType())),)))
