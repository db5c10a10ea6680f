"""Top N and deduplication: the changes of each row, in Flink's order."""

import pytest
from tests.unit.operators.table.driving import Driven, check

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_sort_specs import Deduplicate, Rank
from headrace.graph.table_specs import SortOrder

I, UB, UA, D = range(4)  # noqa: E741
KEYS = ((0,),)
DOWN = (SortOrder(2, descending=True, nulls_first=False),)


def rank(end, rank_column=True, start=1, **options):
    return Rank((0,), options.pop("order_by", DOWN), start, end, rank_column, **options)


def test_inserts_move_the_rows_below():
    script = [
        (("left", ("k", "a", 5)), [("k", "a", 5, 1, I)]),
        (("left", ("k", "b", 3)), [("k", "b", 3, 2, I)]),
        (("left", ("k", "c", 1)), []),
        (("left", ("k", "d", 5)), [("k", "b", 3, 2, UB), ("k", "d", 5, 2, UA)]),
        (
            ("left", ("k", "e", 9)),
            [("k", "a", 5, 1, UB), ("k", "e", 9, 1, UA), ("k", "d", 5, 2, UB), ("k", "a", 5, 2, UA)],
        ),
        (("left", ("k", "f", 5)), []),
        (("left", ("l", "z", 0)), [("l", "z", 0, 1, I)]),
    ]
    check(rank(2), KEYS, script, left=2)


def test_without_rank_one_row_goes_and_one_comes():
    script = [
        (("left", ("k", "a", 5), ("k", "b", 3)), [("k", "a", 5, I), ("k", "b", 3, I)]),
        (("left", ("k", "c", 4)), [("k", "b", 3, D), ("k", "c", 4, I)]),
        (("left", ("k", "d", 4)), []),
        (("left", ("k", "e", None)), []),
    ]
    check(rank(2, rank_column=False), KEYS, script, left=1)


def test_an_offset_hides_the_first_ranks():
    script = [
        (("left", ("k", "a", 5)), []),
        (("left", ("k", "b", 3)), [("k", "b", 3, I)]),
        (("left", ("k", "c", 4)), [("k", "b", 3, UB), ("k", "c", 4, UA)]),
        (("left", ("k", "d", 9)), [("k", "c", 4, UB), ("k", "a", 5, UA)]),
    ]
    check(rank(2, rank_column=False, start=2), KEYS, script)


def test_without_update_before_only_new_rows_are_shown():
    script = [
        (("left", ("k", "a", 5)), [("k", "a", 5, 1, I)]),
        (("left", ("k", "b", 9)), [("k", "b", 9, 1, UA), ("k", "a", 5, 2, I)]),
    ]
    check(rank(2, update_before=False), KEYS, script)


def test_the_first_row_is_replaced():
    script = [
        (("left", ("k", "a", 5)), [("k", "a", 5, I)]),
        (("left", ("k", "b", 5)), []),
        (("left", ("k", "c", 6)), [("k", "a", 5, UB), ("k", "c", 6, UA)]),
    ]
    check(rank(1, rank_column=False), KEYS, script, left=1)


def test_a_column_can_say_how_many():
    script = [
        (("left", ("k", 1, 5)), [("k", 1, 5, 1, I)]),
        (("left", ("l", 2, 5), ("l", 2, 4), ("l", 2, 3)), [("l", 2, 5, 1, I), ("l", 2, 4, 2, I)]),
        (("left", ("k", 1, 4)), []),
    ]
    check(rank(None, end_column=1), KEYS, script)


def test_retractions_bring_back_the_rows_below():
    script = [
        (("left", ("k", "a", 5, I), ("k", "b", 3, I), ("k", "c", 1, I)), [("k", "a", 5, 1, I), ("k", "b", 3, 2, I)]),
        (
            ("left", ("k", "a", 5, D)),
            [("k", "a", 5, 1, UB), ("k", "b", 3, 1, UA), ("k", "b", 3, 2, UB), ("k", "c", 1, 2, UA)],
        ),
        (("left", ("k", "b", 3, UB)), [("k", "b", 3, 1, UB), ("k", "c", 1, 1, UA), ("k", "c", 1, 2, D)]),
        (("left", ("k", "b", 0, UA)), [("k", "b", 0, 2, I)]),
        (("left", ("k", "b", 0, D)), [("k", "b", 0, 2, D)]),
        (("left", ("k", "c", 1, D)), [("k", "c", 1, 1, D)]),
        (("left", ("k", "x", 1, D)), []),
    ]
    check(rank(2, kinds=True), KEYS, script, left=0)


def test_retractions_without_rank():
    script = [
        (("left", ("k", "a", 5, I), ("k", "b", 3, I), ("k", "c", 1, I)), [("k", "a", 5, I), ("k", "b", 3, I)]),
        (("left", ("k", "a", 5, D)), [("k", "a", 5, D), ("k", "c", 1, I)]),
        (("left", ("k", "d", 4, I)), [("k", "c", 1, D), ("k", "d", 4, I)]),
        (("left", ("k", "c", 1, D)), []),
        (("left", ("k", "b", 3, D)), [("k", "b", 3, D)]),
        (("left", ("k", "d", 4, D)), [("k", "d", 4, D)]),
    ]
    check(rank(2, rank_column=False, kinds=True), KEYS, script, left=0)


def test_upserts_move_up():
    spec = rank(3, kinds=True, upsert_key=(0, 1))
    script = [
        (("left", ("k", "a", 5, I), ("k", "b", 3, I)), [("k", "a", 5, 1, I), ("k", "b", 3, 2, I)]),
        (
            ("left", ("k", "b", 7, UA)),
            [("k", "a", 5, 1, UB), ("k", "b", 7, 1, UA), ("k", "b", 3, 2, UB), ("k", "a", 5, 2, UA)],
        ),
        (("left", ("k", "c", 1, I), ("k", "d", 0, I)), [("k", "c", 1, 3, I)]),
        (("left", ("k", "a", 6, UA)), [("k", "a", 5, 2, UB), ("k", "a", 6, 2, UA)]),
        (("left", ("k", "d", 2, UA)), [("k", "c", 1, 3, UB), ("k", "d", 2, 3, UA)]),
    ]
    check(spec, KEYS, script, left=1)


def test_upserts_without_rank():
    spec = rank(2, rank_column=False, kinds=True, upsert_key=(0, 1))
    script = [
        (("left", ("k", "a", 5, I), ("k", "b", 3, I)), [("k", "a", 5, I), ("k", "b", 3, I)]),
        (("left", ("k", "b", 7, UA)), [("k", "b", 3, UB), ("k", "b", 7, UA)]),
        (("left", ("k", "c", 6, I)), [("k", "a", 5, D), ("k", "c", 6, I)]),
        (("left", ("k", "a", 5, UA)), []),
    ]
    check(spec, KEYS, script, left=1)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("ROW_NUMBER", [("k", "a", 5, 1), ("k", "b", 5, 2)]),
        ("RANK", [("k", "a", 5, 1), ("k", "b", 5, 1)]),
        ("DENSE_RANK", [("k", "a", 5, 1), ("k", "b", 5, 1), ("k", "c", 3, 2)]),
    ],
)
def test_batch_mode_ranks_at_the_end(function, expected):
    script = [
        (("left", ("k", "a", 5), ("k", "c", 3), ("k", "b", 5), ("k", "d", 1)), []),
        (("watermark", MAX_WATERMARK), expected),
    ]
    check(rank(2, function=function, batch=True), KEYS, script, left=0)


def test_rank_of_changing_rows_emits_the_differences():
    script = [
        (("left", ("k", "a", 5, I), ("k", "c", 3, I)), [("k", "a", 5, 1, I), ("k", "c", 3, 2, I)]),
        (("left", ("k", "b", 5, I)), [("k", "c", 3, 2, D), ("k", "b", 5, 1, I)]),
        (("left", ("k", "a", 5, D)), [("k", "a", 5, 1, D), ("k", "c", 3, 2, I)]),
    ]
    check(rank(2, function="RANK", kinds=True), KEYS, script)


def test_ranked_rows_expire():
    driven = Driven(rank(1, ttl=10), *KEYS)
    assert driven.left(("k", "a", 5)) == [("k", "a", 5, 1, I)]
    driven.at(10)
    assert driven.left(("k", "b", 3)) == [("k", "b", 3, 1, I)]


# -- deduplication ----------------------------------------------------------------------------------------------------


def test_the_first_row_that_arrives():
    spec = Deduplicate((0,), None, event_time=False, keep_last=False, emits_kinds=False)
    check(spec, KEYS, [(("left", ("k", 1), ("k", 2), ("l", 3)), [("k", 1), ("l", 3)])], left=2)


def test_the_last_row_that_arrives():
    script = [
        (("left", ("k", 1)), [("k", 1, I)]),
        (("left", ("k", 1)), []),
        (("left", ("k", 2)), [("k", 1, UB), ("k", 2, UA)]),
    ]
    check(Deduplicate((0,), None, event_time=False, keep_last=True), KEYS, script, left=1)
    script[2] = (script[2][0], [("k", 2, UA)])
    check(Deduplicate((0,), None, event_time=False, keep_last=True, update_before=False), KEYS, script)


def test_the_last_row_by_event_time():
    script = [
        (("left", ("k", 5000)), [("k", 5000, I)]),
        (("left", ("k", 4000)), []),
        (("left", ("k", 5000)), [("k", 5000, UB), ("k", 5000, UA)]),
        (("left", ("k", 6000)), [("k", 5000, UB), ("k", 6000, UA)]),
    ]
    check(Deduplicate((0,), 1, event_time=True, keep_last=True), KEYS, script, left=1)


def test_the_first_row_by_event_time():
    script = [
        (("left", ("k", 5000, "a")), [("k", 5000, "a", I)]),
        (("left", ("k", 5000, "b")), []),
        (("left", ("k", 4000, "c")), [("k", 5000, "a", UB), ("k", 4000, "c", UA)]),
    ]
    check(Deduplicate((0,), 1, event_time=True, keep_last=False), KEYS, script, left=1)


def test_the_first_row_by_event_time_without_updates_waits_for_the_watermark():
    script = [
        (("left", ("k", 5000, "a")), []),
        (("left", ("k", 4000, "b"), ("k", 4000, "c"), ("l", 9000, "x")), []),
        (("watermark", 4), [("k", 4000, "b")]),
        (("left", ("k", 3000, "d"), ("k", 7000, "e")), []),
        (("watermark", 9), [("l", 9000, "x")]),
    ]
    check(Deduplicate((0,), 1, event_time=True, keep_last=False, emits_kinds=False), KEYS, script, left=2)
