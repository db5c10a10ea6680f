"""Batch mode: keyed input comes key by key, each key in the order of its timestamps, when all of it is there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.common.typeinfo import Types
from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.datastream import BroadcastProcessFunction, KeyedProcessFunction
from headrace.datastream.state import MapStateDescriptor, ValueStateDescriptor
from headrace.graph.specs import BroadcastProcess, Process
from headrace.operators.base import Operator
from headrace.operators.batch import GroupedInput
from headrace.testing import OperatorHarness


class Recorder(Operator):
    """Writes down every call."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def process_batch(self, values, timestamps, keys):
        self.calls.append((1, values, timestamps, keys))

    def process_batch2(self, values, timestamps, keys):
        self.calls.append((2, values, timestamps, keys))

    def process_watermark(self, timestamp):
        self.calls.append(("watermark", timestamp))

    def advance_processing_time(self, now):
        pass


def played(feed):
    """What an operator sees after `feed(grouped_input)` and the end."""
    recorder = Recorder()
    grouped = GroupedInput(recorder)
    feed(grouped)
    before = list(recorder.calls)
    grouped.process_watermark(MAX_WATERMARK)
    return before, recorder.calls[len(before) :]


def data(calls):
    return [call for call in calls if call[0] != "watermark"]


def test_keyed_records_wait_for_the_end():
    before, after = played(lambda g: g.process_batch(["x", "y"], None, ["b", "a"]))
    assert before == []
    assert data(after) == [(1, ["y"], None, ["a"]), (1, ["x"], None, ["b"])]


def test_records_without_keys_pass_through():
    def feed(grouped):
        grouped.process_batch(["x"], [1], None)
        grouped.process_batch2(["y"], [2], None)

    before, after = played(feed)
    assert before == [(1, ["x"], [1], None), (2, ["y"], [2], None)]
    assert data(after) == []


def test_a_key_comes_in_the_order_of_its_timestamps():
    def feed(grouped):
        grouped.process_batch(["late", "early"], [30, 10], ["k", "k"])
        grouped.process_batch(["middle", "also early"], [20, 10], ["k", "k"])

    _, after = played(feed)
    assert data(after) == [(1, ["early", "also early", "middle", "late"], [10, 10, 20, 30], ["k"] * 4)]


def test_without_timestamps_a_key_comes_as_it_came():
    _, after = played(lambda g: g.process_batch([3, 1, 2], None, ["k"] * 3))
    assert data(after) == [(1, [3, 1, 2], None, ["k"] * 3)]


def test_both_inputs_meet_per_key_in_the_order_of_time():
    def feed(grouped):
        grouped.process_batch2(["r1", "r3"], [10, 30], ["k", "k"])
        grouped.process_batch(["l1", "l2"], [10, 20], ["k", "k"])
        grouped.process_batch(["other"], [5], ["j"])

    _, after = played(feed)
    assert [(number, values, keys) for number, values, _, keys in data(after)] == [
        (1, ["other"], ["j"]),
        (1, ["l1"], ["k"]),
        (2, ["r1"], ["k"]),
        (1, ["l2"], ["k"]),
        (2, ["r3"], ["k"]),
    ]


def test_keys_without_an_order_come_as_they_came():
    _, after = played(lambda g: g.process_batch([1, 2, 3, 4], None, ["a", 1, "a", None]))
    assert [(values, keys) for _, values, _, keys in data(after)] == [([1, 3], ["a", "a"]), ([2], [1]), ([4], [None])]


def test_watermarks_before_the_end_and_idleness_are_left_out():
    def feed(grouped):
        grouped.process_batch(["x"], [1], ["k"])
        grouped.process_watermark(100)
        grouped.process_idle(True)

    before, _ = played(feed)
    assert before == []


def test_event_time_ends_after_every_key_and_once_for_all():
    _, after = played(lambda g: g.process_batch([1, 2], None, ["a", "b"]))
    assert [call[0] for call in after] == [1, "watermark", 1, "watermark", "watermark"]
    assert {call[1] for call in after if call[0] == "watermark"} == {MAX_WATERMARK}


RECORDS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 99), st.none() | st.integers(0, 20)), max_size=40)


@given(RECORDS, st.integers(1, 7))
def test_every_record_comes_once_with_its_key_and_keys_do_not_mix(records, size):
    def feed(grouped):
        for start in range(0, len(records), size):
            part = records[start : start + size]
            grouped.process_batch([(k, v) for k, v, _ in part], [t for _, _, t in part], [k for k, _, _ in part])

    _, after = played(feed)
    seen = [(k, v, t) for _, vs, ts, ks in data(after) for (_, v), t, k in zip(vs, ts or [None] * len(vs), ks)]
    assert sorted(seen, key=repr) == sorted(records, key=repr)
    order = [key for key, _, _ in seen]
    assert order == sorted(order)


# -- with real functions ------------------------------------------------------------------------------------------


class CountToTheEnd(KeyedProcessFunction):
    """Counts a key's records, and says so when event time ends."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(1000)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.count.value(), timestamp


def test_timers_of_a_key_fire_before_the_next_key_begins():
    class Watched(CountToTheEnd):
        def process_element(self, value, ctx):
            super().process_element(value, ctx)
            yield "record", value

    harness = OperatorHarness(Process(Watched(), keyed=True), key_selector=lambda v: v, batch=True)
    for word in ("b", "a", "b"):
        harness.process_element(word, 5)
    harness.end_input()
    values = [value for value, _ in harness.output if value != "watermark"]
    assert values == [("record", "a"), ("a", 1, 1000), ("record", "b"), ("record", "b"), ("b", 2, 1000)]


def test_downstream_sees_one_end_of_event_time():
    harness = OperatorHarness(Process(CountToTheEnd(), keyed=True), key_selector=lambda v: v, batch=True)
    for word in ("b", "a"):
        harness.process_element(word, 5)
    harness.end_input()
    assert harness.output[-1] == ("watermark", MAX_WATERMARK)
    assert [e for e in harness.output if e[0] == "watermark"] == [("watermark", MAX_WATERMARK)]


RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())


class Translate(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.get_broadcast_state(RULES).get(value)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(*value)


def test_elements_wait_for_the_broadcast_side():
    harness = OperatorHarness(BroadcastProcess(Translate(), False, (RULES,)), batch=True, inputs=2)
    harness.process_element("one")
    harness.process_element2(("one", "eins"))
    harness.end_input()
    assert harness.output[0] == ("eins", None)


@pytest.mark.parametrize("records", [0, 1, 3])
def test_the_end_comes_also_without_records(records):
    _, after = played(lambda g: g.process_batch(list(range(records)), None, ["k"] * records))
    assert after[-1] == ("watermark", MAX_WATERMARK)
