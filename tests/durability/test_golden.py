"""Golden pipelines: whatever is done to a job between its beginning and its end, its output is the same.

Each runs straight at parallelism 1; at 2 with checkpoints, stopped and restored; stopped and restored at 1, 2, 5 and 3;
with a savepoint of one state backend restored with the other.
"""

from __future__ import annotations

import time
from collections import Counter

import pytest
from durability_kit import ask_at_once, ask_at_start

from headrace.cep import CEP, Pattern, PatternProcessFunction
from headrace.common import Duration, Types, WatermarkStrategy
from headrace.common.time import Time
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import AggregateFunction, KeyedProcessFunction, ProcessJoinFunction, ProcessWindowFunction
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.functions import KeyedBroadcastProcessFunction
from headrace.datastream.state import MapStateDescriptor, ReducingStateDescriptor
from headrace.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

LAST = 600
KEYS = 6


class Jittered(TimestampAssigner):
    """Event time is out of order by up to 50 ms, and now and then by far more."""

    def extract_timestamp(self, value, record_timestamp):
        late = 400 if value % 97 == 0 else 0
        return value * 10 + value * 7919 % 50 - late


def slow(value):
    time.sleep(0.0005)
    return value


def numbers(env, name="numbers", pace=slow):
    source = env.from_source(NumberSequenceSource(1, LAST), WatermarkStrategy.no_watermarks(), name).uid(name)
    paced = source.set_parallelism(1).map(pace, Types.LONG()).uid(f"{name}-paced").set_parallelism(1)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(60)).with_timestamp_assigner(
        Jittered()
    )
    return paced.assign_timestamps_and_watermarks(strategy).uid(f"{name}-timed").set_parallelism(1)


def keyed(env, **options):
    return numbers(env, **options).key_by(lambda v: v % KEYS)


class Sum(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + value

    def get_result(self, accumulator):
        return accumulator

    def merge(self, a, b):
        return a + b


class WithWindow(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window().start, context.window().end, sorted(elements)


def tumbling(env):
    windowed = keyed(env).window(TumblingEventTimeWindows.of(Time.milliseconds(300)))
    return windowed.allowed_lateness(200).process(WithWindow()).uid("windows")


def sliding(env):
    windowed = keyed(env).window(SlidingEventTimeWindows.of(Time.milliseconds(400), Time.milliseconds(100)))
    return windowed.aggregate(Sum(), WithWindow()).uid("windows")


def sessions(env):
    sparse = numbers(env).filter(lambda v: v % 60 < 35).uid("sparse").set_parallelism(1)
    windowed = sparse.key_by(lambda v: v % KEYS).window(EventTimeSessionWindows.with_gap(Time.milliseconds(150)))
    return windowed.reduce(lambda a, b: a + b, WithWindow()).uid("windows")


class Pairs(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield left, right, ctx.get_timestamp()


def interval_join(env):
    left, right = keyed(env), keyed(env, name="others", pace=lambda v: v)
    joined = left.interval_join(right).between(Time.milliseconds(-60), Time.milliseconds(60))
    return joined.process(Pairs()).uid("joined")


class Found(PatternProcessFunction):
    def process_match(self, match, ctx):
        yield {name: list(events) for name, events in match.items()}


def patterns(env):
    pattern = Pattern.begin("a").where(lambda v: v % 5 == 0).followed_by("b").where(lambda v: v % 5 == 2)
    pattern = pattern.within(Duration.of_millis(400))
    return CEP.pattern(keyed(env), pattern).process(Found()).uid("patterns").map(repr).uid("shown")


class Timers(KeyedProcessFunction):
    """Emits what it has summed up 100 ms after the first element of a span, by a timer."""

    def open(self, runtime_context):
        self.total = runtime_context.get_reducing_state(
            ReducingStateDescriptor("total", lambda a, b: a + b, Types.LONG())
        )

    def process_element(self, value, ctx):
        if self.total.get() is None:
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 100)
        self.total.add(value)

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, self.total.get()
        self.total.clear()


def timers(env):
    return keyed(env).process(Timers()).uid("timers")


RULES = MapStateDescriptor("rules", Types.STRING(), Types.LONG())


class Ruled(KeyedBroadcastProcessFunction):
    """Counts elements by key; rules are broadcast, all before the first element matters to the sums."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.LONG(), Types.LONG()))

    def process_element(self, value, ctx):
        self.seen.put(value % 3, (self.seen.get(value % 3) or 0) + 1)
        yield value % KEYS, value % 3, self.seen.get(value % 3)

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(str(value), value)


def broadcast(env):
    rules = env.from_source(NumberSequenceSource(1, 3), WatermarkStrategy.no_watermarks(), "rules").uid("rules")
    return keyed(env).connect(rules.set_parallelism(1).broadcast(RULES)).process(Ruled()).uid("ruled")


PIPELINES = [tumbling, sliding, sessions, interval_join, patterns, timers, broadcast]


@pytest.fixture
def make_env(make_env):
    """A watermark after each record, so that what is late does not depend on where epochs end."""

    def make(parallelism, interval="100 ms", **settings):
        return make_env(
            parallelism, interval, headrace__watermark__interval_records=1, headrace__epoch__max_records=30, **settings
        )

    return make


def as_counter(rows):
    return Counter(map(repr, rows))


@pytest.fixture(scope="module")
def golden():
    """The output of each pipeline at parallelism 1 without checkpoints."""
    return {}


def straight(golden, make_env, pipeline):
    if pipeline.__name__ not in golden:
        rows = pipeline(make_env(1, interval=None)).execute_and_collect()
        golden[pipeline.__name__] = as_counter(rows)
    return golden[pipeline.__name__]


def run_until(stream, share):
    """The rows of a job that is stopped with a savepoint when it has read that share of its input; and the savepoint."""
    results = stream.execute_and_collect()
    job = results._job
    deadline = time.monotonic() + 60
    while job.last_epoch.get("totalInputRows", 0) < share * LAST and time.monotonic() < deadline:
        if job.status().is_terminal_state():
            job.wait()
        time.sleep(0.001)
    path = job.stop_with_savepoint(False, None)
    return list(results), path


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: p.__name__)
def test_stopped_and_restored(make_env, golden, pipeline):
    before, path = run_until(pipeline(make_env(2)), 0.5)
    after = list(pipeline(make_env(2, execution__state_recovery__path=path)).execute_and_collect())
    assert as_counter(before) + as_counter(after) == straight(golden, make_env, pipeline)
    assert before and after


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: p.__name__)
def test_rescaled_again_and_again(make_env, golden, pipeline):
    rows, path = run_until(pipeline(make_env(1)), 0.1)
    for parallelism in (2, 5):
        more, path = run_until(pipeline(make_env(parallelism, execution__state_recovery__path=path)), 0.1)
        rows += more
    rows += pipeline(make_env(3, execution__state_recovery__path=path)).execute_and_collect()
    assert as_counter(rows) == straight(golden, make_env, pipeline)


@pytest.mark.parametrize(("first", "then"), [("hashmap", "rocksdb"), ("rocksdb", "hashmap")])
@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: p.__name__)
def test_from_one_backend_to_the_other(make_env, golden, pipeline, first, then):
    before, path = run_until(pipeline(make_env(2, state__backend__type=first)), 0.5)
    env = make_env(3, execution__state_recovery__path=path, state__backend__type=then)
    after = list(pipeline(env).execute_and_collect())
    assert as_counter(before) + as_counter(after) == straight(golden, make_env, pipeline)
    assert before and after


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: p.__name__)
def test_rescaled_while_it_runs(make_env, golden, pipeline):
    results = pipeline(make_env(2)).execute_and_collect()
    job = results._job
    for share, parallelisms in ((0.3, (3,)), (0.45, (5, 1, 4)), (0.6, (1,))):
        while job.last_epoch.get("totalInputRows", 0) < share * LAST and not job.status().is_terminal_state():
            time.sleep(0.002)
        for request in ask_at_once(job, *parallelisms):
            assert request.done.wait(60) and request.error is None
    assert as_counter(results) == straight(golden, make_env, pipeline)


@pytest.mark.parametrize("pipeline", PIPELINES, ids=lambda p: p.__name__)
def test_restored_and_rescaled_before_its_first_epoch(make_env, golden, pipeline, monkeypatch):
    wanted = straight(golden, make_env, pipeline)
    before, path = run_until(pipeline(make_env(2, state__backend__type="rocksdb")), 0.5)
    asked = ask_at_start(monkeypatch, 3, 1, 4)
    env = make_env(2, execution__state_recovery__path=path, state__backend__type="rocksdb")
    after = list(pipeline(env).execute_and_collect())
    assert [request.answer for request in asked] == [3, 1, 4]
    assert as_counter(before) + as_counter(after) == wanted
