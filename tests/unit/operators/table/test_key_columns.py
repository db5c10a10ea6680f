"""Key groups of columns equal those of each key, for every type of column and any number of them."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.graph.table_specs import TableKey
from headrace.operators.table.batches import TableColumns
from headrace.operators.table.key_columns import key_groups
from headrace.state.key_groups import key_group
from headrace.state.opaque_key import filed_keys
from headrace.types import logical_types as t
from headrace.types.sql_map import SqlMap


def integers(bits):
    return st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


SCALARS = {
    t.BooleanType(): st.booleans(),
    t.TinyIntType(): integers(8),
    t.SmallIntType(): integers(16),
    t.IntType(): integers(32),
    t.BigIntType(): integers(64),
    t.FloatType(): st.floats(width=32),
    t.DoubleType(): st.floats(),
    t.DecimalType(20, 3): st.integers(-(10**19), 10**19).map(lambda i: Decimal(i).scaleb(-3)),
    t.VarCharType(): st.text(st.characters(exclude_categories=("Cs",))),
    t.CharType(4): st.text("abc", max_size=40),
    t.VarBinaryType(): st.binary(),
    t.DateType(): integers(32),
    t.TimestampType(3): integers(64),
    t.LocalZonedTimestampType(6): integers(64),
    t.DayTimeIntervalType(): integers(64),
    t.NullType(): st.none(),
}
TYPES = {
    **SCALARS,
    t.ArrayType(t.IntType()): st.lists(st.one_of(st.none(), integers(32))).map(tuple),
    t.RowType((t.RowField("a", t.IntType()), t.RowField("b", t.VarCharType()))): st.tuples(integers(32), st.text("ä")),
    t.MapType(t.VarCharType(), t.BigIntType()): st.dictionaries(st.text("ab"), integers(64)).map(SqlMap),
    t.MultisetType(t.IntType()): st.dictionaries(integers(32), st.integers(1, 3)).map(SqlMap),
}


@st.composite
def tables(draw):
    types = draw(st.lists(st.sampled_from(list(TYPES)), max_size=3))
    rows = draw(st.lists(st.tuples(*[st.one_of(st.none(), TYPES[kind]) for kind in types]), min_size=1, max_size=20))
    return types, rows


@settings(max_examples=200, deadline=None)
@given(tables(), st.sampled_from([1, 128, 4096]), st.integers(0, 3))
def test_equal_to_the_groups_of_rows(table, groups, skipped):
    types, rows = table
    codec = TableColumns(t.RowType(tuple(t.RowField("f", kind) for kind in types)))
    run = codec.run(rows)[min(skipped, len(rows) - 1) :]
    key = TableKey(tuple(range(len(types))))
    expected = [key_group(each, groups) for each in filed_keys([key(row) for row in run.rows()])]
    assert key_groups(run.columns.columns, len(run), groups).tolist() == expected
