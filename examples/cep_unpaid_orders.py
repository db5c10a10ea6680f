"""Orders that are paid within 15 minutes, and those that are not: a timeout with a side output."""

from headrace.cep import CEP, Pattern, PatternProcessFunction, TimedOutPartialMatchHandler
from headrace.common import Duration, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import OutputTag, StreamExecutionEnvironment

EVENTS = [
    # order, what, minute
    ("o1", "created", 1),
    ("o2", "created", 2),
    ("o1", "paid", 4),
    ("o3", "created", 5),
    ("o2", "paid", 17),
    ("o3", "paid", 19),
]

UNPAID = OutputTag("unpaid")


class Minutes(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2] * 60_000


class Payments(PatternProcessFunction, TimedOutPartialMatchHandler):
    def process_match(self, match, ctx):
        (created,), (paid,) = match["created"], match["paid"]
        yield f"{created[0]} paid after {paid[2] - created[2]} minutes"

    def process_timed_out_match(self, match, ctx):
        (created,) = match["created"]
        yield UNPAID, f"{created[0]} not paid until minute {ctx.timestamp() // 60_000}"


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Minutes())
    orders = env.from_collection(EVENTS).assign_timestamps_and_watermarks(strategy).key_by(lambda event: event[0])

    pattern = (
        Pattern.begin("created")
        .where(lambda event: event[1] == "created")
        .followed_by("paid")
        .where(lambda event: event[1] == "paid")
        .within(Duration.of_minutes(15))
    )

    payments = CEP.pattern(orders, pattern).process(Payments())
    for line in payments.union(payments.get_side_output(UNPAID)).execute_and_collect():
        print(line)


if __name__ == "__main__":
    main()
