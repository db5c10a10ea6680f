"""The two most read pages of every ten seconds: counts per page and window, then a ranking per window.

The counts have the last timestamp of their window, so the second window sees all counts of the first one together.

Run it with `python examples/top_n.py`.
"""

from headrace.common import Duration, Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import AggregateFunction, ProcessWindowFunction, StreamExecutionEnvironment
from headrace.datastream.functions import ProcessAllWindowFunction
from headrace.datastream.window import TumblingEventTimeWindows

# page, at which second
VIEWS = [
    ("home", 1), ("shoes", 2), ("home", 3), ("cart", 4), ("shoes", 5), ("home", 6), ("hats", 7),
    ("cart", 11), ("cart", 12), ("hats", 13), ("home", 14), ("hats", 19),
]  # fmt: skip


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


class WithPage(ProcessWindowFunction):
    def process(self, key, context: ProcessWindowFunction.Context, elements):
        for count in elements:
            yield key, count


class Top(ProcessAllWindowFunction):
    def __init__(self, size: int):
        self.size = size

    def process(self, context: ProcessAllWindowFunction.Context, elements):
        ranked = sorted(elements, key=lambda pair: (-pair[1], pair[0]))[: self.size]
        yield f"up to second {context.window().end // 1000}: " + ", ".join(f"{page} {count}" for page, count in ranked)


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    # Records may come up to two seconds late: so far the watermark stays behind the highest timestamp.
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    strategy = strategy.with_timestamp_assigner(EventTime())
    (
        env.from_collection(VIEWS)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda view: view[0])
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .aggregate(Count(), window_function=WithPage())
        .window_all(TumblingEventTimeWindows.of(Time.seconds(10)))
        .process(Top(2))
        .print()
    )
    env.execute("top n")


if __name__ == "__main__":
    main()
