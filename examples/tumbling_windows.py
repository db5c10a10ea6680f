"""Tumbling windows: how many pages each user looks at in every ten seconds.

The aggregate function keeps one number per user and window, however many clicks there are; the window function adds the
window's bounds when the window fires.

Run it with `python examples/tumbling_windows.py`.
"""

from headrace.common import Duration, Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import AggregateFunction, ProcessWindowFunction, StreamExecutionEnvironment
from headrace.datastream.window import TumblingEventTimeWindows

# user, page, at which second
CLICKS = [
    ("ann", "home", 1),
    ("bob", "home", 3),
    ("ann", "shoes", 8),
    ("ann", "cart", 6),  # out of order
    ("bob", "shoes", 12),
    ("ann", "pay", 14),
    ("bob", "cart", 29),
]


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp: int) -> int:
        return value[-1] * 1000  # the last field is the second at which it happened


class Count(AggregateFunction):
    def create_accumulator(self):
        return 0

    def add(self, value, accumulator):
        return accumulator + 1

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class WithBounds(ProcessWindowFunction):
    def process(self, key, context: ProcessWindowFunction.Context, elements):
        window = context.window()
        for count in elements:
            yield f"{key}: {count} from second {window.start // 1000} to {window.end // 1000}"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    # Records may come up to two seconds late: so far the watermark stays behind the highest timestamp.
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    strategy = strategy.with_timestamp_assigner(EventTime())
    (
        env.from_collection(CLICKS)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda click: click[0])
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .aggregate(Count(), window_function=WithBounds())
        .print()
    )
    env.execute("tumbling windows")


if __name__ == "__main__":
    main()
