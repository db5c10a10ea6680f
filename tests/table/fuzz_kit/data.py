"""The tables that random queries read: small, with nulls, duplicates and skew."""

from __future__ import annotations

import datetime
from random import Random
from typing import Any

COLUMNS = {
    "i": "INT",
    "j": "INT",
    "b": "BIGINT",
    "x": "DOUBLE",
    "s": "VARCHAR",
    "ok": "BOOLEAN",
    "d": "DATE",
    "ts": "TIMESTAMP(3)",
}
"""Name and type of each column; the type is written alike in Flink SQL and DuckDB, except for TIMESTAMP."""

WORDS = ["", "a", "b", "ab", "Ab", "abc", "hello", "x y", "zz", "été"]


def rows(random: Random, count: int) -> list[tuple[Any, ...]]:
    """Return random rows of the columns."""

    def null_or(value: Any) -> Any:
        return None if random.random() < 0.15 else value

    return [
        (
            number,
            null_or(random.randrange(-3, 6)),
            null_or(random.randrange(-(10**6), 10**6)),
            null_or(random.randrange(-40, 40) / 4),
            null_or(random.choice(WORDS)),
            null_or(random.random() < 0.5),
            null_or(datetime.date(2024, 1, 1) + datetime.timedelta(days=random.randrange(400))),
            null_or(datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=random.randrange(10**6))),
        )
        for number in range(count)
    ]
