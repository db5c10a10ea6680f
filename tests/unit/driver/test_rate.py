"""The rate: epochs come near their target time, whatever a record costs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.driver.pacing import RateController


def drive(rate, cost, overhead, epochs, available=10**12):
    """Runs epochs in which a record takes `cost` seconds; gives how long each took."""
    times = []
    for _ in range(epochs):
        records = min(rate.limit, available)
        busy = records * cost
        times.append(overhead + busy)
        rate.observe(records, overhead + busy, busy)
    return times


COSTS = st.floats(1e-7, 1e-3)
OVERHEADS = st.floats(0.0, 0.8)


@given(COSTS, OVERHEADS, st.integers(1, 100_000))
def test_with_a_constant_cost_epochs_reach_the_target(cost, overhead, first):
    rate = RateController(target=1.0, first=first, maximum=10**12)
    last = drive(rate, cost, overhead, 12)[-1]
    assert last == pytest.approx(1.0, rel=0.02, abs=cost)


@given(COSTS, COSTS, OVERHEADS)
def test_after_a_change_of_the_cost_they_reach_it_again(before, after, overhead):
    rate = RateController(target=1.0, first=1000, maximum=10**12)
    drive(rate, before, overhead, 12)
    assert drive(rate, after, overhead, 12)[-1] == pytest.approx(1.0, rel=0.02, abs=after)


def test_a_slow_epoch_is_answered_at_once():
    rate = RateController(target=1.0, first=1000, maximum=10**6)
    rate.observe(records=1000, seconds=2.0, busy=2.0)
    assert rate.limit == 500


def test_the_overhead_is_not_blamed_on_the_records():
    rate = RateController(target=1.0, first=1000, maximum=10**6)
    rate.observe(records=1000, seconds=1.0, busy=1.0)
    rate.observe(records=1000, seconds=0.6, busy=0.1)
    assert rate.limit == 5000, "half a second is left for what took a tenth"


def test_the_start_of_processes_in_the_first_epoch_is_no_overhead_of_the_next():
    rate = RateController(target=1.0, first=1000, maximum=10**6)
    rate.observe(records=1000, seconds=3.0, busy=0.1)
    assert rate.limit == 10_000


def test_when_the_overhead_alone_is_too_much_some_work_is_done_all_the_same():
    rate = RateController(target=1.0, first=1000, maximum=10**6)
    assert drive(rate, 1e-4, 3.0, 20)[-1] == pytest.approx(3.1, rel=0.01)


def test_an_epoch_that_was_not_full_and_in_time_says_nothing():
    rate = RateController(target=1.0, first=1000, maximum=10**6)
    rate.observe(records=10, seconds=0.05, busy=0.001)
    assert rate.limit == 1000


@pytest.mark.parametrize("seconds", [0.1, 5.0])
def test_an_epoch_without_records_says_nothing(seconds):
    rate = RateController(target=1.0, first=1000, maximum=10**6)
    for _ in range(10):
        rate.observe(records=0, seconds=seconds, busy=0.01)
    assert rate.limit == 1000


def test_growth_and_shrinking_have_bounds():
    rate = RateController(target=1.0, first=1000, maximum=10**9)
    rate.observe(records=1000, seconds=0.000001, busy=0.000001)
    assert rate.limit == 100_000
    rate.observe(records=100_000, seconds=1000.0, busy=1000.0)
    assert rate.limit == 20_000


def test_the_first_limit_and_all_others_stay_below_the_maximum():
    rate = RateController(target=1.0, first=5000, maximum=2000)
    assert rate.limit == 2000
    rate.observe(records=2000, seconds=0.01, busy=0.01)
    assert rate.limit == 2000


OBSERVATIONS = st.lists(st.tuples(st.integers(0, 10**7), st.floats(0, 1e5), st.floats(0, 1)), max_size=30)


@given(OBSERVATIONS, st.integers(1, 10**6), st.integers(1, 10**6), st.floats(0.001, 100))
def test_whatever_happens_the_limit_stays_between_one_and_the_maximum(observations, first, maximum, target):
    rate = RateController(target, first, maximum)
    for records, seconds, part in observations:
        rate.observe(records, seconds, seconds * part)
        assert isinstance(rate.limit, int)
        assert 1 <= rate.limit <= maximum


def test_a_cost_beyond_the_target_goes_on_with_single_records():
    rate = RateController(target=1.0, first=1000, maximum=10**6)
    drive(rate, 30.0, 0.1, 20)
    assert rate.limit == 1
    assert drive(rate, 1e-4, 0.1, 10)[-1] == pytest.approx(1.0, rel=0.01), "and recovers"


def test_when_records_become_slow_the_limit_that_was_never_reached_does_not_delay_the_answer():
    rate = RateController(target=1.0, first=5000, maximum=10**6)
    drive(rate, cost=1e-5, overhead=0.1, epochs=5, available=100)
    drive(rate, cost=0.03, overhead=0.1, epochs=1, available=100)
    assert drive(rate, cost=0.03, overhead=0.1, epochs=1) == [pytest.approx(1.0, abs=0.04)]
