"""Sort and limit."""

from tests.unit.operators.table.driving import check

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_sort_specs import Limit, Sort, TemporalSort
from headrace.graph.table_specs import SortOrder

I, UB, UA, D = range(4)  # noqa: E741
KEYS = ((),)


def test_rows_are_sorted_as_the_watermark_passes():
    spec = TemporalSort(0, (SortOrder(0), SortOrder(1, descending=True)))
    script = [
        (("left", (2000, "a"), (1000, "b"), (2000, "c")), []),
        (("watermark", 1), [(1000, "b")]),
        (("left", (1000, "late"), (1500, "late")), []),
        (("watermark", 5), [(2000, "c"), (2000, "a")]),
    ]
    check(spec, KEYS, script, left=1)


def test_processing_time_sorts_each_millisecond():
    spec = TemporalSort(0, (SortOrder(0), SortOrder(1)), event_time=False)
    script = [
        (("left", (None, "b"), (None, "a")), []),
        (("clock", 1), [(None, "a"), (None, "b")]),
        (("clock", 2), []),
    ]
    check(spec, KEYS, script, left=0)


def test_a_bounded_input_is_sorted_at_its_end():
    order = (SortOrder(0, nulls_first=False), SortOrder(1, descending=True))
    rows = [(2, "a"), (None, "b"), (1, "c"), (2, "d")]
    in_order = [(1, "c"), (2, "d"), (2, "a"), (None, "b")]
    script = [(("left", *rows), []), (("watermark", 7), []), (("watermark", MAX_WATERMARK), in_order)]
    check(Sort(order), KEYS, script, left=0)
    check(Sort(order, 1, 2), KEYS, [*script[:2], (script[2][0], in_order[1:3])], left=0)


def test_a_limit_forgets_rows_that_cannot_be_among_the_first():
    rows = [(i,) for i in range(5000)]
    script = [(("left", *rows), []), (("left", *rows[:3]), []), (("watermark", MAX_WATERMARK), [(0,), (1,), (1,)])]
    check(Sort((SortOrder(0),), 1, 3), KEYS, script, left=0)


def test_changes_are_applied_before_the_sort():
    script = [
        (("left", (2, I), (1, I), (2, UB), (3, UA)), []),
        (("watermark", MAX_WATERMARK), [(1, I), (3, I)]),
    ]
    check(Sort((SortOrder(0),), kinds=True), KEYS, script, left=0)


def test_limit_passes_the_first_rows():
    script = [
        (("left", (1,), (2,)), [(2,)]),
        (("left", (3,), (4,)), [(3,)]),
        (("left", (5,)), []),
    ]
    check(Limit(1, 2), KEYS, script, left=1)
    check(Limit(3, None), KEYS, [(script[0][0], []), (script[1][0], [(4,)]), (script[2][0], [(5,)])])
