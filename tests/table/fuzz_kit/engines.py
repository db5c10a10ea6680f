"""The engines that answer a query, and when their answers are the same.

headrace answers twice: in batch mode, and in streaming mode from tables that rows join and leave.
"""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from random import Random
from typing import Any

from fuzz_kit import data
from headrace.common import Configuration, Row, RowKind, Types
from headrace.datastream import StreamExecutionEnvironment
from headrace.table import (
    ChangelogMode,
    DataTypes,
    EnvironmentSettings,
    Schema,
    StreamTableEnvironment,
    TableEnvironment,
)

_HEADRACE_TYPES = {
    "INT": DataTypes.INT(),
    "BIGINT": DataTypes.BIGINT(),
    "DOUBLE": DataTypes.DOUBLE(),
    "VARCHAR": DataTypes.STRING(),
    "BOOLEAN": DataTypes.BOOLEAN(),
    "DATE": DataTypes.DATE(),
    "TIMESTAMP(3)": DataTypes.TIMESTAMP(3),
}


_STREAM_TYPES = {
    "INT": Types.INT(),
    "BIGINT": Types.LONG(),
    "DOUBLE": Types.DOUBLE(),
    "VARCHAR": Types.STRING(),
    "BOOLEAN": Types.BOOLEAN(),
    "DATE": Types.SQL_DATE(),
    "TIMESTAMP(3)": Types.SQL_TIMESTAMP(),
}
_ANY = ChangelogMode.all()
_TAKEN_BACK = (RowKind.UPDATE_BEFORE, RowKind.DELETE)


class Engines:
    """All engines with the same tables."""

    def __init__(self, seed: int, rows: int = 40) -> None:
        """Fill the tables with rows made from the seed."""
        import duckdb

        random = Random(seed)
        self.tables = {name: data.rows(random, rows) for name in ("t1", "t2", "t3")}
        self._duck: Any = duckdb.connect()
        self._own = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        self._own.get_config().set("headrace.executor", "local").set("parallelism.default", "1")
        kind = DataTypes.ROW([DataTypes.FIELD(name, _HEADRACE_TYPES[each]) for name, each in data.COLUMNS.items()])
        local = Configuration().set_string("headrace.executor", "local")
        env = StreamExecutionEnvironment.get_execution_environment(local).set_parallelism(1)
        self._streaming = StreamTableEnvironment.create(env)
        stream_type = Types.ROW_NAMED(list(data.COLUMNS), [_STREAM_TYPES[each] for each in data.COLUMNS.values()])
        columns = ", ".join(f"{name} {each.replace('(3)', '_MS')}" for name, each in data.COLUMNS.items())
        for name, table in self.tables.items():
            self._own.create_temporary_view(name, self._own.from_elements(table, kind))
            stream = env.from_collection(_changes(random, table, rows), stream_type)
            self._streaming.create_temporary_view(name, self._streaming.from_changelog_stream(stream, _schema(), _ANY))
            self._duck.execute(f"CREATE TABLE {name} ({columns})")
            self._duck.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(data.COLUMNS))})", table)

    def duck(self, query: str) -> Counter[tuple[Any, ...]]:
        """Return DuckDB's rows."""
        return Counter(tuple(map(_plain, row)) for row in self._duck.execute(query).fetchall())

    def streaming(self, query: str) -> Counter[tuple[Any, ...]]:
        """Return the rows that are left after all changes of headrace's streaming mode."""
        left: Counter[tuple[Any, ...]] = Counter()
        with self._streaming.execute_sql(query).collect() as changes:
            for change in changes:
                row = tuple(map(_plain, change))
                if change.get_row_kind() not in _TAKEN_BACK:
                    left[row] += 1
                elif left[row] > 0:
                    left[row] -= 1
                else:
                    raise AssertionError(f"{row} is taken back but was never there")
        return +left

    def own(self, query: str) -> Counter[tuple[Any, ...]]:
        """Return headrace's rows."""
        with self._own.execute_sql(query).collect() as rows:
            return Counter(tuple(map(_plain, row)) for row in rows)


def _changes(random: Random, table: list[tuple[Any, ...]], size: int) -> list[Row]:
    """Return changes that lead to a table: its rows, and others that come and go."""
    others = data.rows(random, size // 4)
    steps: list[tuple[float, RowKind, tuple[Any, ...]]] = [(random.random(), RowKind.INSERT, row) for row in table]
    for row in others:
        begin = random.random()
        steps.append((begin, RowKind.INSERT, row))
        steps.append((random.uniform(begin, 1), RowKind.DELETE, row))
    found = []
    for _, kind, values in sorted(steps, key=lambda step: step[0]):
        found.append(Row(*values))
        found[-1].set_row_kind(kind)
    return found


def _schema() -> Schema:
    builder = Schema.new_builder()
    for name, kind in data.COLUMNS.items():
        builder.column(name, _HEADRACE_TYPES[kind])
    return builder.build()


def _plain(value: Any) -> Any:
    """Return a value in a form that is the same for both engines."""
    if isinstance(value, Decimal):
        value = float(value) if value % 1 else int(value)
    if isinstance(value, float):
        return float(f"{value:.9g}") + 0.0
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return value
