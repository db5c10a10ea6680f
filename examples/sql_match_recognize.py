"""Prices that fall and recover: MATCH_RECOGNIZE finds the V shapes of each symbol.

Run it with `python examples/sql_match_recognize.py`.
"""

from datetime import datetime, timedelta

from headrace.common import Row, Types
from headrace.datastream import StreamExecutionEnvironment
from headrace.table import Schema, StreamTableEnvironment

PRICES = [12, 17, 19, 21, 25, 18, 15, 14, 24, 25, 19]

QUERY = """
    SELECT *
    FROM quotes MATCH_RECOGNIZE (
        PARTITION BY symbol
        ORDER BY quoted_at
        MEASURES
            FIRST(FALLING.price) AS first_fall,
            LAST(FALLING.price) AS lowest,
            LAST(RISING.price) AS recovered
        ONE ROW PER MATCH
        AFTER MATCH SKIP TO LAST RISING
        PATTERN (HIGH FALLING+ RISING)
        DEFINE
            FALLING AS FALLING.price < LAST(FALLING.price, 1) OR
                (LAST(FALLING.price, 1) IS NULL AND FALLING.price < HIGH.price),
            RISING AS RISING.price > LAST(FALLING.price)
    )
"""


def main() -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    tables = StreamTableEnvironment.create(env)
    start = datetime(2026, 1, 1, 10)
    rows = [Row("ACME", price, start + timedelta(seconds=second)) for second, price in enumerate(PRICES)]
    fields = Types.ROW_NAMED(["symbol", "price", "quoted_at"], [Types.STRING(), Types.INT(), Types.SQL_TIMESTAMP()])
    schema = Schema.new_builder().column("symbol", "STRING").column("price", "INT").column("quoted_at", "TIMESTAMP(3)")
    schema = schema.watermark("quoted_at", "quoted_at").build()
    tables.create_temporary_view("quotes", tables.from_data_stream(env.from_collection(rows, fields), schema))
    tables.execute_sql(QUERY).print()


if __name__ == "__main__":
    main()
