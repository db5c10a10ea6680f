"""Functions that transcripts name and that PyFlink cannot run: watermark generators in Python, `apply_to_keyed_state`."""

from __future__ import annotations

from headrace.common.watermark_strategy import MIN_TIMESTAMP, Watermark, WatermarkGenerator
from headrace.datastream.functions import KeyedBroadcastProcessFunction, KeyedProcessFunction
from headrace.datastream.state import ValueStateDescriptor
from semantics_kit.functions import ANY


class Punctuated(WatermarkGenerator):
    """`[..., mark]` gives a watermark at once, `[..., idle]` and `[..., active]` say so."""

    def on_event(self, event, event_timestamp, output):
        if event[-1] == "mark":
            output.emit_watermark(Watermark(event_timestamp))
        elif event[-1] == "idle":
            output.mark_idle()
        elif event[-1] == "active":
            output.mark_active()

    def on_periodic_emit(self, output):
        pass


class Periodic(WatermarkGenerator):
    """The highest timestamp so far, when asked."""

    def __init__(self):
        self.highest = MIN_TIMESTAMP

    def on_event(self, event, event_timestamp, output):
        self.highest = max(self.highest, event_timestamp)

    def on_periodic_emit(self, output):
        output.emit_watermark(Watermark(self.highest))


class Sawtooth(WatermarkGenerator):
    """Emits what the element says, also lower than before."""

    def on_event(self, event, event_timestamp, output):
        output.emit_watermark(Watermark(event[2]))

    def on_periodic_emit(self, output):
        pass


class WithoutTimerMethod(KeyedProcessFunction):
    """Registers a timer but has no `on_timer`."""

    def process_element(self, value, ctx):
        ctx.timer_service().register_event_time_timer(value[1])
        yield value[0]


class Recounting(KeyedBroadcastProcessFunction):
    """Counts elements per key; the broadcast element `[add, n]` adds n to the count of every key, `[list]` gives all counts."""

    descriptor = ValueStateDescriptor("count", ANY)

    def open(self, runtime_context):
        self.count = runtime_context.get_state(self.descriptor)

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield ctx.get_current_key(), count

    def process_broadcast_element(self, value, ctx):
        counts = []

        def visit(key, state):
            if value[0] == "add":
                state.update(state.value() + value[1])
            elif value[0] == "forget":
                state.clear()
            else:
                counts.append((key, state.value()))

        ctx.apply_to_keyed_state(self.descriptor, visit)
        if value[0] == "list":
            yield tuple(sorted(counts))
