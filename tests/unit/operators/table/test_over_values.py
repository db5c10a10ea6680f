"""OVER ordered by a column that is not a time: rows behind a new or deleted one are replaced."""

from tests.unit.operators.table.accumulations import Count, Sum
from tests.unit.operators.table.driving import check

from headrace.graph.table_specs import AggregateSpec, OverAggregate, OverFrame, SortOrder

I, UB, UA, D = range(4)  # noqa: E741
KEYS = ((0,),)
CALLS = (AggregateSpec(Sum(), (1,)), AggregateSpec(Count(), ()))


def over(rows=False, kinds=True):
    return OverAggregate((0,), None, OverFrame(rows, None), CALLS, order_by=(SortOrder(1),), kinds=kinds)


def test_a_row_changes_those_behind_it_and_its_peers():
    script = [
        (("left", ("k", 5, "a", I)), [("k", 5, "a", 5, 1, I)]),
        (("left", ("k", 2, "b", I)), [("k", 2, "b", 2, 1, I), ("k", 5, "a", 5, 1, UB), ("k", 5, "a", 7, 2, UA)]),
        (("left", ("k", 5, "c", I)), [("k", 5, "a", 7, 2, UB), ("k", 5, "a", 12, 3, UA), ("k", 5, "c", 12, 3, I)]),
        (("left", ("l", 1, "d", I)), [("l", 1, "d", 1, 1, I)]),
        (
            ("left", ("k", 2, "b", D)),
            [
                ("k", 2, "b", 2, 1, D),
                ("k", 5, "a", 12, 3, UB), ("k", 5, "a", 10, 2, UA),
                ("k", 5, "c", 12, 3, UB), ("k", 5, "c", 10, 2, UA),
            ],
        ),
        (("left", ("l", 1, "d", D)), [("l", 1, "d", 1, 1, D)]),
    ]  # fmt: skip
    check(over(), KEYS, script, left=1)


def test_rows_counts_peers_one_by_one():
    script = [
        (("left", ("k", 5, "a"), ("k", 5, "b")), [("k", 5, "a", 5, 1, I), ("k", 5, "b", 10, 2, I)]),
        (("left", ("k", 7, "c")), [("k", 7, "c", 17, 3, I)]),
    ]
    check(over(rows=True, kinds=False), KEYS, script, left=1)


def test_a_deletion_of_an_unknown_row_is_ignored():
    check(over(), KEYS, [(("left", ("k", 5, "a", D)), [])], left=0)
