"""An idempotent sink of your own: to write a result twice is to write it once.

Totals per account go into a table by its key, so a repeat after a failure overwrites what is there with the same. Such a
sink needs no transactions and no committer: results are visible at once.

Run it with `python examples/upsert_sink.py`.
"""

import sqlite3
import tempfile

from headrace.common import Types
from headrace.datastream import StreamExecutionEnvironment
from headrace.datastream.connectors.sink2 import Sink, SinkWriter

BOOKINGS = [("ada", 1200), ("bob", 300), ("ada", 450), ("cid", 70), ("bob", 250), ("ada", 9900)]


class Totals(Sink):
    def __init__(self, path):
        self.path = path

    def create_writer(self, context):
        return TotalsWriter(self.path)


class TotalsWriter(SinkWriter):
    def __init__(self, path):
        self.database = sqlite3.connect(path, timeout=60)
        self.latest = {}

    def write(self, element, context):
        account, total = element
        self.latest[account] = total  # only the last total of an account has to be written

    def flush(self, end_of_input):
        """Called at the end of each epoch, before a checkpoint can count on it."""
        with self.database:
            self.database.executemany(
                "INSERT INTO totals VALUES (?, ?) ON CONFLICT (account) DO UPDATE SET total = excluded.total",
                self.latest.items(),
            )
        self.latest.clear()

    def close(self):
        self.database.close()


def main() -> None:
    path = tempfile.mkdtemp() + "/totals.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE totals (account TEXT PRIMARY KEY, total INTEGER)")

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    booking_type = Types.TUPLE([Types.STRING(), Types.LONG()])
    (
        env.from_collection(BOOKINGS, booking_type)
        .key_by(lambda booking: booking[0], key_type=Types.STRING())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .sink_to(Totals(path))
    )
    env.execute("totals")

    for account, total in database.execute("SELECT account, total FROM totals ORDER BY account"):
        print(account, total)


if __name__ == "__main__":
    main()
