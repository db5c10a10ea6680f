"""GROUP BY: the changes that each row emits, as Flink's; mini-batch, batch mode, retractions, state."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.operators.table.aggregate_calls import call

from headrace.graph.table_specs import GroupAggregate, TableKey
from headrace.operators.table.batches import TableColumns
from headrace.operators.table.column_groups import ColumnGroupOperator
from headrace.testing import OperatorHarness
from headrace.types import logical_types as t

INSERT, BEFORE, AFTER, DELETE = range(4)
KEY = TableKey((0,))


def harness(*calls, keys=(0,), state=None, batch=False, clock=0, **options):
    spec = GroupAggregate(keys, calls, batch=batch, **options)
    return OperatorHarness(spec, TableKey(keys), state=state, batch=batch, clock=clock)


def changes(h, *rows):
    """What the rows emit."""
    for row in rows:
        h.process_element(row)
    return [value for value, _ in h.take_output()]


def test_each_row_emits_its_change():
    h = harness(call("COUNT"), call("SUM", 1))
    assert changes(h, ("a", 1), ("b", 5), ("a", 2)) == [
        ("a", 1, 1, INSERT),
        ("b", 1, 5, INSERT),
        ("a", 1, 1, BEFORE),
        ("a", 2, 3, AFTER),
    ]


def test_an_unchanged_result_emits_nothing_without_ttl():
    assert changes(harness(call("MAX", 1)), ("a", 5), ("a", 3)) == [("a", 5, INSERT)]
    with_ttl = harness(call("MAX", 1), ttl=1000)
    assert changes(with_ttl, ("a", 5), ("a", 3)) == [("a", 5, INSERT), ("a", 5, BEFORE), ("a", 5, AFTER)]


def test_without_update_before():
    h = harness(call("COUNT"), update_before=False)
    assert changes(h, ("a", 1), ("a", 2)) == [("a", 1, INSERT), ("a", 2, AFTER)]


def test_retractions_delete_the_group():
    h = harness(call("SUM", 1, kinds=True), call("MIN", 1, kinds=True), kinds=True)
    assert changes(h, ("a", 4, INSERT), ("a", 2, INSERT), ("a", 2, DELETE), ("a", 4, BEFORE), ("a", 4, DELETE)) == [
        ("a", 4, 4, INSERT),
        ("a", 4, 4, BEFORE),
        ("a", 6, 2, AFTER),
        ("a", 6, 2, BEFORE),
        ("a", 4, 4, AFTER),
        ("a", 4, 4, DELETE),
    ]


def test_a_sum_of_nulls_is_null_after_the_last_value_left():
    h = harness(call("SUM", 1, kinds=True), kinds=True)
    assert changes(h, ("a", None, INSERT), ("a", 3, INSERT), ("a", 3, DELETE)) == [
        ("a", None, INSERT), ("a", None, BEFORE), ("a", 3, AFTER), ("a", 3, BEFORE), ("a", None, AFTER),
    ]  # fmt: skip


@pytest.mark.parametrize("kinds", [False, True])
def test_distinct_and_filter(kinds):
    h = harness(
        call("COUNT", 1, kinds=kinds, distinct=True),
        call("SUM", 1, kinds=kinds, distinct=True),
        call("SUM", 1, kinds=kinds, filter=2),
        kinds=kinds,
    )
    end = (INSERT,) if kinds else ()
    rows = [("a", 1, True, *end), ("a", 1, None, *end), ("a", 2, False, *end), ("a", 2, True, *end)]
    assert [c for c in changes(h, *rows) if c[-1] != BEFORE] == [
        ("a", 1, 1, 1, INSERT), ("a", 2, 3, 1, AFTER), ("a", 2, 3, 3, AFTER),
    ]  # fmt: skip
    if kinds:
        rows = [("a", 1, True, DELETE), ("a", 1, None, DELETE)]
        assert [c for c in changes(h, *rows) if c[-1] != BEFORE] == [("a", 2, 3, 2, AFTER), ("a", 1, 2, 2, AFTER)]


def test_mini_batch_emits_once_per_group():
    h = harness(call("COUNT"), mini_batch=True, kinds=True)
    h.operator.process_batch(
        [("a", 0, DELETE), ("a", 1, INSERT), ("b", 1, INSERT), ("a", 1, INSERT), ("b", 1, DELETE)], None, list("aabab")
    )
    assert [value for value, _ in h.take_output()] == [("a", 2, INSERT)]
    h.operator.process_batch([("a", 1, DELETE), ("a", 1, INSERT)], None, ["a", "a"])
    assert h.take_output() == []
    h.operator.process_batch([("a", 1, DELETE), ("a", 1, DELETE)], None, ["a", "a"])
    assert [value for value, _ in h.take_output()] == [("a", 2, DELETE)]


def test_without_keys():
    h = harness(call("COUNT"), keys=())
    assert changes(h, (1,), (2,)) == [(1, INSERT), (1, BEFORE), (2, AFTER)]


def test_batch_emits_at_the_end():
    h = harness(call("SUM", 1), batch=True, emits_kinds=False)
    assert changes(h, ("a", 1), ("b", 5), ("a", 2)) == []
    h.end_input()
    assert [each for each in h.output if each[0] != "watermark"] == [(("a", 3), None), (("b", 5), None)]
    empty = harness(call("COUNT"), call("SUM", 1), keys=(), batch=True, emits_kinds=False)
    empty.end_input()
    assert empty.output[0] == ((0, None), None)


def test_select_distinct():
    h = harness(emits_kinds=False)
    assert changes(h, ("a",), ("a",), ("b",)) == [("a",), ("b",)]


def test_continues_from_a_snapshot():
    calls = call("SUM", 1), call("COUNT", 1, distinct=True)
    first = harness(*calls)
    changes(first, ("a", 1))
    second = harness(*calls, state=first.snapshot())
    assert changes(second, ("a", 1)) == [("a", 1, 1, BEFORE), ("a", 2, 1, AFTER)]


def test_state_expires():
    h = harness(call("COUNT"), ttl=1000)
    assert changes(h, ("a", 1)) == [("a", 1, INSERT)]
    h.set_processing_time(1000)
    assert changes(h, ("a", 1)) == [("a", 1, INSERT)]


def test_nan_is_one_key():
    h = harness(call("COUNT"))
    nan = float("nan")
    assert [c[1:] for c in changes(h, (nan, 1), (float("nan"), 1))] == [(1, INSERT), (1, BEFORE), (2, AFTER)]


TYPE = t.RowType(
    tuple(t.RowField(f"f{i}", kind) for i, kind in enumerate((t.VarCharType(), t.BigIntType(), t.BooleanType())))
)
COLUMN_CALLS = (
    call("COUNT"),
    call("COUNT", 1),
    call("SUM", 1),
    call("AVG", 1, filter=2),
    call("MIN", 1),
    call("MAX", 1, filter=2),
)
runs = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", None]),
        st.one_of(st.none(), st.integers(-5, 5), st.sampled_from([-(2**63), 2**63 - 1])),
        st.sampled_from([True, False, None]),
    ),
    min_size=1,
    max_size=30,
)


@pytest.mark.parametrize("keys", [(0,), (0, 2), ()])
@pytest.mark.parametrize(
    "options", [{}, {"update_before": False}, {"mini_batch": True}, {"batch": True, "emits_kinds": False}]
)
@settings(max_examples=15, deadline=None)
@given(st.lists(runs, max_size=4), st.booleans())
def test_columns_like_rows(keys, options, batches, some):
    """Changes, their order and the state are those of rows, with runs of rows in between."""
    calls = COLUMN_CALLS if some else COLUMN_CALLS[4:]
    kinds = [TYPE.fields[key].data_type for key in keys] + [t.BigIntType()] * len(calls)
    out = t.RowType(tuple(t.RowField("f", kind) for kind in kinds))
    rows = harness(*calls, keys=keys, **options)
    columns = harness(*calls, keys=keys, types=(TYPE,), output_type=out, **options)
    assert isinstance(columns.operator, ColumnGroupOperator)
    with patch("headrace.operators.table.column_groups.SMALL", 1):
        for batch in batches:
            rows.operator.process_batch(batch, None, None)
            columns.operator.process_batch(TableColumns(TYPE).run(batch) if len(batch) % 3 else batch, None, None)
            assert columns.take_output() == rows.take_output()
    states = [h.snapshot().keyed.get("accumulators", {}) for h in (rows, columns)]
    assert sorted(map(repr, states[0].items())) == sorted(map(repr, states[1].items()))
    for h in (rows, columns):
        h.end_input()
    assert columns.output == rows.output


def test_average_of_the_smallest_sum_on_columns():
    """Sums that wrap around to the smallest number are divided as on rows."""
    kind = t.RowType((t.RowField("f0", t.VarCharType()), t.RowField("f1", t.BigIntType())))
    out = t.RowType((t.RowField("f0", t.VarCharType()), t.RowField("f1", t.BigIntType())))
    rows = harness(call("AVG", 1), keys=(0,))
    columns = harness(call("AVG", 1), keys=(0,), types=(kind,), output_type=out)
    assert isinstance(columns.operator, ColumnGroupOperator)
    batch = [("a", 1), ("a", 2**63 - 1), ("a", 0), ("b", -7), ("b", 2)]
    with patch("headrace.operators.table.column_groups.SMALL", 1):
        rows.operator.process_batch(batch, None, None)
        columns.operator.process_batch(TableColumns(kind).run(batch), None, None)
    taken = columns.take_output()
    assert taken == rows.take_output()
    assert ("a", -3074457345618258602) in [value[:2] for value, _ in taken]
