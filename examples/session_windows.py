"""Session windows: what a user does until there is a pause of five seconds.

A window begins with a click and ends five seconds after the last one; a click that comes late may join two sessions
into one.

Run it with `python examples/session_windows.py`.
"""

from headrace.common import Duration, Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from headrace.datastream.window import EventTimeSessionWindows

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


class Visit(ProcessWindowFunction):
    def process(self, key, context: ProcessWindowFunction.Context, elements):
        window = context.window()
        pages = [page for _, page, _ in sorted(elements, key=lambda click: click[2])]
        yield f"{key}: {' > '.join(pages)} (from second {window.start // 1000} to {window.end // 1000})"


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
        .window(EventTimeSessionWindows.with_gap(Time.seconds(5)))
        .process(Visit())
        .print()
    )
    env.execute("session windows")


if __name__ == "__main__":
    main()
