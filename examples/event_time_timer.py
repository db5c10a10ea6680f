"""Event time: an order must be paid within thirty seconds - of the time in the records.

The records come out of order, and the job runs in a moment; still the result is what really happened, because it hangs on
the timestamps of the records and on watermarks, not on when the job runs. An order sets a timer for its deadline, a
payment in time deletes it; a timer that fires has found an order that was not paid.

Run it with `python examples/event_time_timer.py`.
"""

from headrace.common import Duration, Types, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import KeyedProcessFunction, RuntimeContext, StreamExecutionEnvironment
from headrace.datastream.state import ValueStateDescriptor

# order, what happened, at which second
EVENTS = [
    ("A", "ordered", 0),
    ("B", "ordered", 8),
    ("C", "ordered", 5),  # comes three seconds late
    ("A", "paid", 21),
    ("D", "ordered", 40),
    ("B", "paid", 39),  # one second too late
    ("D", "paid", 69),
]


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp: int) -> int:
        return value[2] * 1000


class Reminder(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext):
        self.deadline = runtime_context.get_state(ValueStateDescriptor("deadline", Types.LONG()))

    def process_element(self, value, ctx: KeyedProcessFunction.Context):
        order, what, _ = value
        if what == "ordered":
            deadline = ctx.timestamp() + 30_000
            ctx.timer_service().register_event_time_timer(deadline)
            self.deadline.update(deadline)
        elif self.deadline.value() is not None and ctx.timestamp() <= self.deadline.value():
            ctx.timer_service().delete_event_time_timer(self.deadline.value())
            self.deadline.clear()
            yield f"{order} is paid, at second {ctx.timestamp() // 1000}"

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext):
        # The watermark has passed the deadline: all that happened up to then has been seen.
        self.deadline.clear()
        yield f"{ctx.get_current_key()} was not paid by second {timestamp // 1000}"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    # The watermark stays five seconds behind the highest timestamp: so much disorder is waited for.
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    (
        env.from_collection(EVENTS, Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG()]))
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(EventTime()))
        .key_by(lambda event: event[0], key_type=Types.STRING())
        .process(Reminder(), output_type=Types.STRING())
        .print()
    )
    env.execute("event-time timers")


if __name__ == "__main__":
    main()
