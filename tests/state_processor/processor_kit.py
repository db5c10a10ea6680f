"""The job whose savepoints the tests read: every kind of state, windows, timers, two sources. And what must be in them."""

from __future__ import annotations

import contextlib
import threading
import time

from headrace.common import Types, WatermarkStrategy
from headrace.common.errors import JobCancelledError
from headrace.common.time import Duration, Time
from headrace.datastream import (
    AggregateFunction,
    BroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
)
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.functions import CheckpointedFunction
from headrace.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)

KEYS = 7
LAST = 1000
TIMER = 10**15


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + 1, accumulator[1] + value

    def get_result(self, accumulator):
        return accumulator[1] / accumulator[0]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


def descriptors():
    timed = ListStateDescriptor("timed", Types.LONG())
    timed.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
    return {
        "count": ValueStateDescriptor("count", Types.LONG()),
        "seen": ListStateDescriptor("seen", Types.LONG()),
        "by_parity": MapStateDescriptor("by_parity", Types.STRING(), Types.LONG()),
        "largest": ReducingStateDescriptor("largest", max, Types.LONG()),
        "mean": AggregatingStateDescriptor("mean", Mean(), Types.PICKLED_BYTE_ARRAY()),
        "timed": timed,
    }


class EveryKind(KeyedProcessFunction):
    """Emits (key, count, seen, by parity, largest, mean, timed) for every number."""

    def open(self, runtime_context):
        d = descriptors()
        self.count = runtime_context.get_state(d["count"])
        self.seen = runtime_context.get_list_state(d["seen"])
        self.by_parity = runtime_context.get_map_state(d["by_parity"])
        self.largest = runtime_context.get_reducing_state(d["largest"])
        self.mean = runtime_context.get_aggregating_state(d["mean"])
        self.timed = runtime_context.get_list_state(d["timed"])

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(value)
        parity = "odd" if value % 2 else "even"
        self.by_parity.put(parity, (self.by_parity.get(parity) or 0) + 1)
        self.largest.add(value)
        self.mean.add(value)
        self.timed.add(value)
        ctx.timer_service().register_event_time_timer(TIMER + value)
        maps = dict(self.by_parity.items())
        yield (
            ctx.get_current_key(), self.count.value(), sorted(self.seen.get()), sorted(maps.items()),
            self.largest.get(), self.mean.get(), sorted(self.timed.get()),
        )  # fmt: skip

    def on_timer(self, timestamp, ctx):
        if timestamp - TIMER > 10**9:
            yield "timer", ctx.get_current_key(), timestamp


class Remembering(MapFunction, CheckpointedFunction):
    """Keeps every number that passes, in a list state and in a union list state."""

    def initialize_state(self, context):
        store = context.get_operator_state_store()
        self.passed = store.get_list_state(ListStateDescriptor("passed", Types.LONG()))
        self.union = store.get_union_list_state(ListStateDescriptor("union", Types.LONG()))

    def snapshot_state(self, context):
        pass

    def map(self, value):
        self.passed.add(value)
        self.union.add(value)
        return value


RULES = MapStateDescriptor("rules", Types.LONG(), Types.LONG())


class Rules(BroadcastProcessFunction):
    """Emits (number, all rules so far)."""

    def process_element(self, value, ctx):
        yield value, sorted(ctx.get_broadcast_state(RULES).items())

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(value, value * value)
        yield from ()


class Stamp:
    def extract_timestamp(self, value, record_timestamp):
        return value


def numbers(env, last, uid="numbers"):
    source = NumberSequenceSource(1, last)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(10**6))
    stream = env.from_source(source, strategy.with_timestamp_assigner(Stamp()), uid)
    return stream.uid(uid).set_parallelism(1)


def every_kind(env, last=LAST):
    stream = numbers(env, last).map(slow, Types.LONG()).uid("slow").set_parallelism(1)
    stream = stream.map(Remembering(), Types.LONG()).uid("remembering")
    return stream.key_by(lambda v: v % KEYS, Types.LONG()).process(EveryKind()).uid("every-kind")


def savepoint_of(stream, enough):
    """Runs a job until it has given `enough` rows and all of these; stops it with a savepoint: (rows, path)."""
    results = stream.execute_and_collect()
    rows = []

    def file_rows():
        with contextlib.suppress(JobCancelledError):
            for row in results:
                rows.append(row)

    thread = threading.Thread(target=file_rows, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while len(rows) < enough and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(rows) >= enough
    path = results._job.stop_with_savepoint(False, None)
    thread.join(20)
    return rows, path


def slow(value):
    time.sleep(0.001)
    return value
