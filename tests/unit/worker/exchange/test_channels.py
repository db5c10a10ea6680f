"""The valve and the merge: event time over many channels, and one order for all their items."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.types.codecs import codec_for
from headrace.worker.exchange.channels import Valve, by_channel, decoded, merged
from headrace.worker.exchange.frames import DATA, END, IDLE, RECORDS, WATERMARK, Header, pack

A, B, C = (0, 0), (0, 1), (0, 2)
FIRST, SECOND = (0, 0), (1, 0)


def one_input(*channels):
    return Valve(dict.fromkeys(channels, 0))


# -- active channels ----------------------------------------------------------------------------------------------


def test_one_channel_is_followed():
    valve = one_input(A)
    assert [valve.watermark(A, t) for t in (3, 3, 2, 8)] == [3, None, None, 8]
    assert valve.current == 8


def test_the_slowest_channel_decides():
    valve = one_input(A, B)
    assert valve.watermark(A, 10) is None
    assert valve.watermark(B, 4) == 4
    assert valve.watermark(B, 12) == 10
    assert valve.current == 10


def test_the_slowest_input_decides():
    valve = Valve({(0, 0): 0, (0, 1): 0, (1, 0): 1})
    assert valve.watermark((0, 0), 9) is None
    assert valve.watermark((1, 0), 5) is None
    assert valve.watermark((0, 1), 7) == 5


MARKS = st.lists(st.tuples(st.integers(0, 4), st.integers(-5, 30)), max_size=40)


@given(MARKS, st.integers(1, 5), st.integers(1, 2))
def test_the_watermark_is_the_minimum_and_never_goes_back(marks, channels, inputs):
    valve = Valve({(i, 0): i % inputs for i in range(channels)})
    highest = dict.fromkeys(range(channels), MIN_TIMESTAMP)
    told = [MIN_TIMESTAMP]
    for number, timestamp in marks:
        channel = number % channels
        highest[channel] = max(highest[channel], timestamp)
        risen = valve.watermark((channel, 0), timestamp)
        if risen is not None:
            assert risen > told[-1]
            told.append(risen)
        assert valve.current == min(highest.values()) == told[-1]
        assert not valve.all_idle


# -- idle channels ------------------------------------------------------------------------------------------------


def test_an_idle_channel_is_left_out():
    valve = one_input(A, B)
    valve.watermark(A, 10)
    assert valve.set_idle(B, True) == 10
    assert valve.watermark(A, 20) == 20


def test_a_channel_that_did_not_hold_the_others_up_changes_nothing_when_it_goes_idle():
    valve = one_input(A, B)
    valve.watermark(A, 10)
    valve.watermark(B, 5)
    assert valve.set_idle(A, True) is None
    assert valve.current == 5


def test_a_channel_that_comes_back_behind_is_left_out_until_it_has_caught_up():
    valve = one_input(A, B)
    valve.set_idle(B, True)
    valve.watermark(A, 10)
    assert valve.set_idle(B, False) is None
    assert valve.watermark(B, 4) is None
    assert valve.watermark(A, 12) == 12, "B is still behind and does not count"
    assert valve.watermark(B, 13) is None, "from here on it does"
    assert valve.watermark(A, 20) == 13


def test_when_all_are_idle_the_furthest_counts():
    valve = one_input(A, B)
    valve.watermark(A, 10)
    valve.watermark(B, 5)
    valve.set_idle(A, True)
    assert not valve.all_idle
    assert valve.set_idle(B, True) == 10
    assert valve.all_idle


def test_when_the_last_to_go_idle_was_behind_the_furthest_does_not_count():
    valve = one_input(A, B, C)
    valve.set_idle(B, True)
    valve.watermark(C, 30)
    valve.watermark(A, 10)
    valve.set_idle(C, True)
    valve.set_idle(B, False)
    valve.watermark(B, 4)
    valve.set_idle(A, True)
    assert valve.set_idle(B, True) is None
    assert (valve.current, valve.all_idle) == (10, True)


def test_all_idle_ends_with_the_first_active_channel():
    valve = one_input(A, B)
    valve.set_idle(A, True)
    valve.set_idle(B, True)
    valve.set_idle(A, False)
    assert not valve.all_idle


def test_an_idle_input_is_left_out():
    valve = Valve({FIRST: 0, SECOND: 1})
    valve.watermark(FIRST, 10)
    assert valve.set_idle(SECOND, True) == 10
    assert valve.watermark(FIRST, 15) == 15


def test_an_input_that_comes_back_behind_holds_the_vertex_up():
    valve = Valve({FIRST: 0, SECOND: 1})
    valve.watermark(SECOND, 3)
    valve.set_idle(SECOND, True)
    valve.watermark(FIRST, 10)
    valve.set_idle(SECOND, False)
    assert valve.watermark(FIRST, 20) is None
    assert valve.watermark(SECOND, 15) == 15


class FlinkValve:
    """Flink's description of a valve over the channels of one input, written down once more: aligned or not, by flag."""

    def __init__(self, channels: int) -> None:
        self.marks = [MIN_TIMESTAMP] * channels
        self.idle = [False] * channels
        self.aligned = [True] * channels
        self.current = MIN_TIMESTAMP

    def watermark(self, channel: int, timestamp: int) -> None:
        if timestamp > self.marks[channel]:
            self.marks[channel] = timestamp
            if timestamp >= self.current:
                self.aligned[channel] = True
            self._lowest_of_aligned()

    def set_idle(self, channel: int, idle: bool) -> None:
        if idle == self.idle[channel]:
            return
        self.idle[channel] = idle
        if idle:
            self.aligned[channel] = False
            if self.marks[channel] == self.current:
                if all(self.idle):
                    self.current = max(self.current, *self.marks)
                else:
                    self._lowest_of_aligned()
        else:
            self.aligned[channel] = self.marks[channel] >= self.current

    def _lowest_of_aligned(self) -> None:
        marks = [m for m, aligned in zip(self.marks, self.aligned) if aligned]
        if marks:
            self.current = max(self.current, min(marks))


@given(st.lists(st.tuples(st.integers(0, 3), st.none() | st.booleans(), st.integers(-3, 12)), max_size=60))
def test_one_input_does_what_flink_describes(steps):
    """A step is a watermark (None) or a change of idleness; a watermark makes its channel active first, as outputs do."""
    valve, model = one_input(*((0, i) for i in range(4))), FlinkValve(4)
    for channel, idle, timestamp in steps:
        if idle is None:
            valve.set_idle((0, channel), False)
            model.set_idle(channel, False)
            valve.watermark((0, channel), timestamp)
            model.watermark(channel, timestamp)
        else:
            valve.set_idle((0, channel), idle)
            model.set_idle(channel, idle)
        assert valve.current == model.current
        assert valve.all_idle == all(model.idle)


# -- end and restore ----------------------------------------------------------------------------------------------


def test_the_end_is_there_when_all_channels_have_ended():
    valve = one_input(A, B)
    assert not valve.end(B)
    assert not valve.end(B)
    assert valve.end(A)


CHANGES = st.lists(
    st.tuples(st.sampled_from([A, B, C]), st.sampled_from(["mark", "idle", "active"]), st.integers(0, 20))
)


def change(valve, channel, what, timestamp):
    if what == "mark":
        valve.set_idle(channel, False)
        return valve.watermark(channel, timestamp)
    return valve.set_idle(channel, what == "idle")


@given(CHANGES, CHANGES)
def test_a_restored_valve_goes_on_like_the_one_that_was_kept(before, after):
    kept = Valve({A: 0, B: 0, C: 1})
    for step in before:
        change(kept, *step)
    restored = Valve({A: 0, B: 0, C: 1})
    restored.restore(kept.snapshot())
    assert restored.snapshot() == kept.snapshot()
    for step in after:
        assert change(restored, *step) == change(kept, *step)
        assert restored.current == kept.current


def test_a_snapshot_does_not_change_with_the_valve():
    valve = one_input(A, B)
    facts = valve.snapshot()
    valve.watermark(A, 5)
    valve.set_idle(B, True)
    valve.end(A)
    assert facts == one_input(A, B).snapshot()


def test_after_a_change_of_channels_event_time_does_not_go_back():
    old = one_input(A, B)
    old.watermark(A, 10)
    old.watermark(B, 12)
    new = one_input(A, C)
    new.restore(old.snapshot())
    assert new.current == 10
    assert new.watermark(A, 15) is None, "C starts where the vertex is"
    assert new.watermark(C, 14) == 14


# -- the merge ----------------------------------------------------------------------------------------------------


def play(inputs):
    """The merged items, with the valve told of every mark as a task does it."""
    valve = Valve(dict.fromkeys(inputs, 0))
    out = []
    for channel, item in merged(valve, {c: iter(items) for c, items in inputs.items()}):
        out.append((channel, item))
        if item[0] == WATERMARK:
            valve.watermark(channel, item[1])
        elif item[0] == IDLE:
            valve.set_idle(channel, item[1])
        elif item[0] == END:
            valve.end(channel)
    return out


def records(*values):
    return (RECORDS, list(values), None, None)


def test_one_channel_keeps_its_order():
    items = [records(1), (WATERMARK, 5), records(2, 3), (IDLE, True), records(4), (END,)]
    assert [item for _, item in play({A: items})] == items


def test_the_channel_that_is_behind_goes_on():
    a = [records("a1"), (WATERMARK, 10), records("a2"), (WATERMARK, 30)]
    b = [records("b1"), (WATERMARK, 5), records("b2"), (WATERMARK, 20), records("b3")]
    order = [item[1][0] if item[0] == RECORDS else item[1] for _, item in play({A: a, B: b})]
    # a to 10, b to 5, b to 20 (still behind), a to 30, the rest of b.
    assert order == ["a1", 10, "b1", 5, "b2", 20, "a2", 30, "b3"]


def test_equal_watermarks_go_by_channel():
    inputs = {B: [records("b")], A: [records("a")], (1, 0): [records("c")]}
    assert [channel for channel, _ in play(inputs)] == [A, B, (1, 0)]


def test_a_channel_without_items_is_no_obstacle():
    assert play({A: [], B: [records(1)]}) == [(B, records(1))]
    assert play({}) == []


def test_nothing_of_a_channel_is_read_before_its_turn():
    read = []

    def items(name, *marks):
        for mark in marks:
            read.append((name, mark))
            yield (WATERMARK, mark)

    valve = one_input(A, B)
    for channel, item in merged(valve, {A: items("a", 1, 9), B: items("b", 2)}):
        read.append("seen")
        valve.watermark(channel, item[1])
    assert read == [("a", 1), "seen", ("b", 2), "seen", ("a", 9), "seen"]


ITEMS = st.lists(
    st.one_of(
        st.integers(0, 99).map(records),
        st.integers(0, 40).map(lambda t: (WATERMARK, t)),
        st.booleans().map(lambda idle: (IDLE, idle)),
    ),
    max_size=12,
)
INPUTS = st.dictionaries(st.tuples(st.integers(0, 1), st.integers(0, 2)), ITEMS, min_size=1, max_size=5)


@given(INPUTS)
def test_every_item_comes_once_and_channels_keep_their_order(inputs):
    out = play(inputs)
    for channel, items in inputs.items():
        assert [item for c, item in out if c == channel] == items
    assert len(out) == sum(map(len, inputs.values()))


@given(INPUTS, st.randoms())
def test_the_order_depends_on_the_items_alone(inputs, random):
    shuffled = list(inputs.items())
    random.shuffle(shuffled)
    assert play(dict(shuffled)) == play(inputs)


@given(st.dictionaries(st.tuples(st.just(0), st.integers(0, 3)), st.lists(st.integers(0, 50), min_size=1), min_size=1))
def test_a_record_is_never_late_because_of_the_merge(marks):
    """Records stamped above their channel's watermark are above the vertex's watermark too when they come."""
    inputs = {}
    for channel, steps in marks.items():
        items, mark = [], MIN_TIMESTAMP
        for step in sorted(steps):
            items += [(RECORDS, [step], [max(mark, 0) + 1], None), (WATERMARK, step)]
            mark = step
        inputs[channel] = [*items, (WATERMARK, MAX_WATERMARK), (END,)]
    valve = Valve(dict.fromkeys(inputs, 0))
    for channel, item in merged(valve, {c: iter(items) for c, items in inputs.items()}):
        if item[0] == RECORDS:
            assert item[2][0] > valve.current
        elif item[0] == WATERMARK:
            valve.watermark(channel, item[1])
    assert valve.current == MAX_WATERMARK


@pytest.mark.parametrize("ended_first", [A, B])
def test_what_follows_an_end_still_comes(ended_first):
    other = B if ended_first == A else A
    inputs = {ended_first: [(WATERMARK, MAX_WATERMARK), (END,)], other: [records(1), (WATERMARK, 3), records(2)]}
    assert [item for channel, item in play(inputs) if channel == other] == inputs[other]


def test_frames_come_by_channel_in_their_sequence():
    first, second, other = (
        pack(Header(DATA, 1, 0, edge, 2, sequence, 7), [(RECORDS, [value], None, None)])
        for edge, sequence, value in ((0, 0, "a"), (0, 1, "b"), (3, 0, "c"))
    )
    attempts, frames = by_channel([second, other, first])
    assert attempts == {(0, 2): 7, (3, 2): 7}
    assert frames == {(0, 2): [first, second], (3, 2): [other]}
    assert [item[1] for item in decoded(frames[0, 2], codec_for(None), codec_for(None))] == [["a"], ["b"]]
