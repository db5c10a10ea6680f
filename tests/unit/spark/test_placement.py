"""An executor that has come gets its share; the others give up what they have too much of, and no more."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.spark.stages import surplus


@pytest.mark.parametrize(
    ("places", "tasks", "moved"),
    [
        ("aaaa", {"a": 2, "b": 2}, 2),
        ("aabb", {"a": 2, "b": 2, "c": 2}, 0),
        ("aaab", {"a": 1, "b": 1}, 1),
        ("aaaaaaaa", {"a": 1, "b": 3}, 6),
        ("ab", {"a": 4, "b": 4, "c": 4}, 0),
        ("", {"a": 1}, 0),
    ],
)
def test_executors_keep_their_share(places, tasks, moved):
    assert len(surplus(dict(enumerate(places)), {}, tasks)) == moved


def test_what_has_come_from_a_lost_executor_goes_first():
    assert surplus(dict(enumerate("aaaa")), dict(enumerate("axax")), {"a": 2, "b": 2}) == [1, 3]


@given(st.dictionaries(st.integers(0, 40), st.sampled_from("abc")), st.lists(st.integers(1, 4), min_size=4, max_size=4))
def test_nobody_is_left_above_the_share_or_stripped_below_it(places, at_a_time):
    tasks = dict(zip("abcd", at_a_time, strict=True))
    moved = surplus(places, {}, tasks)
    before, after = Counter(places.values()), Counter(e for p, e in places.items() if p not in moved)
    for executor, number in tasks.items():
        share = -(-len(places) * number // sum(tasks.values()))
        assert after[executor] == min(before[executor], share)
