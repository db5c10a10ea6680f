"""OVER in event time, in processing time and in batch mode."""

import pytest
from tests.unit.operators.table.accumulations import Count, Largest, Last, Sum
from tests.unit.operators.table.driving import Driven, check

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.errors import InvalidProgramError
from headrace.graph.table_specs import AggregateSpec, OverAggregate, OverFrame, SortOrder
from headrace.operators.table.factory import create
from headrace.table.functions.aggregates.ranks import DenseRank, Lag, Rank, RowNumber

SUM, COUNT = AggregateSpec(Sum(), (2,), name="SUM"), AggregateSpec(Count(), (), name="COUNT")
LAST, MAX = AggregateSpec(Last(), (2,), name="LAST_VALUE"), AggregateSpec(Largest(), (2,), name="MAX")
KEYS = ((0,),)


def over(frame, *calls, **options):
    return OverAggregate((0,), 1, frame, calls or (SUM,), **options)


def row(key, milliseconds, value):
    return (key, milliseconds * 1000, value)


def result(key, milliseconds, value, *values):
    return (*row(key, milliseconds, value), *values)


def test_unbounded_rows_are_added_in_time_order_and_one_by_one():
    script = [
        (("left", row("a", 20, 2), row("a", 10, 1), row("b", 10, 7), row("a", 20, 3)), []),
        (("watermark", 9), []),
        (("watermark", 10), [result("a", 10, 1, 1, 1), result("b", 10, 7, 7, 1)]),
        (("left", row("a", 10, 9), row("a", 15, None)), []),
        (
            ("watermark", 30),
            [result("a", 15, None, 1, 2), result("a", 20, 2, 3, 3), result("a", 20, 3, 6, 4)],
        ),
    ]
    check(over(OverFrame(True, None), SUM, COUNT), KEYS, script, left=2)


def test_late_rows_of_unbounded_frames_are_counted():
    driven = Driven(over(OverFrame(True, None)), *KEYS)
    driven.to(10)
    driven.left(row("a", 10, 1), row("a", 11, 1))
    assert driven.operators[0].late_dropped == 1


def test_unbounded_range_sees_all_peers():
    script = [
        (("left", row("a", 20, 2), row("a", 10, 1), row("a", 20, 3)), []),
        (("watermark", 30), [result("a", 10, 1, 1), result("a", 20, 2, 6), result("a", 20, 3, 6)]),
    ]
    check(over(OverFrame(False, None)), KEYS, script)


@pytest.mark.parametrize("more", [(), (LAST,)])
def test_bounded_rows_slide(more):
    script = [
        (("left", row("a", 10, 1), row("a", 20, 2), row("a", 30, 4)), []),
        (
            ("watermark", 20),
            [result("a", 10, 1, 1, *([1] if more else [])), result("a", 20, 2, 3, *([2] if more else []))],
        ),
        (("left", row("a", 20, 9), row("a", 25, 16), row("b", 5, 5)), []),
        (
            ("watermark", 40),
            [
                result("b", 5, 5, 5, *([5] if more else [])),
                result("a", 25, 16, 18, *([16] if more else [])),
                result("a", 30, 4, 20, *([4] if more else [])),
            ],
        ),
    ]
    check(over(OverFrame(True, -1), SUM, *more), KEYS, script)


@pytest.mark.parametrize("more", [(), (MAX,)])
def test_bounded_range_slides_and_leaves_no_state(more):
    def out(milliseconds, value, total, largest):
        return result("a", milliseconds, value, total, *([largest] if more else []))

    script = [
        (("left", row("a", 1000, 1), row("a", 2000, 2), row("a", 2000, 3), row("a", 3000, 4)), []),
        (("watermark", 2000), [out(1000, 1, 1, 1), out(2000, 2, 6, 3), out(2000, 3, 6, 3)]),
        (("left", row("a", 2000, 100)), []),
        (("watermark", 3000), [out(3000, 4, 9, 4)]),
        (("watermark", 4500), []),
        (("watermark", 4501), []),
    ]
    check(over(OverFrame(False, -1000), SUM, *more), KEYS, script, left=0)


def test_filter_and_distinct():
    calls = (
        AggregateSpec(Sum(), (2,), distinct=True, name="SUM"),
        AggregateSpec(Count(), (), filter=3, name="COUNT"),
    )
    rows = [("a", 10_000, 5, True), ("a", 20_000, 5, None), ("a", 30_000, 1, False), ("a", 40_000, 1, True)]
    script = [
        (("left", *rows), []),
        (("watermark", 99), [(*rows[0], 5, 1), (*rows[1], 5, 1), (*rows[2], 6, 0), (*rows[3], 1, 1)]),
    ]
    check(over(OverFrame(True, -1), *calls), KEYS, script)


def test_functions_of_the_order():
    functions = {"ROW_NUMBER": RowNumber(), "RANK": Rank(), "DENSE_RANK": DenseRank()}
    calls = [AggregateSpec(function, (), name=name) for name, function in functions.items()]
    script = [
        (("left", row("a", 10, 1), row("a", 10, 2), row("a", 20, 3)), []),
        (("watermark", 99), [result("a", 10, 1, 2, 1, 1), result("a", 10, 2, 2, 1, 1), result("a", 20, 3, 3, 3, 2)]),
    ]
    check(over(OverFrame(False, None), *calls), KEYS, script)
    lag = AggregateSpec(Lag(), (2,), name="LAG")
    script[1] = (("watermark", 99), [result("a", 10, 1, None), result("a", 10, 2, 1), result("a", 20, 3, 2)])
    check(over(OverFrame(True, None), lag), KEYS, script)


def test_processing_time_emits_at_once():
    script = [
        (("left", row("a", 0, 1), row("b", 0, 5)), [result("a", 0, 1, 1), result("b", 0, 5, 5)]),
        (("left", row("a", 0, 2)), [result("a", 0, 2, 3)]),
        (("left", row("a", 0, 3)), [result("a", 0, 3, 6)]),
    ]
    check(over(OverFrame(True, None), event_time=False), KEYS, script, left=2)
    script[2] = (script[2][0], [result("a", 0, 3, 5)])
    check(over(OverFrame(True, -1), event_time=False), KEYS, script, left=2)


def test_a_range_of_processing_time_emits_after_its_millisecond_and_leaves_no_state():
    script = [
        (("left", row("a", 0, 1), row("a", 0, 2)), []),
        (("clock", 1), [result("a", 0, 1, 3), result("a", 0, 2, 3)]),
        (("clock", 10), []),
        (("left", row("a", 0, 4)), []),
        (("clock", 11), [result("a", 0, 4, 7)]),
        (("left", row("a", 0, 8)), []),
        (("clock", 12), [result("a", 0, 8, 12)]),
        (("clock", 30), []),
    ]
    check(over(OverFrame(False, -10), event_time=False), KEYS, script, left=0)


BATCH = [("a", 3, 1), ("a", 1, 2), ("a", 3, 4), ("a", None, 8), ("b", 1, 16)]


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (OverFrame(True, None, 0), [8, 10, 11, 15]),
        (OverFrame(False, None, 0), [8, 10, 15, 15]),
        (OverFrame(True, None, None), [15, 15, 15, 15]),
        (OverFrame(True, 0, None), [15, 7, 5, 4]),
        (OverFrame(True, -1, 1), [10, 11, 7, 5]),
        (OverFrame(True, 1, 2), [3, 5, 4, None]),
        (OverFrame(True, -2, -1), [None, 8, 10, 3]),
        (OverFrame(False, -2, 0), [8, 2, 7, 7]),
        (OverFrame(False, -1, 1), [8, 2, 5, 5]),
        (OverFrame(False, 0, 2), [8, 7, 5, 5]),
    ],
)
def test_batch_mode_knows_all_frames(frame, expected):
    spec = OverAggregate((0,), None, frame, (SUM,), order_by=(SortOrder(1),), batch=True)
    in_order = [BATCH[3], BATCH[1], BATCH[0], BATCH[2]]
    script = [
        (("left", *BATCH), []),
        (
            ("watermark", MAX_WATERMARK),
            [(*r, v) for r, v in zip(in_order, expected)]
            + [(*BATCH[4], 16 if (frame.start in (None, 0, -1) and frame.end != -1) or frame.end == 0 else None)],
        ),
    ]
    check(spec, KEYS, script, left=0)


def test_batch_mode_sorts_descending():
    spec = OverAggregate((0,), None, OverFrame(False, -2, 0), (SUM,), order_by=(SortOrder(1, True, False),), batch=True)
    results = [
        (("left", *BATCH[:4]), []),
        (("watermark", MAX_WATERMARK), [(*BATCH[0], 5), (*BATCH[2], 5), (*BATCH[1], 7), (*BATCH[3], 8)]),
    ]
    check(spec, KEYS, results, left=0)


def test_batch_mode_knows_functions_of_the_position():
    names = ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST")
    calls = [AggregateSpec(None, (), name=name) for name in names]
    calls += [
        AggregateSpec(None, (3,), name="NTILE"),
        AggregateSpec(None, (2, 4, 5), name="LAG"),
        AggregateSpec(None, (2,), name="LEAD"),
    ]
    spec = OverAggregate((0,), None, OverFrame(False, None), tuple(calls), order_by=(SortOrder(1),), batch=True)
    rows = [("a", time, value, 3, 2, -1) for _, time, value in BATCH[:4]]
    expected = [
        (*rows[3], 1, 1, 1, 0.0, 0.25, 1, -1, 2),
        (*rows[1], 2, 2, 2, 1 / 3, 0.5, 1, -1, 1),
        (*rows[0], 3, 3, 3, 2 / 3, 1.0, 2, 8, 4),
        (*rows[2], 4, 3, 3, 2 / 3, 1.0, 3, 2, None),
    ]
    check(spec, KEYS, [(("left", *rows), []), (("watermark", MAX_WATERMARK), expected)], left=0)


def test_a_frame_with_later_rows_needs_batch_mode():
    with pytest.raises(InvalidProgramError, match="must end at the current row"):
        create(over(OverFrame(True, None, 1)))
