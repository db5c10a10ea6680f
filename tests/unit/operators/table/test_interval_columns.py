"""Interval joins on columns give the results of those on rows, and restore the state of both."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.unit.operators.table.driving import Driven, check

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_join_specs import IntervalJoin, JoinSide
from headrace.operators.table import interval_columns
from headrace.operators.table.interval_columns import ColumnIntervalJoinOperator
from headrace.operators.table.interval_join import IntervalJoinOperator
from headrace.types import logical_types as t

KEYS = ((0,), (0,))
FIELDS = tuple(
    t.RowField(name, kind) for name, kind in (("k", t.VarCharType()), ("t", t.TimestampType(3)), ("v", t.BigIntType()))
)
FAR = 1 << 41
"""Milliseconds that are too far from 0 for the columns."""


class Different:
    """The third columns differ."""

    def pair(self, left, right):
        return left[2] != right[2]

    def columns(self, batch):
        import pyarrow.compute as pc

        return batch.filter(pc.not_equal(batch.column(2), batch.column(5)))


def spec(columns=True, lower=-10, upper=20, condition=None):
    sides = JoinSide((0,), 3, time=1), JoinSide((0,), 3, time=1)
    typed = {"types": (t.RowType(FIELDS),) * 2, "output_type": t.RowType(FIELDS + FIELDS)} if columns else {}
    return IntervalJoin("INNER", *sides, lower, upper, condition=condition, **typed)


def row(key, milliseconds, value):
    return (key, milliseconds * 1000, value)


def test_which_form_is_used():
    assert type(Driven(spec(), *KEYS).operators[0]) is ColumnIntervalJoinOperator
    assert type(Driven(spec(columns=False), *KEYS).operators[0]) is IntervalJoinOperator


def test_rows_of_an_interval_meet_and_leave_no_state():
    a, b = row("k", 100, 1), row("k", 120, 2)
    right = row("k", 89, 3), row("k", 90, 4), row("k", 120, 5), row("k", 121, 6)
    script = [
        (("left", a), []),
        (("right", *right), [a + right[1], a + right[2]]),
        (("left", b), [b + right[2], b + right[3]]),
        (("left", row(None, 100, 7)), []),
        (("right", row(None, 100, 8)), []),
        (("watermark", 300), []),
    ]
    check(spec(), KEYS, script, left=0)


def test_times_that_do_not_fit_continue_in_rows():
    a, b = row("k", 100, 1), row("k", FAR, 2)
    x, y = row("k", 101, 3), row("k", FAR, 4)
    script = [
        (("left", a), []),
        (("left", b), []),
        (("right", x, y), [a + x, b + y]),
        (("right", row("l", FAR, 5)), []),
        (("left", row("l", FAR, 6)), [row("l", FAR, 6) + row("l", FAR, 5)]),
        (("watermark", MAX_WATERMARK), []),
    ]
    check(spec(), KEYS, script, left=0)


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["left", "right"]),
            st.lists(
                st.tuples(st.sampled_from("abc"), st.integers(-30, 30), st.integers(0, 3)), min_size=1, max_size=9
            ),
        ),
        st.tuples(st.just("watermark"), st.integers(0, 25)),
    ),
    max_size=14,
)


def play(driven, steps, newest_only, restarts=()):
    """Return what each step emits. Times are relative to the watermark; with `newest_only`, no row is late."""
    now, results = 0, []
    for number, (kind, what) in enumerate(steps):
        if number in restarts:
            driven.restart(1 + number % 2)
        if kind == "watermark":
            now += what
            driven.to(now)
            results.append([])
        else:
            rows = [row(k, now + (abs(time) + 1 if newest_only else time), value) for k, time, value in what]
            results.append(sorted(getattr(driven, kind)(*rows)) if newest_only else getattr(driven, kind)(*rows))
    return results


@settings(max_examples=60, deadline=None)
@given(STEPS, st.booleans(), st.sampled_from([(-10, 20), (5, 8), (-8, -5), (0, 0)]))
def test_columns_like_rows(steps, conditional, bounds):
    """Results and their order are the same, late rows included."""
    condition = Different() if conditional else None
    forms = [Driven(spec(columns, *bounds, condition), *KEYS) for columns in (False, True)]
    assert play(forms[0], steps, False) == play(forms[1], steps, False)
    forms[1].to(MAX_WATERMARK)
    assert forms[1].entries() == 0


@settings(max_examples=40, deadline=None)
@given(STEPS, st.sets(st.integers(0, 13)))
@example([("left", [("a", 0, 0)]), ("left", [("a", 0, 0)]), ("right", [("a", 0, 0)])], {0, 1, 2})
def test_restarts_change_nothing(steps, restarts):
    forms = [Driven(spec(), *KEYS) for _ in range(2)]
    assert play(forms[0], steps, True) == play(forms[1], steps, True, restarts)


@pytest.mark.parametrize("forms", [(False, True), (True, False)], ids=["rows to columns", "columns to rows"])
def test_each_form_reads_the_state_of_the_other(forms):
    driven = Driven(spec(forms[0]), *KEYS)
    rows = [row(key, 100 + i, i) for i in range(5) for key in "abc"]
    driven.left(*rows)
    driven.right(row("a", 102, 9))
    if forms[0]:
        driven.backend = "disk without memory"
    else:
        driven.spec = spec(True)
    driven.restart(2)
    assert isinstance(driven.operators[0], ColumnIntervalJoinOperator)
    assert sorted(driven.right(row("b", 102, 8))) == [r + row("b", 102, 8) for r in rows if r[0] == "b"]
    assert driven.left(row("a", 103, 7)) == [row("a", 103, 7) + row("a", 102, 9)]
    driven.restart(1)
    assert driven.left(row("a", 104, 6)) == [row("a", 104, 6) + row("a", 102, 9)]
    driven.to(1000)
    assert driven.entries() == 0


def test_many_entries_become_few_and_unused_keys_are_forgotten(monkeypatch):
    monkeypatch.setattr(interval_columns, "_MANY_ENTRIES", 8)
    monkeypatch.setattr(interval_columns, "_MANY_KEYS", 4)
    driven = Driven(spec(), *KEYS)
    operator = driven.operators[0]
    kept = []
    for i in range(100):
        driven.left(row("x", 1000 + i, i), row(f"k{i}", i, i))
        kept.append(row("x", 1000 + i, i))
        operator.end_epoch()
        driven.to(i)
    assert driven.entries() < 80
    assert len(operator._slots) < 80
    driven.restart()
    assert driven.right(row("x", 1100, 0)) == [r + row("x", 1100, 0) for r in kept if r[1] >= 1_080_000]
