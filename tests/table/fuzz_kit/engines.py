"""The two engines that answer a query, and when their answers are the same."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

from fuzz_kit import data
from headrace.table import DataTypes, EnvironmentSettings, TableEnvironment

_HEADRACE_TYPES = {
    "INT": DataTypes.INT(),
    "BIGINT": DataTypes.BIGINT(),
    "DOUBLE": DataTypes.DOUBLE(),
    "VARCHAR": DataTypes.STRING(),
    "BOOLEAN": DataTypes.BOOLEAN(),
    "DATE": DataTypes.DATE(),
    "TIMESTAMP(3)": DataTypes.TIMESTAMP(3),
}


class Engines:
    """Both engines with the same tables."""

    def __init__(self, seed: int, rows: int = 40) -> None:
        """Fill the tables with rows made from the seed."""
        import duckdb

        random = Random(seed)
        self.tables = {name: data.rows(random, rows) for name in ("t1", "t2", "t3")}
        self._duck: Any = duckdb.connect()
        self._own = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        self._own.get_config().set("headrace.executor", "local").set("parallelism.default", "1")
        kind = DataTypes.ROW([DataTypes.FIELD(name, _HEADRACE_TYPES[each]) for name, each in data.COLUMNS.items()])
        columns = ", ".join(f"{name} {each.replace('(3)', '_MS')}" for name, each in data.COLUMNS.items())
        for name, table in self.tables.items():
            self._own.create_temporary_view(name, self._own.from_elements(table, kind))
            self._duck.execute(f"CREATE TABLE {name} ({columns})")
            self._duck.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(data.COLUMNS))})", table)

    def duck(self, query: str) -> Counter[tuple[Any, ...]]:
        """Return DuckDB's rows."""
        return Counter(tuple(map(_plain, row)) for row in self._duck.execute(query).fetchall())

    def own(self, query: str) -> Counter[tuple[Any, ...]]:
        """Return headrace's rows."""
        with self._own.execute_sql(query).collect() as rows:
            return Counter(tuple(map(_plain, row)) for row in rows)


def _plain(value: Any) -> Any:
    """Return a value in a form that is the same for both engines."""
    if isinstance(value, Decimal):
        value = float(value) if value % 1 else int(value)
    if isinstance(value, float):
        return float(f"{value:.9g}") + 0.0
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return value
