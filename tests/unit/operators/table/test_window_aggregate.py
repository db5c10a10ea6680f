"""Window aggregation: TUMBLE, HOP, CUMULATE and SESSION against a model, state, time zones, processing time."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.operators.table.aggregate_calls import call

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.graph.table_specs import TableKey, TimeWindow, WindowAggregate, WindowTable
from headrace.operators.table.batches import TableColumns
from headrace.operators.table.column_sessions import ColumnSessionOperator
from headrace.operators.table.column_windows import ColumnWindowOperator
from headrace.testing import OperatorHarness
from headrace.types import logical_types as t

INSERT, BEFORE, AFTER, DELETE = range(4)
MS = 1000
WINDOWS = [
    TimeWindow("TUMBLE", 10),
    TimeWindow("TUMBLE", 10, offset=3),
    TimeWindow("HOP", 10, 5),
    TimeWindow("HOP", 12, 8, offset=1),
    TimeWindow("HOP", 4, 10),
    TimeWindow("CUMULATE", 12, 4),
    TimeWindow("CUMULATE", 12, 3, offset=-1),
    TimeWindow("SESSION", 5),
]
CALLS = (call("COUNT"), call("SUM", 2), call("MAX", 2), call("LISTAGG", 3, type=t.VarCharType()))


def windows_of(window, time):
    """All windows (start, end) of a time, by definition."""
    size, slide, offset = window.size, window.slide, window.offset
    if window.kind == "TUMBLE":
        slide = size
    if window.kind == "CUMULATE":
        start = time - (time - offset) % size
        return [(start, end) for end in range(start + slide, start + size + 1, slide) if end > time]
    last = time - (time - offset) % slide
    return [(start, start + size) for start in range(last, time - size, -slide)]


class Model:
    """Rows of each window and key that has not fired."""

    def __init__(self, window):
        self.window, self.live, self.late, self.mark = window, {}, 0, MIN_TIMESTAMP

    def row(self, row):
        time, key = row[0] // MS, row[1]
        if self.window.kind == "SESSION":
            return self.session(row, time, key)
        windows = windows_of(self.window, time)
        open_ones = [each for each in windows if each[1] - 1 > self.mark]
        self.late += bool(windows) and not open_ones
        for each in open_ones:
            self.live.setdefault((key, *each), []).append(row)

    def session(self, row, time, key):
        start, end, rows = time, time + self.window.size, []
        for other in sorted(k for k in self.live if k[0] == key):
            if other[1] <= end and other[2] >= start:
                rows += self.live[other]
        touching = [k for k in self.live if k[0] == key and k[1] <= time + self.window.size and k[2] >= time]
        start = min([start, *(k[1] for k in touching)])
        end = max([end, *(k[2] for k in touching)])
        if end - 1 <= self.mark:
            self.late += 1
            return
        rows = [r for k in sorted(touching) for r in self.live.pop(k)]
        self.live[key, start, end] = [*rows, row]

    def watermark(self, mark):
        self.mark = mark
        due = [each for each in self.live if each[2] - 1 <= mark]
        return [self.result(each, self.live.pop(each)) for each in due]

    def result(self, window, rows):
        key, start, end = window
        values = [row[2] for row in rows if row[2] is not None]
        total = sum(values) if values else None
        return key, len(rows), total, max(values, default=None), tuple(sorted(r[3] for r in rows)), start * MS, end * MS


def sorted_results(output):
    rows = [value for value, _ in (each for each in output if each[0] != "watermark")]
    return sorted(((*row[:4], tuple(sorted(row[4].split(","))), *row[5:]) for row in rows), key=repr)


events = st.lists(
    st.one_of(
        st.tuples(st.integers(-30, 60), st.sampled_from("abc"), st.one_of(st.none(), st.integers(-5, 5))),
        st.integers(-30, 70),
        st.just("snapshot"),
    ),
    max_size=40,
)


ROWS = t.RowType(
    (
        t.RowField("at", t.TimestampType(3)),
        t.RowField("k", t.VarCharType()),
        t.RowField("v", t.BigIntType()),
        t.RowField("passed", t.BooleanType()),
        t.RowField("k2", t.IntType()),
    )
)
COLUMN_CALLS = (
    call("COUNT"),
    call("COUNT", 2),
    call("SUM", 2),
    call("AVG", 2, filter=3),
    call("MIN", 2),
    call("MAX", 2, filter=3),
    call("COUNT", filter=3),
)
runs = st.lists(
    st.tuples(
        st.integers(-30, 60).map(lambda ms: ms * MS),
        st.sampled_from(["a", "b", None]),
        st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
        st.sampled_from([True, False, None]),
        st.integers(0, 2),
    ),
    min_size=1,
    max_size=40,
)
OUT = t.RowType(
    (
        *(t.RowField(f"{i}", kind) for i, kind in enumerate((t.VarCharType(), t.IntType(), *[t.BigIntType()] * 7))),
        t.RowField("start", t.TimestampType(3)),
        t.RowField("end", t.TimestampType(3)),
    )
)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(runs, st.integers(-30, 70), st.just("snapshot")), max_size=12))
def test_columns_like_rows(window, steps):
    with patch("headrace.operators.table.column_sessions.SMALL", 1):
        compare_columns_with_rows(window, steps)


def compare_columns_with_rows(window, steps):
    """Runs of columns, runs of rows, snapshots in between: always the same results and the same state."""
    harnesses = [
        OperatorHarness(WindowAggregate(window, 0, (1, 4), COLUMN_CALLS, **types), TableKey((1, 4)))
        for types in ({}, {"types": (ROWS,), "output_type": OUT})
    ]
    assert isinstance(harnesses[1].operator, (ColumnWindowOperator, ColumnSessionOperator))
    mark = MIN_TIMESTAMP
    for step in steps:
        if step == "snapshot":
            rows, columns = (h.snapshot() for h in harnesses)
            for name in ("slices", "sessions"):
                one, other = ([e for g in s.keyed.get(name, {}).values() for e in g] for s in (rows, columns))
                if name == "sessions":  # those of a key have no order
                    one, other = ([(key, sorted(sessions)) for key, sessions in each] for each in (one, other))
                assert sorted(one, key=repr) == sorted(other, key=repr)
            harnesses = [
                OperatorHarness(h.operator.spec, TableKey((1, 4)), state=state)
                for h, state in zip(harnesses, (rows, columns))
            ]
        elif isinstance(step, int):
            if step > mark:
                mark = step
                for h in harnesses:
                    h.process_watermark(step)
        elif step:
            harnesses[0].operator.process_batch(step, None, None)
            harnesses[1].operator.process_batch(TableColumns(ROWS).run(step) if len(step) % 2 else step, None, None)
        first, second = (sorted(results(h), key=repr) for h in harnesses)
        assert first == second
    for h in harnesses:
        h.process_watermark(MAX_WATERMARK)
        h.end_epoch()
    assert sorted(results(harnesses[0]), key=repr) == sorted(results(harnesses[1]), key=repr)
    assert harnesses[0].operator.late_dropped == harnesses[1].operator.late_dropped
    assert not any(table.data for table in harnesses[1]._context.keyed_state._tables.values())


@pytest.mark.parametrize("window", WINDOWS, ids=str)
@settings(max_examples=30, deadline=None)
@given(events)
def test_like_the_model(window, steps):
    spec = WindowAggregate(window, 0, (1,), CALLS)
    h, model, dropped = OperatorHarness(spec, TableKey((1,))), Model(window), 0
    mark = MIN_TIMESTAMP
    for number, step in enumerate(steps):
        if step == "snapshot":
            dropped += h.operator.late_dropped
            h = OperatorHarness(spec, TableKey((1,)), state=h.snapshot())
        elif isinstance(step, int):
            if step > mark:
                mark = step
                h.process_watermark(step)
                assert sorted_results(h.take_output()) == sorted(model.watermark(step), key=repr)
        else:
            row = (step[0] * MS, step[1], step[2], str(number))
            h.process_element(row)
            model.row(row)
    h.process_watermark(MAX_WATERMARK)
    assert sorted_results(h.take_output()) == sorted(model.watermark(MAX_WATERMARK), key=repr)
    assert h.operator.late_dropped + dropped == model.late
    h.end_epoch()
    assert not any(table.data for table in h._context.keyed_state._tables.values())


def results(h):
    return [value for value, _ in (each for each in h.take_output() if each[0] != "watermark")]


def test_windows_fire_in_the_order_of_their_ends():
    h = OperatorHarness(WindowAggregate(TimeWindow("HOP", 10, 5), 0, (1,), CALLS[:1]), TableKey((1,)))
    for time in (17, 1):
        h.process_element((time * MS, "a"))
    h.process_watermark(MAX_WATERMARK)
    assert [row[2] // MS for row in results(h)] == [-5, 0, 10, 15]


def test_retractions():
    calls = (call("COUNT"), call("MAX", 2, kinds=True))
    h = OperatorHarness(WindowAggregate(TimeWindow("TUMBLE", 10), 0, (1,), calls, kinds=True), TableKey((1,)))
    for row in [
        (0, "a", 1, INSERT),
        (0, "a", 7, INSERT),
        (0, "b", 1, INSERT),
        (0, "a", 7, BEFORE),
        (0, "b", 1, DELETE),
    ]:
        h.process_element(row)
    h.process_watermark(9)
    assert results(h) == [("a", 1, 1, 0, 10_000)]


def test_attached_windows():
    spec = WindowAggregate(TimeWindow("HOP", 10, 5), 0, (1,), CALLS[:1], attached=(2, 3))
    h = OperatorHarness(spec, TableKey((1,)))
    for row in [(1, "a", 0, 10 * MS), (1, "a", -5 * MS, 5 * MS), (2, "a", 0, 10 * MS)]:
        h.process_element(row)
    h.process_watermark(4)
    assert results(h) == [("a", 1, -5 * MS, 5 * MS)]
    h.process_element((1, "a", -5 * MS, 5 * MS))
    assert h.operator.late_dropped == 1
    h = OperatorHarness(spec, TableKey((1,)), state=h.snapshot())
    h.process_watermark(MAX_WATERMARK)
    assert results(h) == [("a", 2, 0, 10 * MS)]


DAY, HOUR = 86_400_000, 3_600_000


def test_days_of_a_time_zone():
    """A day of Berlin begins at 23:00 UTC, and the day on which clocks go back has 25 hours."""
    spec = WindowAggregate(
        TimeWindow("TUMBLE", DAY),
        0,
        (1,),
        CALLS[:1],
        ("start", "end", "rowtime"),
        time_zone="Europe/Berlin",
        local=False,
    )
    h = OperatorHarness(spec, TableKey((1,)))
    begin = 1_761_429_600_000  # 2025-10-26 00:00 in Berlin
    assert begin % DAY == 22 * HOUR
    h.process_element((begin * MS, "a"))
    h.process_element(((begin + 25 * HOUR - 1) * MS, "a"))
    h.process_element(((begin + 25 * HOUR) * MS, "a"))
    h.process_watermark(begin + 25 * HOUR - 2)
    assert results(h) == []
    h.process_watermark(begin + 25 * HOUR - 1)
    local = (begin + 2 * HOUR) * MS
    assert results(h) == [("a", 2, local, local + DAY * MS, (begin + 25 * HOUR - 1) * MS)]


def test_processing_time():
    spec = WindowAggregate(TimeWindow("TUMBLE", 10), 0, (1,), CALLS[:1], event_time=False)
    h = OperatorHarness(spec, TableKey((1,)), clock=3)
    h.process_element((None, "a"))
    assert h.operator.next_processing_timer() == 9
    h.process_watermark(100)
    assert results(h) == []
    h.set_processing_time(9)
    assert results(h) == [("a", 1, 0, 10 * MS)]
    assert h.operator.next_processing_timer() is None


def test_windows_of_rows():
    spec = WindowAggregate(TimeWindow("TUMBLE", 3, 2), 0, (1,), (call("SUM", 2),), (), by_rows=True, event_time=False)
    h = OperatorHarness(spec, TableKey((1,)))
    for i in range(1, 8):
        h.process_element((0, "a", i))
    assert results(h) == [("a", 6), ("a", 12), ("a", 18)]


def table_rows(spec, rows, marks=(), clock=0):
    h = OperatorHarness(spec, TableKey(spec.partition_by) if spec.partition_by else None, clock=clock)
    for row in rows:
        h.process_element(row)
    for mark in marks:
        h.process_watermark(mark)
    return results(h)


def test_window_table():
    assert table_rows(WindowTable(TimeWindow("TUMBLE", 10), 0), [(3 * MS, "x")]) == [(3 * MS, "x", 0, 10 * MS, 9 * MS)]
    assert table_rows(WindowTable(TimeWindow("HOP", 10, 5), 0, kinds=True), [(3 * MS, AFTER)]) == [
        (3 * MS, 0, 10 * MS, 9 * MS, AFTER),
        (3 * MS, -5 * MS, 5 * MS, 4 * MS, AFTER),
    ]
    processing = WindowTable(TimeWindow("TUMBLE", 10), 0, event_time=False)
    assert table_rows(processing, [(None,)], clock=25) == [(None, 20 * MS, 30 * MS, 29 * MS)]


def test_session_table():
    row_type = t.RowType((t.RowField("at", t.TimestampType(3)), t.RowField("k", t.VarCharType())))
    spec = WindowTable(TimeWindow("SESSION", 5), 0, partition_by=(1,), types=(row_type,))
    rows = [(1 * MS, "a"), (8 * MS, "a"), (4 * MS, "a"), (9 * MS, "b")]
    assert table_rows(spec, rows, [12]) == [
        (1 * MS, "a", 1 * MS, 13 * MS, 12 * MS),
        (8 * MS, "a", 1 * MS, 13 * MS, 12 * MS),
        (4 * MS, "a", 1 * MS, 13 * MS, 12 * MS),
    ]
