"""The windows that transcripts name, and the functions for them.

With `headrace` replaced by `pyflink` it runs there too, as far as PyFlink has what is named.

An operator of kind `window` has a dict: `assigner`, `trigger`, `evictor` (a name, or `[name, arguments...]`, see the tables
below), `lateness`, `late` (a tag), `all: true` for windows over the whole stream, and one of `reduce`, `aggregate`, `apply`,
`process` with the name of a function; with the first two `then` names a window function.
"""

from __future__ import annotations

from headrace.common import Types
from headrace.datastream import OutputTag
from headrace.datastream import window as w
from headrace.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from headrace.datastream.state import ReducingStateDescriptor, ValueStateDescriptor

# ---------------------------------------------------------------- functions


def add_numbers(a, b):
    return a[0], a[1] + b[1]


class KeepLast(ReduceFunction):
    def reduce(self, value1, value2):
        return value2


class CountAndSum(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + 1, accumulator[1] + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Numbers(AggregateFunction):
    """A mutable accumulator."""

    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value[1])
        return accumulator

    def get_result(self, accumulator):
        return tuple(accumulator)

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Spans(ProcessWindowFunction):
    """(key, start, end, numbers)."""

    def process(self, key, context, elements):
        window = context.window()
        yield key, window.start, window.end, tuple(e[1] if len(e) > 1 else e for e in elements)


class SpansOf(ProcessWindowFunction):
    """(key, start, end, the one value)."""

    def process(self, key, context, elements):
        (one,) = elements
        yield key, context.window().start, context.window().end, one


class Elements(ProcessWindowFunction):
    """(key, numbers)."""

    def process(self, key, context, elements):
        yield key, tuple(e[1] for e in elements)


class Applied(WindowFunction):
    """(key, last timestamp, numbers)."""

    def apply(self, key, window, inputs):
        yield key, window.max_timestamp(), tuple(e[1] for e in inputs)


class AllSpans(ProcessAllWindowFunction):
    def process(self, context, elements):
        yield context.window().start, context.window().end, tuple(e[1] for e in elements)


class AllElements(AllWindowFunction):
    def apply(self, window, inputs):
        yield tuple(e[1] for e in inputs)


class Times(ProcessWindowFunction):
    """(key, end, watermark)."""

    def process(self, key, context, elements):
        yield key, context.window().end, context.current_watermark()


class Silent(ProcessWindowFunction):
    def process(self, key, context, elements):
        return []


class Twice(ProcessWindowFunction):
    def process(self, key, context, elements):
        for element in elements:
            yield element
            yield element


class ToSide(ProcessWindowFunction):
    """Odd sums go to a side output."""

    def process(self, key, context, elements):
        total = sum(e[1] for e in elements)
        yield (OutputTag("odd", Types.PICKLED_BYTE_ARRAY()), (key, total)) if total % 2 else (key, total)


class Firings(ProcessWindowFunction):
    """(key, start, how often this window has fired, how often windows of the key have fired)."""

    def process(self, key, context, elements):
        mine = context.window_state().get_state(ValueStateDescriptor("mine", Types.LONG()))
        all_of_key = context.global_state().get_state(ValueStateDescriptor("all", Types.LONG()))
        mine.update((mine.value() or 0) + 1)
        all_of_key.update((all_of_key.value() or 0) + 1)
        yield key, context.window().start, mine.value(), all_of_key.value()

    def clear(self, context):
        context.window_state().get_state(ValueStateDescriptor("mine", Types.LONG())).clear()


# ---------------------------------------------------------------- triggers and assigners that programs write


class Add(ReduceFunction):
    def reduce(self, value1, value2):
        return value1 + value2


class SumReaches(w.Trigger):
    """Fires when the numbers of the window have reached a sum since the last firing, and at its end."""

    def __init__(self, limit):
        self.limit = limit
        self.sum = ReducingStateDescriptor("sum", Add(), Types.LONG())

    def on_element(self, element, timestamp, window, ctx):
        ctx.register_event_time_timer(window.max_timestamp())
        state = ctx.get_partitioned_state(self.sum)
        state.add(element[1])
        if state.get() >= self.limit:
            state.clear()
            return w.TriggerResult.FIRE
        return w.TriggerResult.CONTINUE

    def on_event_time(self, time, window, ctx):
        return w.TriggerResult.FIRE if time == window.max_timestamp() else w.TriggerResult.CONTINUE

    def on_processing_time(self, time, window, ctx):
        return w.TriggerResult.CONTINUE

    def can_merge(self):
        return True

    def on_merge(self, window, ctx):
        ctx.merge_partitioned_state(self.sum)
        ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window, ctx):
        ctx.get_partitioned_state(self.sum).clear()
        ctx.delete_event_time_timer(window.max_timestamp())


class OnMarker(SumReaches):
    """Does what the number says: 1 fires, 2 purges, 3 does both; time does nothing."""

    def __init__(self):
        super().__init__(0)

    def on_element(self, element, timestamp, window, ctx):
        results = w.TriggerResult
        chosen = {1: results.FIRE, 2: results.PURGE, 3: results.FIRE_AND_PURGE}
        return chosen.get(element[1], results.CONTINUE)

    def on_event_time(self, time, window, ctx):
        return w.TriggerResult.CONTINUE

    def clear(self, window, ctx):
        pass


class GapIsNumber(w.SessionWindowTimeGapExtractor):
    """The second field of an element is its gap."""

    def extract(self, element):
        return element[1]


class UpToNumber(w.MergingWindowAssigner):
    """A merging assigner of a program: a window from the timestamp to the number of the element."""

    def assign_windows(self, element, timestamp, context):
        return [w.TimeWindow(timestamp, element[1])]

    def merge_windows(self, windows, callback):
        w.TimeWindow.merge_windows(windows, callback)

    def get_default_trigger(self, env):
        return w.EventTimeTrigger()

    def get_window_serializer(self):
        return w.TimeWindowSerializer()

    def is_event_time(self):
        return True


class OddAndEven(w.WindowAssigner):
    """Two windows of a program: 0..100 for even numbers, 100..200 for odd ones; none for 0."""

    def assign_windows(self, element, timestamp, context):
        if element[1] == 0:
            return []
        start = 100 if element[1] % 2 else 0
        return [w.TimeWindow(start, start + 100)]

    def get_default_trigger(self, env):
        return w.EventTimeTrigger()

    def get_window_serializer(self):
        return w.TimeWindowSerializer()

    def is_event_time(self):
        return True


def distance(old, new):
    return new[1] - old[1]


# ---------------------------------------------------------------- names

ASSIGNERS = {
    "tumbling": lambda size, offset=0: w.TumblingEventTimeWindows(size, offset),
    "sliding": lambda size, slide, offset=0: w.SlidingEventTimeWindows(size, slide, offset),
    "session": lambda gap: w.EventTimeSessionWindows(gap),
    "dynamic_session": lambda: w.DynamicEventTimeSessionWindows.with_dynamic_gap(GapIsNumber()),
    "tumbling_clock": lambda size, offset=0: w.TumblingProcessingTimeWindows(size, offset),
    "sliding_clock": lambda size, slide, offset=0: w.SlidingProcessingTimeWindows(size, slide, offset),
    "session_clock": lambda gap: w.ProcessingTimeSessionWindows(gap),
    "dynamic_session_clock": lambda: w.DynamicProcessingTimeSessionWindows.with_dynamic_gap(GapIsNumber()),
    "global": lambda: w.GlobalWindows.create(),
    "global_to_the_end": lambda: w.GlobalWindows.create_with_end_of_stream_trigger(),
    "count": lambda size: w.CountTumblingWindowAssigner.of(size),
    "count_sliding": lambda size, slide: w.CountSlidingWindowAssigner.of(size, slide),
    "up_to_number": UpToNumber,
    "odd_and_even": OddAndEven,
}
TRIGGERS = {
    "event_time": lambda: w.EventTimeTrigger.create(),
    "processing_time": lambda: w.ProcessingTimeTrigger.create(),
    "continuous": lambda interval: w.ContinuousEventTimeTrigger(interval),
    "continuous_clock": lambda interval: w.ContinuousProcessingTimeTrigger(interval),
    "count": lambda size: w.CountTrigger.of(size),
    "delta": lambda threshold: w.DeltaTrigger.of(threshold, distance),
    "purging": lambda nested: w.PurgingTrigger.of(made(TRIGGERS, nested)),
    "timeout": lambda nested, *rest: w.ProcessingTimeoutTrigger(made(TRIGGERS, nested), *rest),
    "never": lambda: w.NeverTrigger(),
    "sum": SumReaches,
    "marker": OnMarker,
}
EVICTORS = {
    "count": lambda count, after=False: w.CountEvictor.of(count, after),
    "delta": lambda threshold, after=False: w.DeltaEvictor.of(threshold, distance, after),
    "time": lambda size, after=False: w.TimeEvictor(size, after),
}


def made(table, given):
    """The thing of a name, or of `[name, arguments...]`."""
    name, arguments = (given[0], given[1:]) if isinstance(given, (list, tuple)) else (given, ())
    return table[name](*arguments)


def function(name):
    """The function of a name, or an object of its class."""
    found = globals()[name]
    return found() if isinstance(found, type) else found


def attach_window(stream, given):
    """Windows on a stream that is keyed unless `given` says `all`."""
    given = dict(given)
    assigner = made(ASSIGNERS, given.pop("assigner"))
    windowed = stream.window_all(assigner) if given.pop("all", False) else stream.window(assigner)
    if "trigger" in given:
        windowed = windowed.trigger(made(TRIGGERS, given.pop("trigger")))
    if "evictor" in given:
        windowed = windowed.evictor(made(EVICTORS, given.pop("evictor")))
    if "lateness" in given:
        windowed = windowed.allowed_lateness(given.pop("lateness"))
    if "late" in given:
        windowed = windowed.side_output_late_data(OutputTag(given.pop("late"), Types.PICKLED_BYTE_ARRAY()))
    then = [function(given.pop("then"))] if "then" in given else []
    ((kind, name),) = given.items()
    return getattr(windowed, kind)(function(name), *then)
