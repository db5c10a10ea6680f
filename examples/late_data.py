"""Late data: what comes after its window has fired goes to a side output instead of nowhere.

Windows are kept for three more seconds: an element that still comes then fires its window once more, with all elements.
What comes later than that is late.

Run it with `python examples/late_data.py`.
"""

from headrace.common import Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner, Watermark, WatermarkGenerator
from headrace.datastream import OutputTag, StreamExecutionEnvironment
from headrace.datastream.window import TumblingEventTimeWindows

# sensor, value, at which second
READINGS = [
    ("s1", 1, 2),
    ("s1", 1, 11),  # the watermark reaches second 9
    ("s1", 1, 13),  # the watermark reaches second 11: the window up to second 10 fires
    ("s1", 5, 8),  # within the lateness: it fires again
    ("s1", 1, 16),  # the watermark reaches second 14
    ("s1", 7, 9),  # too late
]
LATE = OutputTag("late")


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp: int) -> int:
        return value[-1] * 1000  # the last field is the second at which it happened


class OneByOne(WatermarkGenerator):
    """Two seconds behind the highest timestamp, after each element, so that this example shows every step."""

    def __init__(self):
        self.highest = 0

    def on_event(self, event, event_timestamp, output):
        self.highest = max(self.highest, event_timestamp)
        output.emit_watermark(Watermark(self.highest - 2000))

    def on_periodic_emit(self, output):
        pass


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_generator(OneByOne).with_timestamp_assigner(EventTime())
    sums = (
        env.from_collection(READINGS)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda reading: reading[0])
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .allowed_lateness(3000)
        .side_output_late_data(LATE)
        .reduce(lambda a, b: (a[0], a[1] + b[1], min(a[2], b[2])))
    )
    sums.map(lambda total: f"{total[0]}: sum {total[1]} of the window of second {total[2]}").print()
    sums.get_side_output(LATE).map(lambda reading: f"too late: {reading}").print()
    env.execute("late data")


if __name__ == "__main__":
    main()
