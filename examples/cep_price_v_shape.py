"""A price that falls, and then rises above where it started: iterative conditions compare with the events before."""

from headrace.cep import CEP, AfterMatchSkipStrategy, Pattern
from headrace.common import WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import StreamExecutionEnvironment

PRICES = [
    # symbol, price, second
    ("ACME", 12, 1),
    ("ZINC", 9, 1),
    ("ACME", 10, 2),
    ("ZINC", 6, 2),
    ("ACME", 8, 3),
    ("ZINC", 7, 3),
    ("ACME", 9, 4),
    ("ZINC", 8, 4),
    ("ACME", 11, 5),
    ("ZINC", 5, 5),
    ("ACME", 13, 6),
    ("ACME", 7, 7),
    ("ACME", 9, 8),
]


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2] * 1000


def falling(tick, ctx):
    """Below the tick before: the last one of the fall, or the start."""
    before = ctx.get_events_for_pattern("down") or ctx.get_events_for_pattern("start")
    return tick[1] < before[-1][1]


def rising(tick, ctx):
    """Above the tick before: the last one of the rise, or the bottom."""
    before = ctx.get_events_for_pattern("up") or ctx.get_events_for_pattern("down")
    return tick[1] > before[-1][1]


def above_start(tick, ctx):
    """Above where it all began."""
    return tick[1] > ctx.get_events_for_pattern("start")[0][1]


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Seconds())
    prices = env.from_collection(PRICES).assign_timestamps_and_watermarks(strategy).key_by(lambda tick: tick[0])

    pattern = (
        Pattern.begin("start", AfterMatchSkipStrategy.skip_past_last_event())
        .next("down")
        .where(falling)
        .one_or_more()
        .consecutive()
        .greedy()
        .next("up")
        .where(rising)
        .one_or_more()
        .consecutive()
        .until(above_start)
        .next("end")
        .where(above_start)
    )

    def show(match):
        steps = [tick[1] for step in ("start", "down", "up", "end") for tick in match[step]]
        return f"{match['start'][0][0]}: {' '.join(map(str, steps))}"

    for line in CEP.pattern(prices, pattern).select(show).execute_and_collect():
        print(line)


if __name__ == "__main__":
    main()
