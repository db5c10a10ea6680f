"""Three failed logins of one user within a minute, with nothing in between."""

from headrace.cep import CEP, Pattern
from headrace.common import Duration, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import StreamExecutionEnvironment

LOGINS = [
    # user, outcome, second
    ("ann", "failed", 1),
    ("bob", "failed", 2),
    ("ann", "failed", 5),
    ("bob", "ok", 8),
    ("ann", "failed", 20),
    ("bob", "failed", 30),
    ("bob", "failed", 31),
    ("eve", "failed", 40),
    ("eve", "failed", 50),
    ("eve", "failed", 140),
]


class Seconds(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2] * 1000


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Seconds())
    logins = env.from_collection(LOGINS).assign_timestamps_and_watermarks(strategy).key_by(lambda login: login[0])

    pattern = (
        Pattern.begin("failed")
        .where(lambda login: login[1] == "failed")
        .times(3)
        .consecutive()
        .within(Duration.of_minutes(1))
    )

    def alarm(match):
        logins = match["failed"]
        return f"{logins[0][0]}: three failed logins from second {logins[0][2]} to {logins[-1][2]}"

    for line in CEP.pattern(logins, pattern).select(alarm).execute_and_collect():
        print(line)


if __name__ == "__main__":
    main()
