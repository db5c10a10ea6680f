"""Recorded jobs: windows of every kind with contents that wait, triggers and evictors."""

from __future__ import annotations

from recorded_states import Mean
from recorded_values import Reading, key_of, numbers, sensor_of, timed

from headrace.common import Types
from headrace.common.time import Time
from headrace.datastream import ProcessWindowFunction
from headrace.datastream.functions import CoGroupFunction, JoinFunction, ProcessAllWindowFunction
from headrace.datastream.output_tag import OutputTag
from headrace.datastream.state import ListStateDescriptor, ReducingStateDescriptor, ValueStateDescriptor
from headrace.datastream.window import (
    ContinuousEventTimeTrigger,
    CountEvictor,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    DeltaEvictor,
    DeltaTrigger,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    GlobalWindows,
    MergingWindowAssigner,
    PurgingTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    TimeEvictor,
    TimeWindow,
    TimeWindowSerializer,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    Window,
    WindowAssigner,
)


def milliseconds(count):
    return Time.milliseconds(count)


def tumbling():
    return TumblingEventTimeWindows.of(milliseconds(300))


def sliding():
    return SlidingEventTimeWindows.of(milliseconds(400), milliseconds(100))


def sessions():
    return EventTimeSessionWindows.with_gap(milliseconds(150))


class Shown(ProcessWindowFunction):
    """The key, the window and its contents."""

    def process(self, key, context, elements):
        window = context.window()
        span = (window.start, window.end) if isinstance(window, TimeWindow) else type(window).__name__
        yield str(key), span, sorted(elements)


class Counted(ProcessWindowFunction):
    """How often the window has fired, and the key: state of windows and state of keys."""

    window_state = ValueStateDescriptor("fired", Types.LONG())
    global_state = ListStateDescriptor("ends", Types.LONG())

    def process(self, key, context, elements):
        fired = context.window_state().get_state(self.window_state)
        fired.update((fired.value() or 0) + 1)
        ends = context.global_state().get_list_state(self.global_state)
        ends.add(context.window().end)
        yield key, context.window().end, fired.value(), sorted(ends.get()), sorted(elements)

    def clear(self, context):
        context.window_state().get_state(self.window_state).clear()


class EveryThird(Trigger):
    """Fires at each third element, and at the end; its count is an object of the program."""

    state = ValueStateDescriptor("count", Types.PICKLED_BYTE_ARRAY())
    sum = ReducingStateDescriptor("sum", lambda a, b: a + b, Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(self.sum).add(element)
        count = ctx.get_partitioned_state(self.state)
        seen = 1 if count.value() is None else count.value().number + 1
        count.update(Reading(seen, None))
        return TriggerResult.FIRE if seen % 3 == 0 else TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE_AND_PURGE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def on_merge(self, window, ctx):
        pass

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())
        ctx.get_partitioned_state(self.state).clear()
        ctx.get_partitioned_state(self.sum).clear()


class AtEnd(Trigger):
    """Fires at the end of a window; windows may merge."""

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.delete_event_time_timer(window.max_timestamp())


class Pauses(MergingWindowAssigner):
    """Sessions of the program's own with a gap of 120 ms."""

    def assign_windows(self, element, timestamp, context):
        return [TimeWindow(timestamp, timestamp + 120)]

    def merge_windows(self, windows, callback):
        group = []
        for window in sorted(windows, key=lambda w: w.start):
            if group and window.start > max(w.end for w in group):
                self._tell(group, callback)
                group = []
            group.append(window)
        self._tell(group, callback)

    def _tell(self, group, callback):
        if len(group) > 1:
            callback.merge(group, TimeWindow(min(w.start for w in group), max(w.end for w in group)))

    def get_default_trigger(self, env):
        return AtEnd()

    def get_window_serializer(self):
        return TimeWindowSerializer()

    def is_event_time(self):
        return True


class NamedWindow(Window):
    """A window of the program's own class."""

    def __init__(self, name, end):
        self.name, self.start, self.end = name, end - 250, end

    def max_timestamp(self):
        return self.end - 1

    def __eq__(self, other):
        return isinstance(other, NamedWindow) and (self.name, self.end) == (other.name, other.end)

    def __hash__(self):
        return hash((self.name, self.end))


class NamedWindows(WindowAssigner):
    def assign_windows(self, element, timestamp, context):
        return [NamedWindow("odd" if element % 2 else "even", timestamp - timestamp % 250 + 250)]

    def get_default_trigger(self, env):
        return AtEnd()

    def get_window_serializer(self):
        return None

    def is_event_time(self):
        return True


class Gap(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return 60 + element % 5 * 20


def difference(old, new):
    return new - old


def sparse(value):
    return value % 40 < 25


def total(a, b):
    return a + b


def time_windows(env):
    stream = timed(numbers(env))
    keyed = stream.key_by(key_of)
    some = stream.filter(sparse).uid("sparse").set_parallelism(1).key_by(key_of)
    late = OutputTag("late", Types.LONG())
    with_late = keyed.window(tumbling()).allowed_lateness(100).side_output_late_data(late).process(Counted())
    return {
        "tumbling": keyed.window(tumbling()).process(Shown()).uid("tumbling"),
        "tumbling, own keys": stream.key_by(sensor_of).window(tumbling()).process(Shown()).uid("tumbling-own-keys"),
        "lateness": with_late.uid("lateness"),
        "late": with_late.get_side_output(late),
        "reduced": keyed.window(tumbling()).reduce(total).uid("tumbling-reduced"),
        "aggregated": keyed.window(tumbling()).aggregate(Mean(), Shown()).uid("tumbling-aggregated"),
        "sliding": keyed.window(sliding()).process(Shown()).uid("sliding"),
        "sliding aggregated": keyed.window(sliding()).aggregate(Mean(), Shown()).uid("sliding-aggregated"),
        "sessions": some.window(sessions()).process(Shown()).uid("sessions"),
        "sessions reduced": some.window(sessions()).reduce(total, Shown()).uid("sessions-reduced"),
        "dynamic sessions": some.window(DynamicEventTimeSessionWindows(Gap())).process(Shown()).uid("dynamic"),
        "late sessions": some.window(sessions()).allowed_lateness(200).process(Shown()).uid("sessions-late"),
        "own sessions": some.window(Pauses()).process(Shown()).uid("own-sessions"),
        "own windows": keyed.window(NamedWindows()).process(Shown()).uid("own-windows"),
        "all": stream.window_all(tumbling()).process(AllShown()).uid("all"),
    }


class AllShown(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, sorted(elements)


def triggers_and_evictors(env):
    stream = numbers(env)
    keyed, counted = timed(stream).key_by(key_of), stream.key_by(key_of)
    forever = GlobalWindows.create
    every = ContinuousEventTimeTrigger.of(milliseconds(70))
    delta = DeltaTrigger.of(20, difference)
    return {
        "own trigger": keyed.window(tumbling()).trigger(EveryThird()).process(Shown()).uid("own-trigger"),
        "continuous": keyed.window(tumbling()).trigger(every).process(Shown()).uid("continuous"),
        "continuous sessions": keyed.window(sessions())
        .trigger(every)
        .reduce(total, Shown())
        .uid("continuous-sessions"),
        "count": counted.window(forever()).trigger(CountTrigger.of(7)).process(Shown()).uid("count"),
        "purging": counted.window(forever())
        .trigger(PurgingTrigger.of(CountTrigger.of(7)))
        .process(Shown())
        .uid("purging"),
        "delta": counted.window(forever()).trigger(PurgingTrigger.of(delta)).process(Shown()).uid("delta"),
        "count windows": counted.count_window(5).process(Shown()).uid("count-windows"),
        "sliding count windows": counted.count_window(6, 4).process(Shown()).uid("sliding-count-windows"),
        "count assigner": counted.window(CountTumblingWindowAssigner.of(5)).process(Shown()).uid("count-assigner"),
        "sliding count assigner": counted.window(CountSlidingWindowAssigner.of(6, 4))
        .process(Shown())
        .uid("sliding-count-assigner"),
        "count sessions": keyed.window(sessions()).trigger(CountTrigger.of(4)).process(Shown()).uid("count-sessions"),
        "count evictor": keyed.window(tumbling()).evictor(CountEvictor.of(3)).process(Shown()).uid("count-evictor"),
        "time evictor": keyed.window(tumbling())
        .evictor(TimeEvictor.of(milliseconds(100)))
        .process(Shown())
        .uid("time-evictor"),
        "delta evictor": keyed.window(tumbling())
        .evictor(DeltaEvictor.of(12, difference))
        .process(Shown())
        .uid("delta-evictor"),
        "evicted sessions": keyed.window(sessions())
        .evictor(CountEvictor.of(5))
        .process(Shown())
        .uid("evicted-sessions"),
        "evicted counts": counted.window(forever())
        .trigger(CountTrigger.of(4))
        .evictor(CountEvictor.of(6))
        .process(Shown())
        .uid("evicted-counts"),
    }


class Both(JoinFunction):
    def join(self, first, second):
        return first, second


class Groups(CoGroupFunction):
    def co_group(self, first, second):
        yield sorted(first), sorted(second)


def window_joins(env):
    stream = timed(numbers(env))
    left = stream.filter(lambda v: v % 3 > 0).uid("left").set_parallelism(1)
    right = stream.filter(lambda v: v % 3 < 2).uid("right").set_parallelism(1)
    joined = left.join(right).where(key_of).equal_to(key_of).window(tumbling()).apply(Both())
    grouped = left.co_group(right).where(key_of).equal_to(key_of).window(sliding()).apply(Groups())
    return {"joined": joined.uid("joined"), "grouped": grouped.uid("grouped")}
