"""The functions that transcripts name. Written against PyFlink's API only: with `headrace` replaced by `pyflink` they run there.

Most of them do what the record says (`[ann, update, 3]`), so that a transcript reads without this file.
"""

from __future__ import annotations

from headrace.common import Types
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import OutputTag, TimeDomain
from headrace.datastream.functions import (
    AggregateFunction,
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    FilterFunction,
    FlatMapFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    ReduceFunction,
)
from headrace.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)

ANY = Types.PICKLED_BYTE_ARRAY()
RULES = MapStateDescriptor("rules", ANY, ANY)

# ---------------------------------------------------------------- key selectors


def first(record):
    return record[0]


def second(record):
    return record[1]


def itself(record):
    return record


def as_list(record):
    return [record[0], len(record[0])]


def one_key(record):
    return "all"


# ---------------------------------------------------------------- one record at a time


def double(number):
    return number * 2


def nothing(record):
    return None


def is_even(number):
    return number % 2 == 0


def is_odd_number(number):
    return number % 2  # true or false by being 1 or 0


def words(line):
    return line.split()


def countdown(number):
    while number > 0:
        yield number
        number -= 1


def both_ways(pair):
    return {pair, pair[::-1]} if pair[0] != pair[1] else (pair,)


class Doubling(MapFunction):
    def open(self, runtime_context):
        self.factor = 2

    def map(self, value):
        return value * self.factor


class Above(FilterFunction):
    def __init__(self, limit=10):
        self.limit = limit

    def filter(self, value):
        return value > self.limit


class Letters(FlatMapFunction):
    def flat_map(self, value):
        yield from value


class Numbered(MapFunction):
    """On a keyed stream: (element, how many of this key so far)."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", ANY))

    def map(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return value, count


class FirstOfKey(FilterFunction):
    """On a keyed stream: keeps the first element of each key."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen", ANY))

    def filter(self, value):
        if self.seen.value():
            return False
        self.seen.update(True)
        return True


class WithPrevious(FlatMapFunction):
    """On a keyed stream: (previous element of the key, element), from the second on."""

    def open(self, runtime_context):
        self.previous = runtime_context.get_state(ValueStateDescriptor("previous", ANY))

    def flat_map(self, value):
        previous = self.previous.value()
        self.previous.update(value)
        if previous is not None:
            yield previous, value


# ---------------------------------------------------------------- reduce


def add_second(a, b):
    return a[0], a[1] + b[1]


def joined(a, b):
    return a[0], f"({a[1]}{b[1]})"


class Longest(ReduceFunction):
    def reduce(self, value1, value2):
        return value2 if len(value2[1]) > len(value1[1]) else value1


# ---------------------------------------------------------------- keyed state: the record says what to do


class ValueCalls(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_state(ValueStateDescriptor("value", ANY))

    def process_element(self, value, ctx):
        key, call, *arguments = value
        result = getattr(self.state, call)(*arguments)
        if call == "value":
            yield key, result


class ListCalls(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_list_state(ListStateDescriptor("list", ANY))

    def process_element(self, value, ctx):
        key, call, *arguments = value
        if call in ("add_all", "update"):
            arguments = [list(arguments[0])]
        result = getattr(self.state, call)(*arguments)
        if call == "get":
            yield key, None if result is None else tuple(result)


class MapCalls(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_map_state(MapStateDescriptor("map", ANY, ANY))

    def process_element(self, value, ctx):
        key, call, *arguments = value
        if call == "put_all":
            arguments = [dict(arguments[0])]
        result = getattr(self.state, call)(*arguments)
        if call in ("keys", "values", "items"):
            yield key, call, tuple(sorted(result))
        elif call in ("get", "contains", "is_empty"):
            yield key, call, result


class Concatenation(ReduceFunction):
    def reduce(self, value1, value2):
        return f"{value1}+{value2}"


class ReducingCalls(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_reducing_state(ReducingStateDescriptor("reduced", Concatenation(), ANY))

    def process_element(self, value, ctx):
        key, call, *arguments = value
        result = getattr(self.state, call)(*arguments)
        if call == "get":
            yield key, result


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, a, b):
        return a[0] + b[0], a[1] + b[1]


class AggregatingCalls(KeyedProcessFunction):
    def open(self, runtime_context):
        self.state = runtime_context.get_aggregating_state(AggregatingStateDescriptor("mean", Mean(), ANY))

    def process_element(self, value, ctx):
        key, call, *arguments = value
        result = getattr(self.state, call)(*arguments)
        if call == "get":
            yield key, result


class TwoStates(KeyedProcessFunction):
    """Two value states of different names do not see each other."""

    def open(self, runtime_context):
        self.states = {
            "left": runtime_context.get_state(ValueStateDescriptor("left", ANY)),
            "right": runtime_context.get_state(ValueStateDescriptor("right", ANY)),
        }

    def process_element(self, value, ctx):
        _, which, number = value
        self.states[which].update(number)
        yield self.states["left"].value(), self.states["right"].value()


# ---------------------------------------------------------------- process functions


class Facts(ProcessFunction):
    """(element, its timestamp, the watermark)."""

    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.timer_service().current_watermark()


class Returning(ProcessFunction):
    """Returns a list instead of yielding; nothing for 0."""

    def process_element(self, value, ctx):
        return [value] * value if value else None


class KeyedFacts(KeyedProcessFunction):
    """(key, element, its timestamp, the watermark)."""

    def process_element(self, value, ctx):
        yield ctx.get_current_key(), value, ctx.timestamp(), ctx.timer_service().current_watermark()


class Remembering(KeyedProcessFunction):
    """All elements of the key so far, in order."""

    def open(self, runtime_context):
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", ANY))

    def process_element(self, value, ctx):
        self.seen.add(value[1])
        yield ctx.get_current_key(), tuple(self.seen.get())


# ---------------------------------------------------------------- timers: the record says which


def _domain(ctx):
    return "event" if ctx.time_domain() == TimeDomain.EVENT_TIME else "processing"


def call_timers(value, ctx):
    """`[key, event, 5, 7]` registers, `[key, delete_event, 5]` deletes; the same with `processing`."""
    service = ctx.timer_service()
    calls = {
        "event": service.register_event_time_timer,
        "delete_event": service.delete_event_time_timer,
        "processing": service.register_processing_time_timer,
        "delete_processing": service.delete_processing_time_timer,
    }
    for timestamp in value[2:]:
        calls[value[1]](timestamp)


class Timers(KeyedProcessFunction):
    """Registers and deletes; a timer gives (key, domain, its time)."""

    def process_element(self, value, ctx):
        if len(value) > 1:
            call_timers(value, ctx)
        return ()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), _domain(ctx), timestamp


class TimerFacts(KeyedProcessFunction):
    """A timer gives (key, domain, ctx.timestamp(), watermark); an element (key, timestamp, watermark)."""

    def process_element(self, value, ctx):
        if len(value) > 1:
            call_timers(value, ctx)
        yield ctx.get_current_key(), ctx.timestamp(), ctx.timer_service().current_watermark()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), _domain(ctx), ctx.timestamp(), ctx.timer_service().current_watermark()


class TimerChain(KeyedProcessFunction):
    """`[key, event, 5, 7, 9]`: 5 is registered at once, 7 when that fires, and so on."""

    def open(self, runtime_context):
        self.left = runtime_context.get_list_state(ListStateDescriptor("left", ANY))

    def process_element(self, value, ctx):
        self.left.update(list(value[3:]))
        call_timers(value[:3], ctx)
        return []

    def on_timer(self, timestamp, ctx):
        left = list(self.left.get())
        if left:
            call_timers((ctx.get_current_key(), _domain(ctx), left[0]), ctx)
            self.left.update(left[1:])
        yield ctx.get_current_key(), timestamp


class DeletingTimer(KeyedProcessFunction):
    """Registers 10 and 20; the timer at 10 deletes the one at 20."""

    def process_element(self, value, ctx):
        call_timers((value[0], "event", 10, 20), ctx)
        return []

    def on_timer(self, timestamp, ctx):
        if timestamp == 10:
            ctx.timer_service().delete_event_time_timer(20)
        yield ctx.get_current_key(), timestamp


class LastWins(KeyedProcessFunction):
    """Session-like: each element moves the key's timer to its timestamp + 10; the timer gives the count and clears it."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", ANY))
        self.due = runtime_context.get_state(ValueStateDescriptor("due", ANY))

    def process_element(self, value, ctx):
        service = ctx.timer_service()
        if self.due.value() is not None:
            service.delete_event_time_timer(self.due.value())
        self.due.update(ctx.timestamp() + 10)
        self.count.update((self.count.value() or 0) + 1)
        service.register_event_time_timer(self.due.value())
        return ()

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.count.value()
        self.count.clear()
        self.due.clear()


class ClockFacts(KeyedProcessFunction):
    """What the clock says, for an element and in a timer 10 ms later."""

    def process_element(self, value, ctx):
        now = ctx.timer_service().current_processing_time()
        ctx.timer_service().register_processing_time_timer(now + 10)
        yield ctx.get_current_key(), now

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), timestamp, ctx.timer_service().current_processing_time()


class EndOfInput(KeyedProcessFunction):
    """Waits for the end of event time to give the last element of each key."""

    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", ANY))

    def process_element(self, value, ctx):
        self.last.update(value[1])
        ctx.timer_service().register_event_time_timer(9223372036854775807)
        return []

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), self.last.value(), ctx.timer_service().current_watermark()


# ---------------------------------------------------------------- side outputs


class ToOutputs(ProcessFunction):
    """`[tag, value]` goes to that side output, `[main, value]` to the main one; `[both, value]` to `left` and the main one."""

    def process_element(self, value, ctx):
        tag, content = value
        if tag in ("main", "both"):
            yield content
        if tag == "both":
            yield OutputTag("left"), content
        elif tag != "main":
            yield OutputTag(tag), content


class LateToSide(ProcessFunction):
    """Elements behind the watermark go to the side output `late`."""

    def process_element(self, value, ctx):
        if ctx.timestamp() <= ctx.timer_service().current_watermark():
            yield OutputTag("late"), value
        else:
            yield value


class TimerToSide(KeyedProcessFunction):
    """A timer gives its time to the side output `timers`."""

    def process_element(self, value, ctx):
        call_timers(value, ctx)
        yield value[0]

    def on_timer(self, timestamp, ctx):
        yield OutputTag("timers"), (ctx.get_current_key(), timestamp)


# ---------------------------------------------------------------- two inputs


class FromBoth(CoMapFunction):
    def map1(self, value):
        return 1, value

    def map2(self, value):
        return None if value == "nothing" else (2, value)


class Spread(CoFlatMapFunction):
    def flat_map1(self, value):
        yield from value

    def flat_map2(self, value):
        return [value, value] if value else None


class CoFacts(CoProcessFunction):
    def process_element1(self, value, ctx):
        yield 1, value, ctx.timestamp(), ctx.timer_service().current_watermark()

    def process_element2(self, value, ctx):
        yield 2, value, ctx.timestamp(), ctx.timer_service().current_watermark()


class SharedCount(KeyedCoProcessFunction):
    """Both inputs count into one state of the key."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", ANY))

    def _count(self, number, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield number, ctx.get_current_key(), count

    def process_element1(self, value, ctx):
        return self._count(1, value, ctx)

    def process_element2(self, value, ctx):
        return self._count(2, value, ctx)


class CoTimers(KeyedCoProcessFunction):
    """Both inputs register timers; input 2 also deletes."""

    def process_element1(self, value, ctx):
        call_timers(value, ctx)
        return []

    def process_element2(self, value, ctx):
        call_timers(value, ctx)
        return []

    def on_timer(self, timestamp, ctx):
        yield ctx.get_current_key(), _domain(ctx), timestamp, ctx.timer_service().current_watermark()


class KeyedNumbers(CoMapFunction):
    """A rich CoMapFunction on keyed inputs: counts per key over both."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", ANY))

    def _next(self):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return count

    def map1(self, value):
        return 1, value[0], self._next()

    def map2(self, value):
        return 2, value[0], self._next()


# ---------------------------------------------------------------- broadcast state


def change_rules(value, ctx):
    """`[put, key, value]`, `[remove, key]`, `[clear]`."""
    call, *arguments = value
    getattr(ctx.get_broadcast_state(RULES), call)(*arguments)


class Lookup(BroadcastProcessFunction):
    """An element is looked up in the rules."""

    def process_element(self, value, ctx):
        rules = ctx.get_broadcast_state(RULES)
        yield value, rules.get(value) if rules.contains(value) else "unknown"

    def process_broadcast_element(self, value, ctx):
        change_rules(value, ctx)
        yield "rules", tuple(sorted(ctx.get_broadcast_state(RULES).items()))


class QuietLookup(BroadcastProcessFunction):
    """The same, without a word about changes."""

    def process_element(self, value, ctx):
        yield value, ctx.get_broadcast_state(RULES).get(value)

    def process_broadcast_element(self, value, ctx):
        change_rules(value, ctx)
        return []


class BroadcastFacts(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.current_watermark()

    def process_broadcast_element(self, value, ctx):
        yield value, ctx.timestamp(), ctx.current_watermark()


class KeyedLookup(KeyedBroadcastProcessFunction):
    """Elements are counted per key, with the rule of the key; a timer 10 ms after an element sees the rule of that time."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", ANY))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 10)
        key = ctx.get_current_key()
        yield key, count, ctx.get_broadcast_state(RULES).get(key)

    def process_broadcast_element(self, value, ctx):
        change_rules(value, ctx)
        return ()

    def on_timer(self, timestamp, ctx):
        key = ctx.get_current_key()
        yield "timer", key, timestamp, ctx.get_broadcast_state(RULES).get(key), _domain(ctx)


# ---------------------------------------------------------------- timestamps


class SecondField(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class TenLater(TimestampAssigner):
    """Ten more than before; shows that the former timestamp is passed in."""

    def extract_timestamp(self, value, record_timestamp):
        return record_timestamp + 10 if record_timestamp > -(2**63) else 1000
