"""Early results: a window of a minute that shows its count every twenty seconds, and at its end.

Run it with `python examples/early_firing.py`.
"""

from headrace.common import Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner, Watermark, WatermarkGenerator
from headrace.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from headrace.datastream.window import ContinuousEventTimeTrigger, TumblingEventTimeWindows

# shop, sold, at which second
SALES = [("north", 3, 5), ("north", 4, 25), ("north", 1, 33), ("north", 2, 45), ("north", 6, 59)]


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp: int) -> int:
        return value[-1] * 1000  # the last field is the second at which it happened


class OneByOne(WatermarkGenerator):
    """Right behind each element, so that this example shows every step."""

    def on_event(self, event, event_timestamp, output):
        output.emit_watermark(Watermark(event_timestamp - 1))

    def on_periodic_emit(self, output):
        pass


class SoFar(ProcessWindowFunction):
    def process(self, key, context: ProcessWindowFunction.Context, elements):
        total = sum(sold for _, sold, _ in elements)
        ended = context.current_watermark() >= context.window().end - 1
        yield f"{key}, minute {context.window().start // 60_000}: {total}{'' if ended else ' so far'}"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    strategy = WatermarkStrategy.for_generator(OneByOne).with_timestamp_assigner(EventTime())
    (
        env.from_collection(SALES)
        .assign_timestamps_and_watermarks(strategy)
        .key_by(lambda sale: sale[0])
        .window(TumblingEventTimeWindows.of(Time.minutes(1)))
        .trigger(ContinuousEventTimeTrigger.of(Time.seconds(20)))
        .process(SoFar())
        .print()
    )
    env.execute("early firing")


if __name__ == "__main__":
    main()
