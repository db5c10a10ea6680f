"""Reconciliation with co_group: what two systems booked in the same minute, also where one of them has nothing.

Run it with `python examples/reconciliation.py`.
"""

from headrace.common import Duration, Time, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import CoGroupFunction, StreamExecutionEnvironment
from headrace.datastream.window import TumblingEventTimeWindows

# account, amount, at which second
BANK = [("A", 100, 5), ("B", 40, 20), ("A", 30, 70)]
BOOKS = [("A", 100, 8), ("C", 9, 30), ("A", 35, 65)]


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp: int) -> int:
        return value[-1] * 1000  # the last field is the second at which it happened


class Compare(CoGroupFunction):
    def co_group(self, first, second):
        bank, books = sum(entry[1] for entry in first), sum(entry[1] for entry in second)
        account = [*first, *second][0][0]
        if not first:
            yield f"{account}: {books} in the books only"
        elif not second:
            yield f"{account}: {bank} at the bank only"
        else:
            yield f"{account}: {'equal' if bank == books else f'bank {bank}, books {books}'}"


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    # Records may come up to two seconds late: so far the watermark stays behind the highest timestamp.
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(2))
    strategy = strategy.with_timestamp_assigner(EventTime())
    bank = env.from_collection(BANK).assign_timestamps_and_watermarks(strategy)
    books = env.from_collection(BOOKS).assign_timestamps_and_watermarks(strategy)
    (
        bank.co_group(books)
        .where(lambda entry: entry[0])
        .equal_to(lambda entry: entry[0])
        .window(TumblingEventTimeWindows.of(Time.minutes(1)))
        .apply(Compare())
        .print()
    )
    env.execute("reconciliation")


if __name__ == "__main__":
    main()
