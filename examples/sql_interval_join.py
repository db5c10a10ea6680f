"""Orders and the payments that follow within ten minutes: two streams become tables, the result is a stream again.

Run it with `python examples/sql_interval_join.py`.
"""

from datetime import datetime, timedelta

from headrace.common import Row, Types
from headrace.datastream import StreamExecutionEnvironment
from headrace.table import DataTypes, Schema, StreamTableEnvironment

START = datetime(2026, 1, 1, 12)
# number, in which minute
ORDERS = [(1, 0), (2, 3), (3, 5)]
PAYMENTS = [(1, 4), (3, 20), (2, 6)]


def minutes(pairs):
    return [Row(number, START + timedelta(minutes=minute)) for number, minute in pairs]


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    tables = StreamTableEnvironment.create(env)
    fields = Types.ROW_NAMED(["id", "at"], [Types.INT(), Types.SQL_TIMESTAMP()])
    schema = (
        Schema.new_builder()
        .column("id", DataTypes.INT())
        .column("at", DataTypes.TIMESTAMP(3))
        .watermark("at", "`at` - INTERVAL '5' MINUTE")
        .build()
    )
    for name, pairs in {"orders": ORDERS, "payments": PAYMENTS}.items():
        stream = env.from_collection(minutes(pairs), fields)
        tables.create_temporary_view(name, tables.from_data_stream(stream, schema))
    paid = tables.sql_query("""
        SELECT o.id, TIMESTAMPDIFF(MINUTE, o.`at`, p.`at`) AS minutes
        FROM orders AS o JOIN payments AS p
        ON o.id = p.id AND p.`at` BETWEEN o.`at` AND o.`at` + INTERVAL '10' MINUTE
    """)
    tables.to_data_stream(paid).map(lambda row: f"order {row[0]} was paid after {row[1]} minutes").print()
    env.execute("paid orders")


if __name__ == "__main__":
    main()
