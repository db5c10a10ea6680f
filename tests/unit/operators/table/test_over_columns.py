"""OVER on columns gives the same results, and leaves the same state, as row by row."""

import random

import pytest
from tests.unit.operators.table.driving import Driven

from headrace.graph.table_specs import AggregateSpec, ColumnAggregate, OverAggregate, OverFrame
from headrace.operators.table.over_columns import ColumnOverOperator
from headrace.table.functions.aggregates.counts import CountRows, CountValues
from headrace.table.functions.aggregates.extremes import Maximum, Minimum
from headrace.table.functions.aggregates.sums import Sum
from headrace.types import logical_types as t

pytest.importorskip("pyarrow")

FIELDS = (t.VarCharType(), t.BigIntType(), t.BigIntType(), t.IntType(), t.BooleanType())
CALLS = (
    AggregateSpec(CountRows(), (), columns=ColumnAggregate("COUNT"), name="COUNT"),
    AggregateSpec(CountValues(), (2,), columns=ColumnAggregate("COUNT"), name="COUNT"),
    AggregateSpec(Sum(t.BigIntType()), (2,), columns=ColumnAggregate("SUM", "int64"), name="SUM"),
    AggregateSpec(Sum(t.IntType()), (3,), columns=ColumnAggregate("SUM", "int32"), name="SUM"),
    AggregateSpec(Minimum(), (2,), columns=ColumnAggregate("MIN", "int64"), name="MIN"),
    AggregateSpec(Maximum(), (3,), 4, columns=ColumnAggregate("MAX", "int32"), name="MAX"),
    AggregateSpec(Maximum(), (2,), columns=ColumnAggregate("MAX", "int64"), name="MAX"),
)
RESULTS = (*[t.BigIntType()] * 3, t.IntType(), t.BigIntType(), t.IntType(), t.BigIntType())


def row_type(types):
    return t.RowType(tuple(t.RowField(f"f{i}", kind) for i, kind in enumerate(types)))


def spec(keys, columns):
    types = {"types": (row_type(FIELDS),), "output_type": row_type((*FIELDS, *RESULTS))} if columns else {}
    return OverAggregate(keys, 2, OverFrame(True, None), CALLS, event_time=False, **types)


def some_rows(chance, count):
    def number(limit):
        return None if chance.random() < 0.2 else chance.randint(-limit, limit)

    return [
        (
            chance.choice(["a", "b", "ä", None]),
            chance.choice([1, 2, None]),
            number(chance.choice([5, 1 << 62])),
            number((1 << 31) - 1),
            chance.choice([True, False, None]),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("keys", [(0,), (1,), (0, 1), (1, 4, 0)])
@pytest.mark.parametrize("seed", range(8))
def test_columns_and_rows_agree(keys, seed):
    chance = random.Random(seed)
    on_columns, on_rows = Driven(spec(keys, True), keys), Driven(spec(keys, False), keys)
    assert isinstance(on_columns.operators[0], ColumnOverOperator)
    codec = on_columns.operators[0]._taken
    for _ in range(6):
        rows = some_rows(chance, chance.randint(1, 40))
        on_columns.operators[0].process_batch(codec.run(rows), None, None)
        assert on_columns.take() == on_rows.left(*rows)
        if chance.random() < 0.5:
            on_columns.restart()
    assert on_columns.entries() == on_rows.entries()
    on_columns.spec = on_rows.spec  # the row form continues from the state of the columns
    on_columns.restart()
    rows = some_rows(chance, 20)
    assert on_columns.left(*rows) == on_rows.left(*rows)


def test_on_disk_rows_are_processed_one_by_one():
    driven, on_rows = Driven(spec((0,), True), (0,), backend="disk"), Driven(spec((0,), False), (0,))
    rows = some_rows(random.Random(1), 30)
    assert driven.left(*rows) == on_rows.left(*rows)
    driven.restart()
    assert driven.left(*rows) == on_rows.left(*rows)
    driven.close()
