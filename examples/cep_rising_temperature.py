"""Two warnings in a row from one rack, the second one hotter: an alert. The pattern comes from text."""

from headrace.cep import CEP, Pattern
from headrace.common import WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import StreamExecutionEnvironment

READINGS = [
    # rack, degrees, second
    ("r1", 70, 1),
    ("r1", 101, 2),
    ("r2", 105, 3),
    ("r1", 108, 5),
    ("r2", 102, 6),
    ("r1", 80, 8),
    ("r2", 110, 40),
    ("r2", 120, 45),
]


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2] * 1000


def hotter(reading, ctx):
    return reading[1] > 100 and reading[1] > ctx.get_events_for_pattern("hot")[0][1]


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Seconds())
    readings = env.from_collection(READINGS).assign_timestamps_and_watermarks(strategy).key_by(lambda r: r[0])

    pattern = Pattern.parse("hot -> hotter within 10s", {"hot": lambda r: r[1] > 100, "hotter": hotter})

    def alert(match):
        (hot,), (hotter,) = match["hot"], match["hotter"]
        return f"{hot[0]}: from {hot[1]} to {hotter[1]} degrees in {hotter[2] - hot[2]} seconds"

    for line in CEP.pattern(readings, pattern).select(alert).execute_and_collect():
        print(line)


if __name__ == "__main__":
    main()
