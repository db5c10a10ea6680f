"""Window join: each trade with the prices of its share in the same five seconds.

Run it with `python examples/window_join.py`.
"""

from headrace.common import Duration, Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.window import TumblingEventTimeWindows

# share, pieces, at which second
TRADES = [("ABC", 100, 1), ("XYZ", 20, 2), ("ABC", 50, 7)]
# share, price, at which second
PRICES = [("ABC", 10.0, 0), ("ABC", 10.5, 3), ("XYZ", 7.0, 4), ("ABC", 11.0, 6), ("XYZ", 7.5, 8)]


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp: int) -> int:
        return value[-1] * 1000  # the last field is the second at which it happened


def value(trade, price) -> str:
    return f"{trade[1]} {trade[0]} of second {trade[2]} at {price[1]} (second {price[2]}): {trade[1] * price[1]:.2f}"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    # Records may come up to two seconds late: so far the watermark stays behind the highest timestamp.
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    strategy = strategy.with_timestamp_assigner(EventTime())
    trades = env.from_collection(TRADES).assign_timestamps_and_watermarks(strategy)
    prices = env.from_collection(PRICES).assign_timestamps_and_watermarks(strategy)
    (
        trades.join(prices)
        .where(lambda trade: trade[0])
        .equal_to(lambda price: price[0])
        .window(TumblingEventTimeWindows.of(Time.seconds(5)))
        .apply(value)
        .print()
    )
    env.execute("window join")


if __name__ == "__main__":
    main()
