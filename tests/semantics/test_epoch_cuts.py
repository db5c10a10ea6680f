"""What a key gives depends on its records, watermarks and timers only: not on where epochs are cut, not on the parallelism,
not on whether tasks live on or are rebuilt from their state files."""

from __future__ import annotations

from collections import defaultdict
from typing import Any
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st
from semantics_kit.forgetful import ForgetfulExecutor
from semantics_kit.functions import ANY, first

import headrace.submission
from headrace.common import Configuration, WatermarkStrategy
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.functions import KeyedProcessFunction, ReduceFunction
from headrace.datastream.state import (
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from headrace.graph.specs import Process
from headrace.local.executor import LocalExecutor
from headrace.testing import EndEpoch, Event, OperatorHarness, Record, WatermarkTo, event_source, observe


class Sum(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2


class EverythingKeyed(KeyedProcessFunction):
    """Touches all kinds of state, registers, moves and deletes timers; results show all of it."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", ANY))
        self.recent = runtime_context.get_list_state(ListStateDescriptor("recent", ANY))
        self.by_value = runtime_context.get_map_state(MapStateDescriptor("by value", ANY, ANY))
        self.total = runtime_context.get_reducing_state(ReducingStateDescriptor("total", Sum(), ANY))

    def process_element(self, value, ctx):
        _, number = value
        self.count.update((self.count.value() or 0) + 1)
        self.recent.add(number)
        self.total.add(number)
        self.by_value.put(number % 3, (self.by_value.get(number % 3) or 0) + 1)
        service = ctx.timer_service()
        service.register_event_time_timer(ctx.timestamp() + number)
        if number % 4 == 0:
            service.delete_event_time_timer(ctx.timestamp() + 1)
        if number == 7:
            self.recent.clear()
            self.by_value.remove(1)
        yield ctx.get_current_key(), "element", number, self.count.value(), self.total.get()

    def on_timer(self, timestamp, ctx):
        counts = tuple(sorted(self.by_value.items()))
        yield ctx.get_current_key(), "timer", timestamp, self.count.value(), tuple(self.recent.get()), counts
        if timestamp % 5 == 0:
            ctx.timer_service().register_event_time_timer(timestamp - 2 if timestamp % 2 else timestamp + 3)
        if timestamp % 3 == 0:
            self.count.clear()
            self.recent.update(list(self.recent.get())[-1:])


Results = dict[Any, list[Record]]
KEYS = st.sampled_from(["ann", "bob", 3, 4.5, None, ("a", 1), b"x"])
RECORDS = st.builds(
    lambda key, number, timestamp: Record((key, number), timestamp), KEYS, st.integers(0, 9), st.integers(0, 40)
)


@st.composite
def event_lists(draw: st.DrawFn) -> list[Event]:
    """Records in any order of time, with watermarks that rise between them."""
    events: list[Event] = []
    watermark = 0
    for record in draw(st.lists(RECORDS, max_size=40)):
        events.append(record)
        if draw(st.integers(0, 3)) == 0:
            watermark += draw(st.integers(1, 8))
            events.append(WatermarkTo(watermark))
    return events


def by_key(events: list[Event]) -> Results:
    results: Results = defaultdict(list)
    for event in events:
        if isinstance(event, Record):
            results[event.value[0]].append(event)
    return results


def on_the_harness(events: list[Event]) -> Results:
    """One record at a time, no epochs."""
    harness = OperatorHarness(Process(EverythingKeyed(), keyed=True), first)
    for event in events:
        if isinstance(event, Record):
            harness.process_element(event.value, event.timestamp)
        elif isinstance(event, WatermarkTo):
            harness.process_watermark(event.timestamp)
    harness.end_input()
    return by_key(harness.events)


def as_job(events: list[Event], parallelism: int, executor: type[LocalExecutor]) -> Results:
    """On the local executor."""
    configuration = Configuration()
    for key, value in {"headrace.executor": "local", "headrace.epoch.idle-poll-ms": "1"}.items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(parallelism)
    source = env.from_source(event_source(events), WatermarkStrategy.no_watermarks(), "events").set_parallelism(1)
    keyed = source.key_by(first).process(EverythingKeyed())
    with mock.patch.object(headrace.submission, "LocalExecutor", executor):
        return by_key(list(observe(keyed).execute_and_collect()))


@settings(max_examples=60, deadline=None)
@given(
    events=event_lists(),
    cuts=st.sets(st.integers(0, 50), max_size=12),
    parallelism=st.integers(1, 3),
    executor=st.sampled_from([LocalExecutor, ForgetfulExecutor]),
)
def test_results_of_a_key_do_not_depend_on_epochs_and_parallelism(events, cuts, parallelism, executor):
    cut: list[Event] = []
    for i, event in enumerate(events):
        cut += [EndEpoch(), event] if i in cuts else [event]
    assert as_job(cut, parallelism, executor) == on_the_harness(events)
