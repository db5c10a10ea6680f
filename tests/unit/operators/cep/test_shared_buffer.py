"""An event is held once however many branches hold it, and let go with the last of them."""

from __future__ import annotations

import gc
import pickle
import weakref

import pytest

from headrace.cep import AfterMatchSkipStrategy, Pattern
from headrace.common import Duration
from headrace.operators.cep.compiler import compile_pattern
from headrace.operators.cep.key_state import BufferSize, KeyState
from headrace.operators.cep.matcher import Matcher
from headrace.operators.cep.shared_buffer import frozen, thawed


class Event:
    """An event that can be watched."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


def is_a(kind: str):
    return lambda event: event.kind == kind


def start(pattern: Pattern) -> tuple[Matcher, KeyState]:
    data = pattern.data()
    return Matcher(compile_pattern(data), data.skip), KeyState()


COMBINATIONS = Pattern.begin("a").where(is_a("a")).followed_by("b").where(is_a("b")).one_or_more().allow_combinations()


def test_many_branches_share_events_and_links():
    matcher, state = start(COMBINATIONS.followed_by("c").where(is_a("c")))
    matcher.process(state, Event("a"), 1)
    for time in range(2, 8):
        matcher.process(state, Event("b"), time)
    size = state.size()
    assert size.events == 7
    # The first event of the loop with any of the other five: each is one link behind a shared one, not a copy.
    assert size.links == 1 + 2**5
    assert size.branches == 48
    matches = matcher.process(state, Event("c"), 9)
    assert len(matches) == 2**5


def test_events_of_dead_branches_are_released():
    matcher, state = start(Pattern.begin("a").where(is_a("a")).next("b").where(is_a("b")))
    event = Event("a")
    watched = weakref.ref(event)
    matcher.process(state, event, 1)
    del event
    gc.collect()
    assert watched() is not None
    assert state.size() == BufferSize(branches=1, waiting=0, links=1, events=1)
    matcher.process(state, Event("x"), 2)
    gc.collect()
    assert watched() is None
    assert state.size() == BufferSize(0, 0, 0, 0)
    assert state.is_empty


def test_events_of_matches_are_released():
    matcher, state = start(Pattern.begin("a").where(is_a("a")).followed_by("b").where(is_a("b")))
    for time in range(100):
        matcher.process(state, Event("a"), time)
    assert state.size() == BufferSize(100, 0, 100, 100)
    assert len(matcher.process(state, Event("b"), 101)) == 100
    assert state.size() == BufferSize(0, 0, 0, 0)


def test_events_that_nothing_wants_are_never_held():
    matcher, state = start(COMBINATIONS)
    for time in range(1000):
        matcher.process(state, Event("x"), time)
    assert state.size() == BufferSize(0, 0, 0, 0)


def test_events_of_timed_out_branches_are_released():
    pattern = Pattern.begin("a").where(is_a("a")).followed_by("b").where(is_a("b")).within(Duration.of_millis(10))
    matcher, state = start(pattern)
    matcher.process(state, Event("a"), 1)
    matcher.process(state, Event("a"), 5)
    assert state.size().events == 2
    matcher.advance(state, 11)
    assert state.size() == BufferSize(1, 0, 1, 1)
    matcher.advance(state, 15)
    assert state.is_empty


def test_pruned_branches_release_their_events():
    skip = AfterMatchSkipStrategy.skip_past_last_event()
    matcher, state = start(Pattern.begin("a", skip).where(is_a("a")).one_or_more().followed_by("b").where(is_a("b")))
    for time in range(10):
        matcher.process(state, Event("a"), time)
    assert len(matcher.process(state, Event("b"), 11)) == 1
    assert state.size() == BufferSize(0, 0, 0, 0)


def test_waiting_matches_hold_their_events():
    skip = AfterMatchSkipStrategy.skip_to_next()
    pattern = Pattern.begin("a", skip).where(is_a("a")).followed_by("b")
    pattern.where(lambda event, ctx: event.kind == "b" and ctx.get_events_for_pattern("a")[0].last)
    matcher, state = start(pattern)
    first, second = Event("a"), Event("a")
    first.last, second.last = False, True
    matcher.process(state, first, 1)
    matcher.process(state, second, 2)
    assert matcher.process(state, Event("b"), 3) == []
    assert state.size() == BufferSize(branches=1, waiting=1, links=3, events=3)


@pytest.mark.parametrize("length", [1, 50_000])
def test_chains_of_any_length_survive_a_checkpoint(length):
    link = None
    for number in range(length):
        link = ("a", number, f"event {number}", link)
    tables, indexes = pickle.loads(pickle.dumps(frozen([link, link[3]])))
    newest, before = thawed(tables, indexes)
    assert newest[2] == f"event {length - 1}"
    assert newest[3] is before


def test_a_restored_state_goes_on_and_shares_as_before():
    matcher, state = start(COMBINATIONS.followed_by("c").where(is_a("c")))
    for time, kind in enumerate("abbb"):
        matcher.process(state, Event(kind), time)
    restored = pickle.loads(pickle.dumps(state))
    assert restored.size() == state.size()
    assert len({id(b[1]) for b in restored.branches}) == len({id(b[1]) for b in state.branches})
    found, expected = matcher.process(restored, Event("c"), 9), matcher.process(state, Event("c"), 9)
    assert len(found) == len(expected) == 4
    once = {id(event) for match in found for event in match["b"]}
    assert len(once) == 3


def test_ten_thousand_live_branches_are_not_looked_at_one_by_one():
    asked = []

    def fits(event):
        asked.append(event)
        return event.kind == "b"

    matcher, state = start(Pattern.begin("a").where(is_a("a")).followed_by("b").where(fits))
    for time in range(10_000):
        matcher.process(state, Event("a"), time)
    assert len(state.branches) == 10_000
    asked.clear()
    before = state.branches
    matcher.process(state, Event("x"), 10_001)
    assert len(asked) == 1
    assert state.branches is before


def test_a_plain_condition_before_an_iterative_one_spares_the_branches():
    asked = []

    def later(event, ctx):
        asked.append(event)
        return True

    matcher, state = start(Pattern.begin("a").where(is_a("a")).followed_by("b").where(is_a("b")).where(later))
    for time in range(100):
        matcher.process(state, Event("a"), time)
    matcher.process(state, Event("x"), 101)
    assert asked == []
    assert len(matcher.process(state, Event("b"), 102)) == 100
    assert len(asked) == 100
