"""Sessions whose gap the elements tell: a long film may be paused for longer than a short one.

Run it with `python examples/dynamic_session_windows.py`.
"""

from headrace.common import Duration, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from headrace.datastream.window import EventTimeSessionWindows, SessionWindowTimeGapExtractor

# viewer, what, how many seconds a pause may take, at which second
EVENTS = [
    ("ann", "film", 60, 0),
    ("ann", "film", 60, 45),
    ("bob", "clip", 10, 2),
    ("bob", "clip", 10, 40),
    ("ann", "clip", 10, 130),
]


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp: int) -> int:
        return value[-1] * 1000  # the last field is the second at which it happened


class GapOfElement(SessionWindowTimeGapExtractor):
    def extract(self, element):
        return element[2] * 1000


class Session(ProcessWindowFunction):
    def process(self, key, context: ProcessWindowFunction.Context, elements):
        window = context.window()
        yield f"{key}: {len(list(elements))} events, from second {window.start // 1000} to {window.end // 1000}"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    # Records may come up to 45 seconds late: so far the watermark stays behind the highest timestamp.
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(45))
    strategy = strategy.with_timestamp_assigner(EventTime())
    (
        env.from_collection(EVENTS)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda event: event[0])
        .window(EventTimeSessionWindows.with_dynamic_gap(GapOfElement()))
        .process(Session())
        .print()
    )
    env.execute("dynamic sessions")


if __name__ == "__main__":
    main()
