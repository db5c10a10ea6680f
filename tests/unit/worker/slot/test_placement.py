"""The slots of an executor share its tasks evenly, and a task stays in its slot."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.worker.slot.placement import Resident, choose, place_of


@pytest.mark.parametrize(
    ("slots", "partitions"),
    [(2, [0, 2]), (2, [1, 3]), (4, [0, 2, 4, 6]), (4, [0, 4]), (3, [1, 2, 7, 4, 10, 5]), (1, [0, 1, 2])],
)
def test_tasks_of_a_level_are_spread_over_all_slots_whatever_their_numbers(tmp_path, slots, partitions):
    for level in range(3):
        places = [place_of(tmp_path, slots, level, partition, 1).slot for partition in partitions]
        counts = Counter(places)
        assert max(counts.values()) == -(-len(partitions) // slots)
        assert len(counts) == min(slots, len(partitions))


def test_a_task_stays_in_its_slot(tmp_path):
    first = {partition: place_of(tmp_path, 2, 0, partition, 1).slot for partition in (5, 1, 3, 0)}
    for epoch in range(2, 6):
        assert {p: place_of(tmp_path, 2, 0, p, epoch).slot for p in (0, 1, 3, 5)} == first


def test_a_task_that_has_gone_leaves_its_slot_to_others(tmp_path):
    for partition in (0, 2):
        place_of(tmp_path, 2, 0, partition, 1)
    assert place_of(tmp_path, 2, 0, 0, 2).slot == 0
    assert place_of(tmp_path, 2, 0, 0, 3).slot == 0
    assert place_of(tmp_path, 2, 0, 4, 4).slot == 1, "2 was here in epoch 1 for the last time"
    assert place_of(tmp_path, 2, 0, 2, 5).slot == 1, "where it finds what it has left, if it comes back"


def test_how_many_tasks_of_the_level_may_come_first(tmp_path):
    assert [place_of(tmp_path, 2, 0, p, 1).tasks for p in range(4)] == [1, 1, 2, 2]
    assert [place_of(tmp_path, 2, 0, p, 2).tasks for p in range(4)] == [2, 2, 2, 2]
    assert place_of(tmp_path, 2, 1, 0, 2).tasks == 1


def test_couriers_at_the_same_time_agree(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        places = list(pool.map(lambda i: (i % 8, place_of(tmp_path, 4, 0, i % 8, 1).slot), range(64)))
    assert len(set(places)) == 8, "each task has one slot"
    assert set(Counter(slot for _, slot in set(places)).values()) == {2}


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 50)), unique=True), st.integers(1, 5))
def test_no_slot_has_two_more_tasks_of_a_level_than_another(tasks, slots):
    residents = []
    for level, partition in tasks:
        residents.append(Resident(level, partition, choose(residents, slots, level, partition, 1), 1))
    for level in range(3):
        counts = Counter({slot: 0 for slot in range(slots)})
        counts.update(r.slot for r in residents if r.level == level)
        assert max(counts.values()) - min(counts.values()) <= 1
