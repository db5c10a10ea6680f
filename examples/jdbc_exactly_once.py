"""Exactly once into a database: rows appear when the checkpoint that they belong to is complete.

Each order is one row, and the job fails once in the midst. It goes on from its last checkpoint, and every order is in the
table once. SQLite keeps the example small; for PostgreSQL only the URL changes: `jdbc:postgresql://host:5432/database`.

Run it with `python examples/jdbc_exactly_once.py`.
"""

import os
import sqlite3
import tempfile

from headrace.common import Row, Types
from headrace.datastream import MapFunction, StreamExecutionEnvironment
from headrace.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink

ORDERS = [Row(number, ("tea", "rice", "salt")[number % 3]) for number in range(1, 1001)]
ORDER_TYPE = Types.ROW([Types.LONG(), Types.STRING()])


class FailsOnce(MapFunction):
    def __init__(self, mark):
        self.mark = mark

    def map(self, value):
        if value[0] == 900 and not os.path.exists(self.mark):
            open(self.mark, "w").close()
            raise ConnectionError("the network was away for a moment")
        return value


def main() -> None:
    directory = tempfile.mkdtemp()
    database = sqlite3.connect(f"{directory}/shop.db")
    database.execute("CREATE TABLE orders (number INTEGER, item TEXT)")

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    env.enable_checkpointing(200)  # with checkpoints a job starts again after a failure
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:sqlite:{directory}/shop.db").build()
    (
        env.from_collection(ORDERS, ORDER_TYPE)
        .map(FailsOnce(f"{directory}/failed"), ORDER_TYPE)
        .add_sink(JdbcSink.exactly_once_sink("INSERT INTO orders VALUES (?, ?)", ORDER_TYPE, options))
    )
    env.execute("orders")

    print("it failed once:", os.path.exists(f"{directory}/failed"))
    print("rows:", database.execute("SELECT count(*) FROM orders").fetchone()[0])
    print("orders:", database.execute("SELECT count(DISTINCT number) FROM orders").fetchone()[0])


if __name__ == "__main__":
    main()
