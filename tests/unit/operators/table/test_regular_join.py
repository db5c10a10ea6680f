"""Joins of two changing tables: the changes of each row, in Flink's order."""

import pytest
from tests.unit.operators.table.driving import Driven, check

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_join_specs import JoinSide, RegularJoin

I, UB, UA, D = range(4)  # noqa: E741


class Smaller:
    """left[1] < right[1]."""

    def pair(self, left, right):
        return left[1] is not None and right[1] is not None and left[1] < right[1]


def join(kind, kinds=True, **options):
    side = {name: options.pop(name) for name in ("unique_key", "ttl", "null_safe") if name in options}
    return RegularJoin(kind, JoinSide((0,), 2, kinds=kinds, **side), JoinSide((0,), 2, kinds=kinds, **side), **options)


KEYS = ((0,), (0,))


def test_an_inner_join_keeps_the_kind_of_the_row_that_caused_a_pair():
    script = [
        (("left", (1, "a", I)), []),
        (("right", (1, "x", I)), [(1, "a", 1, "x", I)]),
        (("right", (1, "y", UA)), [(1, "a", 1, "y", UA)]),
        (("left", (1, "a", UB)), [(1, "a", 1, "x", UB), (1, "a", 1, "y", UB)]),
        (("left", (2, "b", I)), []),
        (("right", (1, "x", D)), []),
        (("right", (1, "y", D)), []),
        (("left", (2, "b", D)), []),
    ]
    check(join("INNER"), KEYS, script, left=0)


def test_an_inner_join_of_inserts_has_no_kinds():
    spec = RegularJoin("INNER", JoinSide((1,), 2), JoinSide((0,), 2), emits_kinds=False)
    script = [
        (("left", ("a", 1), ("b", 2), ("a", 1)), []),
        (("right", (1, "x"), (3, "z")), [("a", 1, 1, "x"), ("a", 1, 1, "x")]),
    ]
    check(spec, ((1,), (0,)), script, left=4)


def test_a_left_join_deletes_the_row_with_nulls_before_its_first_pair():
    script = [
        (("left", (1, "a", I)), [(1, "a", None, None, I)]),
        (("left", (1, "a", I)), [(1, "a", None, None, I)]),
        (
            ("right", (1, "x", I)),
            [(1, "a", None, None, D), (1, "a", None, None, D), (1, "a", 1, "x", I), (1, "a", 1, "x", I)],
        ),
        (("right", (1, "y", I)), [(1, "a", 1, "y", I), (1, "a", 1, "y", I)]),
        (("left", (1, "a", D)), [(1, "a", 1, "x", D), (1, "a", 1, "y", D)]),
        (("right", (1, "x", UB)), [(1, "a", 1, "x", UB)]),
        (("right", (1, "y", D)), [(1, "a", 1, "y", D), (1, "a", None, None, I)]),
        (("left", (1, "a", UB)), [(1, "a", None, None, D)]),
        (("right", (2, "z", I)), []),
        (("left", (2, "b", UA)), [(2, "b", 2, "z", I)]),
    ]
    check(join("LEFT"), KEYS, script)


def test_a_full_join_pads_both_sides():
    script = [
        (("right", (1, "x", I)), [(None, None, 1, "x", I)]),
        (("left", (1, "a", I)), [(None, None, 1, "x", D), (1, "a", 1, "x", I)]),
        (("left", (1, "b", I)), [(1, "b", 1, "x", I)]),
        (("left", (1, "a", D)), [(1, "a", 1, "x", D)]),
        (("left", (1, "b", UB)), [(1, "b", 1, "x", D), (None, None, 1, "x", I)]),
        (("right", (1, "x", D)), [(None, None, 1, "x", D)]),
    ]
    check(join("FULL"), KEYS, script, left=0)


def test_a_right_join_is_the_mirror_of_a_left_join():
    script = [
        (("right", (1, "x", I)), [(None, None, 1, "x", I)]),
        (("left", (1, "a", I)), [(None, None, 1, "x", D), (1, "a", 1, "x", I)]),
        (("left", (1, "a", UB)), [(1, "a", 1, "x", UB), (None, None, 1, "x", I)]),
        (("right", (1, "x", D)), [(None, None, 1, "x", D)]),
    ]
    check(join("RIGHT"), KEYS, script, left=0)


def test_a_semi_join_emits_left_rows_with_their_first_partner():
    script = [
        (("left", (1, "a", I)), []),
        (("right", (1, "x", UA)), [(1, "a", UA)]),
        (("right", (1, "y", I)), []),
        (("left", (1, "b", I)), [(1, "b", I)]),
        (("right", (1, "x", D)), []),
        (("right", (1, "y", UB)), [(1, "a", UB), (1, "b", UB)]),
        (("left", (1, "a", D)), []),
        (("left", (1, "b", D)), []),
    ]
    check(join("SEMI"), KEYS, script, left=0)


def test_an_anti_join_emits_left_rows_without_partner():
    script = [
        (("left", (1, "a", I)), [(1, "a", I)]),
        (("right", (1, "x", UA)), [(1, "a", D)]),
        (("left", (1, "b", I)), []),
        (("right", (1, "x", UB)), [(1, "a", I), (1, "b", I)]),
        (("left", (1, "a", UB)), [(1, "a", UB)]),
        (("left", (1, "b", D)), [(1, "b", D)]),
    ]
    check(join("ANTI"), KEYS, script, left=0)


@pytest.mark.parametrize("key", [(0,), (0, 1), ()])
def test_a_row_with_a_unique_key_replaces_its_former_version(key):
    script = [
        (("left", (1, "a", I)), []),
        (("left", (1, "a", UA)), []),
        (("right", (1, "x", I)), [(1, "a", 1, "x", I)]),
    ]
    check(join("INNER", unique_key=key), KEYS, script, left=2)


def test_null_keys_match_nothing_unless_they_are_compared_safely():
    script = [
        (("left", (None, "a", I)), [(None, "a", None, None, I)]),
        (("right", (None, "x", I)), []),
    ]
    check(join("LEFT"), KEYS, script)
    script[1] = (script[1][0], [(None, "a", None, None, D), (None, "a", None, "x", I)])
    check(join("LEFT", null_safe=(True,)), KEYS, script)


def test_other_conditions_decide_about_pairs():
    script = [
        (("left", (1, 5, I)), [(1, 5, None, None, I)]),
        (("right", (1, 4, I)), []),
        (("right", (1, 6, I)), [(1, 5, None, None, D), (1, 5, 1, 6, I)]),
        (("right", (1, 7, I)), [(1, 5, 1, 7, I)]),
        (("right", (1, 4, D)), []),
        (("right", (1, 6, D)), [(1, 5, 1, 6, D)]),
        (("right", (1, 7, D)), [(1, 5, 1, 7, D), (1, 5, None, None, I)]),
    ]
    check(join("LEFT", condition=Smaller()), KEYS, script, left=1)


def test_rows_expire():
    driven = Driven(join("INNER", kinds=False, ttl=100), *KEYS)
    driven.left((1, "a"))
    driven.at(99)
    assert driven.right((1, "x")) == [(1, "a", 1, "x", I)]
    driven.at(100)
    assert driven.right((1, "y")) == []
    assert driven.left((1, "b")) == [(1, "b", 1, "x", I), (1, "b", 1, "y", I)]


def test_without_update_before_such_rows_are_left_out():
    script = [
        (("left", (1, "a", I)), []),
        (("right", (1, "x", I)), [(1, "a", 1, "x", I)]),
        (("right", (1, "x", UB)), []),
        (("right", (1, "y", UA)), [(1, "a", 1, "y", UA)]),
    ]
    check(join("INNER", update_before=False), KEYS, script)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("INNER", [(1, 5, 1, 6)]),
        ("LEFT", [(1, 5, 1, 6), (1, 8, None, None), (None, 1, None, None)]),
        ("RIGHT", [(1, 5, 1, 6), (None, None, 1, 4), (None, None, None, 2)]),
        ("FULL", [(1, 5, 1, 6), (1, 8, None, None), (None, None, 1, 4), (None, 1, None, None), (None, None, None, 2)]),
        ("SEMI", [(1, 5)]),
        ("ANTI", [(1, 8), (None, 1)]),
    ],
)
def test_batch_mode_joins_at_the_end(kind, expected):
    spec = join(kind, kinds=False, condition=Smaller(), batch=True, emits_kinds=False)
    script = [
        (("left", (1, 5), (1, 8)), []),
        (("right", (1, 6), (1, 4)), []),
        (("left", (None, 1)), []),
        (("right", (None, 2)), []),
        (("watermark", 10), []),
        (("watermark", MAX_WATERMARK), expected),
    ]
    check(spec, KEYS, script, left=0)
