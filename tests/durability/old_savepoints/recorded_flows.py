"""Recorded jobs: patterns, interval joins, iterations, asynchronous calls, processing time and sources of every kind."""

from __future__ import annotations

import fsspec
from recorded_values import EARLY, LAST, Reading, key_of, numbers, paced, sensor_of, timed
from recorded_windows import Shown

from headrace.cep import CEP, Pattern, PatternProcessFunction
from headrace.common import Duration, Types, WatermarkStrategy
from headrace.common.time import Time
from headrace.datastream import AsyncDataStream, AsyncFunction, KeyedProcessFunction, ProcessJoinFunction
from headrace.datastream.connectors.datagen import DataGeneratorSource
from headrace.datastream.connectors.file_system import FileSource, StreamFormat
from headrace.datastream.connectors.hybrid_source import HybridSource
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.functions import CheckpointedFunction, SourceFunction
from headrace.datastream.state import ListStateDescriptor, ValueStateDescriptor
from headrace.datastream.window import (
    CountTrigger,
    GlobalWindows,
    ProcessingTimeoutTrigger,
    ProcessingTimeSessionWindows,
    PurgingTrigger,
)

DELAY = 2_000
"""Milliseconds of processing time after which what waits for it is due: all of it, when a recording is restored."""


class Found(PatternProcessFunction):
    def process_match(self, match, ctx):
        yield {name: [getattr(event, "number", event) for event in events] for name, events in match.items()}


class Joined(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield left, right, ctx.get_timestamp()


def patterns(env):
    stream = timed(numbers(env))
    plain = Pattern.begin("a").where(lambda v: v % 5 == 0).followed_by("b").where(lambda v: v % 5 == 2)
    plain = plain.within(Duration.of_millis(400))
    loops = Pattern.begin("a").where(lambda r: r.number % 5 == 0).one_or_more().followed_by_any("b")
    loops = loops.where(lambda r: r.number % 7 == 2).within(Duration.of_millis(300))
    readings = stream.map(lambda v: Reading(v, None)).uid("readings").set_parallelism(1)
    readings = readings.key_by(lambda r: sensor_of(r.number))
    return {
        "followed by": CEP.pattern(stream.key_by(key_of), plain).process(Found()).uid("followed-by"),
        "one or more": CEP.pattern(readings, loops).process(Found()).uid("one-or-more"),
        "without keys": CEP.pattern(stream, plain).process(Found()).uid("without-keys"),
    }


def step(pair):
    return pair[0], pair[1] + 1


class Doubled(AsyncFunction):
    async def async_invoke(self, value):
        return [value * 2]


def joins_and_loops(env):
    stream = numbers(env)
    left = timed(stream).key_by(key_of)
    right = timed(stream.map(lambda v: v, Types.LONG()).uid("others").set_parallelism(1), "others-timed").key_by(key_of)
    joined = left.interval_join(right).between(Time.milliseconds(-60), Time.milliseconds(60))
    loop = stream.map(lambda v: (v, 0)).uid("pairs").iterate()
    stepped = loop.map(step).uid("step")
    loop.close_with(stepped.filter(lambda pair: pair[1] < 9).uid("again"))
    return {
        "interval join": joined.process(Joined()).uid("interval-join"),
        "iteration": stepped.filter(lambda pair: pair[1] == 9).uid("done"),
        "async": AsyncDataStream.unordered_wait(stream, Doubled(), Time.seconds(30)).uid("async"),
    }


class DueLater(KeyedProcessFunction):
    """A processing-time timer for each key."""

    def open(self, runtime_context):
        self.first = runtime_context.get_state(ValueStateDescriptor("first", Types.LONG()))

    def process_element(self, value, ctx):
        if self.first.value() is None:
            self.first.update(value)
            timers = ctx.timer_service()
            timers.register_processing_time_timer(timers.current_processing_time() + DELAY)

    def on_timer(self, timestamp, ctx):
        yield str(ctx.get_current_key()), self.first.value()


def processing_time(env):
    """Only the early elements wait for processing time; they are due when the recording is restored."""
    early = numbers(env).filter(lambda v: v <= EARLY).uid("early").set_parallelism(1)
    keyed = early.key_by(key_of)
    gap, forever = Time.milliseconds(DELAY), GlobalWindows.create
    timeout = PurgingTrigger.of(ProcessingTimeoutTrigger.of(CountTrigger.of(1000), Duration.of_millis(DELAY)))
    return {
        "timers": keyed.process(DueLater()).uid("timers"),
        "timers of objects": early.key_by(sensor_of).process(DueLater()).uid("timers-of-objects"),
        "sessions": keyed.window(ProcessingTimeSessionWindows.with_gap(gap)).reduce(lambda a, b: a + b).uid("sessions"),
        "time-out": keyed.window(forever()).trigger(timeout).process(Shown()).uid("time-out"),
    }


def expected_of_processing_time():
    """What comes after the restore: nothing was due before."""
    by_key = {key: [v for v in range(1, EARLY + 1) if key_of(v) == key] for key in range(4)}
    by_object = {str(sensor_of(v)): v for v in range(EARLY, 0, -1)}
    return {
        "timers": [(str(key), values[0]) for key, values in by_key.items()],
        "timers of objects": list(by_object.items()),
        "sessions": [sum(values) for values in by_key.values()],
        "time-out": [(str(key), "GlobalWindow", values) for key, values in by_key.items()],
    }


class Counting(SourceFunction, CheckpointedFunction):
    """A source function that keeps where it is."""

    def __init__(self):
        self.running = True

    def initialize_state(self, context):
        store = context.get_operator_state_store()
        self.place = store.get_list_state(ListStateDescriptor("place", Types.PICKLED_BYTE_ARRAY()))
        self.next = max((reading.number for reading in self.place.get()), default=1)

    def snapshot_state(self, context):
        self.place.update([Reading(self.next, None)])

    def run(self, ctx):
        while self.running and self.next <= LAST:
            with ctx.get_checkpoint_lock():
                ctx.collect(self.next)
                self.next += 1
            paced(None)

    def cancel(self):
        self.running = False


def written(name):
    """Write an input file; gives its address, which is the same wherever the job runs."""
    address = f"memory://recorded/{name}.txt"
    with fsspec.open(address, "w") as file:
        file.write("".join(f"{name} {v}\n" for v in range(1, LAST + 1)))
    return address


def sources(env):
    none = WatermarkStrategy.no_watermarks()

    def slowly(name, stream, kind=None):
        return stream.uid(name).set_parallelism(1).map(paced, kind).uid(f"{name}-paced").set_parallelism(1)

    made = DataGeneratorSource(lambda index: index * 3, count=LAST, records_per_second=1_000_000)
    hybrid = HybridSource.builder(NumberSequenceSource(1, 10)).add_source(NumberSequenceSource(11, LAST)).build()
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), written("lines")).build()
    return {
        "numbers": numbers(env),
        "collection": slowly("collection", env.from_collection([Reading(v, None) for v in range(LAST)]))
        .map(lambda reading: reading.number)
        .uid("collected"),
        "generated": slowly("generated", env.from_source(made, none, "generated")),
        "files": slowly("lines", env.from_source(files, none, "lines")),
        "text": slowly("text", env.read_text_file(written("text"))),
        "function": env.add_source(Counting()).uid("function"),
        "hybrid": slowly("hybrid", env.from_source(hybrid, none, "hybrid")),
    }
