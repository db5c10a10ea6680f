"""Revenue per shop and ten seconds, in SQL: orders are read from JSON files, windows close with the watermark.

Run it with `python examples/sql_tumbling_windows.py`.
"""

import json
import tempfile
from pathlib import Path

from headrace.table import EnvironmentSettings, TableEnvironment

# shop, amount, at which second
ORDERS = [("north", 12, 1), ("south", 5, 3), ("north", 8, 9), ("south", 7, 8), ("north", 30, 12), ("south", 1, 25)]


def write_orders(folder: Path) -> None:
    with (folder / "orders.json").open("w", encoding="utf-8") as file:
        for shop, amount, second in ORDERS:
            record = {"shop": shop, "amount": amount, "ordered_at": f"2026-01-01 12:00:{second:02}"}
            file.write(json.dumps(record) + "\n")


def main() -> None:
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    with tempfile.TemporaryDirectory() as folder:
        write_orders(Path(folder))
        tables.execute_sql(f"""
            CREATE TABLE orders (
                shop STRING,
                amount DECIMAL(10, 2),
                ordered_at TIMESTAMP(3),
                WATERMARK FOR ordered_at AS ordered_at - INTERVAL '2' SECOND
            ) WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json')
        """)
        tables.execute_sql("""
            SELECT window_start, shop, COUNT(*) AS orders, SUM(amount) AS revenue
            FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ordered_at), INTERVAL '10' SECONDS))
            GROUP BY window_start, window_end, shop
        """).print()


if __name__ == "__main__":
    main()
