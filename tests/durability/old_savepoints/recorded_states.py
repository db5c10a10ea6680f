"""Recorded jobs: keyed state of every kind, operator state, broadcast state, raw state and timers."""

from __future__ import annotations

import json
import pickle
from datetime import date
from decimal import Decimal
from uuid import UUID

from recorded_values import EARLY, KEYS, Color, Reading, Sensor, key_of, numbers, sensor_of, shown, timed, variety

from headrace.common import Duration, Instant, Row, RowKind, Time, Types, WatermarkStrategy
from headrace.common.watermark_generator import Watermark
from headrace.datastream import KeyedProcessFunction, MapFunction
from headrace.datastream.connectors.number_seq import NumberSequenceSource
from headrace.datastream.functions import (
    AggregateFunction,
    BroadcastProcessFunction,
    CheckpointedFunction,
    KeyedBroadcastProcessFunction,
    ListCheckpointed,
)
from headrace.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from headrace.datastream.window import TimeWindow
from headrace.state.key_groups import key_group

CENTURY = Duration.of_days(36_500)


class Mean(AggregateFunction):
    """Its accumulator is an object of the program."""

    def create_accumulator(self):
        return Reading(0, None)

    def add(self, value, accumulator):
        return Reading(accumulator.number + value, accumulator.color)

    def get_result(self, accumulator):
        return accumulator.number

    def merge(self, a, b):
        return Reading(a.number + b.number, None)


def larger(a, b):
    return max(a, b)


class EveryState(KeyedProcessFunction):
    """All five kinds of keyed state, untyped and typed, with or without a time to live."""

    def __init__(self, ttl):
        self.ttl = ttl

    def open(self, runtime_context):
        def kept(descriptor):
            if self.ttl:
                config = StateTtlConfig.new_builder(CENTURY).update_ttl_on_read_and_write().build()
                descriptor.enable_time_to_live(config)
            return descriptor

        anything = Types.PICKLED_BYTE_ARRAY()
        self.last = runtime_context.get_state(kept(ValueStateDescriptor("last", anything)))
        self.count = runtime_context.get_state(kept(ValueStateDescriptor("count", Types.LONG())))
        self.seen = runtime_context.get_list_state(kept(ListStateDescriptor("seen", Types.LONG())))
        self.bags = runtime_context.get_list_state(kept(ListStateDescriptor("bags", anything)))
        self.map = runtime_context.get_map_state(kept(MapStateDescriptor("map", Types.STRING(), Types.LONG())))
        self.table = runtime_context.get_map_state(kept(MapStateDescriptor("table", anything, anything)))
        self.most = runtime_context.get_reducing_state(kept(ReducingStateDescriptor("most", larger, Types.LONG())))
        self.mean = runtime_context.get_aggregating_state(kept(AggregatingStateDescriptor("mean", Mean(), anything)))
        tuples = Types.TUPLE([Types.BIG_DEC(), Types.INSTANT(), Types.ROW([Types.INT(), Types.STRING()])])
        self.typed = runtime_context.get_state(kept(ValueStateDescriptor("typed", tuples)))

    def process_element(self, value, ctx):
        before = self.last.value()
        self.last.update(variety(value))
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(value)
        self.bags.add(variety(value)["bag"])
        self.map.put(str(value % 3), (self.map.get(str(value % 3)) or 0) + value)
        self.table.put(Sensor(str(value % 3), None), Reading(value, None))
        self.most.add(-value)
        self.mean.add(value)
        typed = self.typed.value()
        made = variety(value)
        self.typed.update((made["decimal"], made["instant"], (value, str(value))))
        yield (
            None if before is None else shown(before),
            self.count.value(),
            sum(self.seen.get()),
            sum(item for bag in self.bags.get() for item in bag.items),
            sorted(self.map.items()),
            sorted((sensor.name, reading.number) for sensor, reading in self.table.items()),
            self.most.get(),
            self.mean.get(),
            None if typed is None else (str(typed[0]), typed[1].seconds, tuple(typed[2])),
        )


class Listed(KeyedProcessFunction):
    """Counts by key; shows the key in a form of its own."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield self.count.value(), value


def row_key(value):
    return Row(value % KEYS, str(value % KEYS))


def keyed_states(env):
    stream = numbers(env)
    return {
        "without ttl": stream.key_by(key_of).process(EveryState(False)).uid("without-ttl"),
        "with ttl": stream.key_by(key_of).process(EveryState(True)).uid("with-ttl"),
        "own keys": stream.key_by(sensor_of).process(Listed()).uid("own-keys"),
        "list keys": stream.key_by(lambda v: [v % KEYS, {"a": v % 2}]).process(Listed()).uid("list-keys"),
        "nan keys": stream.key_by(lambda v: (v % KEYS, float("nan"))).process(Listed()).uid("nan-keys"),
        "row keys": stream.key_by(row_key).process(Listed()).uid("row-keys"),
        "reduced": stream.map(lambda v: (v % KEYS, v), Types.TUPLE([Types.LONG(), Types.LONG()]))
        .uid("pairs")
        .key_by(lambda pair: pair[0])
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .uid("reduced"),
        "summed": stream.map(lambda v: (v % KEYS, v)).uid("more-pairs").key_by(lambda p: p[0]).sum(1).uid("summed"),
    }


class Ticket:
    """A key whose class decides itself what it is pickled as, and so in which key group it is."""

    def __init__(self, number):
        self.number = number

    def __eq__(self, other):
        return isinstance(other, Ticket) and self.number == other.number

    def __hash__(self):
        return hash(self.number)

    def __reduce__(self):
        return Ticket, (self.number,)


def keys(env):
    """Keys of many classes: in which key group a key is must not depend on where its class lives."""
    made = {
        "instant": lambda v: Instant(v % 9, 5),
        "duration": lambda v: Duration.of_millis(v % 9),
        "time": lambda v: Time.milliseconds(v % 9),
        "window": lambda v: TimeWindow(v % 9, 10),
        "row kind": lambda v: list(RowKind)[v % 4],
        "watermark": lambda v: Watermark(v % 9),
        "named row": lambda v: Row(b=v % 9, a=v % 2),
        "enum": lambda v: (Color(v % 2 + 1), v % 4),
        "ticket": lambda v: Ticket(v % 9),
        "decimal": lambda v: Decimal(v % 9) / 8,
        "date": lambda v: date(2024, 2, 20 + v % 9),
        "uuid": lambda v: UUID(int=v % 9),
        "bytes": lambda v: b"%d" % (v % 9),
        "dict": lambda v: {"a": [v % 9]},
    }
    stream = numbers(env)
    return {name: stream.key_by(key).process(Listed()).uid(f"by {name}") for name, key in made.items()}


class Timers(KeyedProcessFunction):
    """Emits what it has summed up 100 ms of event time after the first element of a span."""

    def open(self, runtime_context):
        descriptor = ReducingStateDescriptor("total", lambda a, b: a + b, Types.LONG())
        self.total = runtime_context.get_reducing_state(descriptor)

    def process_element(self, value, ctx):
        if self.total.get() is None:
            ctx.timer_service().register_event_time_timer(ctx.timestamp() + 100)
        self.total.add(value)

    def on_timer(self, timestamp, ctx):
        yield str(ctx.get_current_key()), timestamp, self.total.get()
        self.total.clear()


def timers(env):
    stream = timed(numbers(env))
    return {
        "by key": stream.key_by(key_of).process(Timers()).uid("by-key"),
        "by list": stream.key_by(lambda v: [v % KEYS]).process(Timers()).uid("by-list"),
        "by object": stream.key_by(sensor_of).process(Timers()).uid("by-object"),
    }


RULES = MapStateDescriptor("rules", Types.STRING(), Types.PICKLED_BYTE_ARRAY())


def rule_of(state, name):
    rule = state.get(name)
    return None if rule is None else rule.number


class Ruled(KeyedBroadcastProcessFunction):
    """Emits, once the rules must be there, what they say."""

    def process_element(self, value, ctx):
        if value > EARLY:
            yield value, rule_of(ctx.get_broadcast_state(RULES), str(value % 3 + 1))

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(str(value), Reading(value * 100, None))


class RuledWithoutKeys(BroadcastProcessFunction):
    def process_element(self, value, ctx):
        if value > EARLY:
            yield value, rule_of(ctx.get_broadcast_state(RULES), str(value % 3 + 1))

    def process_broadcast_element(self, value, ctx):
        ctx.get_broadcast_state(RULES).put(str(value), Reading(value * 100, None))


class Numbering(MapFunction, CheckpointedFunction):
    """Numbers what it sees; keeps that in list state and union list state. It runs alone."""

    def initialize_state(self, context):
        store = context.get_operator_state_store()
        self.kept = store.get_list_state(ListStateDescriptor("kept", Types.PICKLED_BYTE_ARRAY()))
        self.all = store.get_union_list_state(ListStateDescriptor("all", Types.PICKLED_BYTE_ARRAY()))
        self.count = sum(reading.number for reading in self.kept.get())
        self.total = sum(bag.items[0] for bag in self.all.get())

    def snapshot_state(self, context):
        self.kept.update([Reading(self.count, None)])
        self.all.update([variety(self.total)["bag"]])

    def map(self, value):
        self.count += 1
        self.total += value
        return value, self.count, self.total


class Hoarding(MapFunction, ListCheckpointed):
    def __init__(self):
        self.count = 0

    def snapshot_state(self, checkpoint_id, timestamp):
        return [Reading(self.count, None)]

    def restore_state(self, state):
        self.count = sum(reading.number for reading in state)

    def map(self, value):
        self.count += 1
        return value, self.count


class Raw(MapFunction, CheckpointedFunction):
    """Raw operator state. It runs alone."""

    def initialize_state(self, context):
        self.total = sum(json.load(part.get_stream()) for part in context.get_raw_operator_state_inputs())

    def snapshot_state(self, context):
        output = context.get_raw_operator_state_output()
        output.start_new_partition()
        output.write(json.dumps(self.total).encode())

    def map(self, value):
        self.total += value
        return self.total


class RawKeyed(KeyedProcessFunction, CheckpointedFunction):
    """Raw keyed state: sums by key."""

    def initialize_state(self, context):
        self.sums = {}
        for group in context.get_raw_keyed_state_inputs():
            self.sums |= pickle.load(group.get_stream())

    def snapshot_state(self, context):
        output = context.get_raw_keyed_operator_state_output()
        groups = {}
        for key, total in self.sums.items():
            groups.setdefault(key_group(key, 128), {})[key] = total
        for group, sums in groups.items():
            output.start_new_key_group(group)
            pickle.dump(sums, output)

    def process_element(self, value, ctx):
        key = ctx.get_current_key()
        self.sums[key] = self.sums.get(key, 0) + value
        yield key, self.sums[key]


def operator_states(env):
    rules = env.from_source(NumberSequenceSource(1, 3), WatermarkStrategy.no_watermarks(), "rules").uid("rules")
    rules = rules.set_parallelism(1)
    stream = numbers(env)
    return {
        "broadcast keyed": stream.key_by(key_of).connect(rules.broadcast(RULES)).process(Ruled()).uid("ruled"),
        "broadcast": stream.connect(rules.broadcast(RULES)).process(RuledWithoutKeys()).uid("ruled-without-keys"),
        "lists": stream.map(Numbering()).uid("numbering").set_parallelism(1),
        "list checkpointed": stream.map(Hoarding()).uid("hoarding").set_parallelism(1),
        "raw": stream.map(Raw()).uid("raw").set_parallelism(1),
        "raw keyed": stream.key_by(key_of).process(RawKeyed()).uid("raw-keyed"),
    }
