"""Interval join: orders and the payments that come within ten seconds after them.

Neither side is kept longer than it can find a partner: the watermark says when.

Run it with `python examples/interval_join.py`.
"""

from headrace.common import Duration, Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import ProcessJoinFunction, StreamExecutionEnvironment

# order, what, at which second
ORDERS = [(1, "book", 1), (2, "lamp", 4), (3, "chair", 12)]
# order, amount, at which second
PAYMENTS = [(1, 12.5, 6), (2, 40.0, 16), (3, 80.0, 12), (3, 5.0, 20)]


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp: int) -> int:
        return value[-1] * 1000  # the last field is the second at which it happened


class Paid(ProcessJoinFunction):
    def process_element(self, left, right, ctx: ProcessJoinFunction.Context):
        delay = (ctx.get_right_timestamp() - ctx.get_left_timestamp()) // 1000
        yield f"order {left[0]} ({left[1]}): {right[1]:.2f} after {delay} seconds"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    # Records may come up to two seconds late: so far the watermark stays behind the highest timestamp.
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    strategy = strategy.with_timestamp_assigner(EventTime())
    orders = env.from_collection(ORDERS).assign_timestamps_and_watermarks(strategy).key_by(lambda order: order[0])
    payments = (
        env.from_collection(PAYMENTS).assign_timestamps_and_watermarks(strategy).key_by(lambda payment: payment[0])
    )
    orders.interval_join(payments).between(Time.seconds(0), Time.seconds(10)).process(Paid()).print()
    env.execute("interval join")


if __name__ == "__main__":
    main()
