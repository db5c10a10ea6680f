"""Sliding windows: the mean temperature of the last ten seconds, every five seconds.

Each measurement is in two windows, because a window is twice as long as the slide.

Run it with `python examples/sliding_windows.py`.
"""

from headrace.common import Duration, Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import AggregateFunction, ProcessWindowFunction, StreamExecutionEnvironment
from headrace.datastream.window import SlidingEventTimeWindows

# sensor, degrees, at which second
MEASUREMENTS = [("roof", 10.0, 1), ("roof", 12.0, 4), ("roof", 20.0, 8), ("roof", 30.0, 12), ("roof", 22.0, 16)]


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp: int) -> int:
        return value[-1] * 1000  # the last field is the second at which it happened


class Mean(AggregateFunction):
    def create_accumulator(self):
        return 0.0, 0

    def add(self, value, accumulator):
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator):
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a, acc_b):
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class WithBounds(ProcessWindowFunction):
    def process(self, key, context: ProcessWindowFunction.Context, elements):
        window = context.window()
        for mean in elements:
            yield f"{key}: {mean:.1f} from second {window.start // 1000} to {window.end // 1000}"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    # Records may come up to two seconds late: so far the watermark stays behind the highest timestamp.
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    strategy = strategy.with_timestamp_assigner(EventTime())
    (
        env.from_collection(MEASUREMENTS)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda measurement: measurement[0])
        .window(SlidingEventTimeWindows.of(Time.seconds(10), Time.seconds(5)))
        .aggregate(Mean(), window_function=WithBounds())
        .print()
    )
    env.execute("sliding windows")


if __name__ == "__main__":
    main()
