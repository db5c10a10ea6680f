"""Trials: a random query on both engines, and the report if their answers differ."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from fuzz_kit.data import COLUMNS
from fuzz_kit.engines import Engines
from fuzz_kit.queries import QueryMaker

_PER_TABLES = 250
"""Queries that share one set of tables."""


def differences(seed: int, count: int) -> Iterator[str]:
    """Run `count` random queries. Yield a report for each whose answers differ or that headrace rejects."""
    for first in range(0, count, _PER_TABLES):
        engines = Engines(seed * 1_000_003 + first)
        for number in range(first, min(first + _PER_TABLES, count)):
            query = QueryMaker(Random(f"{seed}/{number}"), COLUMNS).query()
            expected = engines.duck(query.duck)
            try:
                seen = engines.own(query.flink)
            except Exception as error:
                yield f"query {number} failed: {type(error).__name__}: {error}\n{query.flink}"
                continue
            if seen != expected:
                yield (
                    f"query {number} differs\n{query.flink}\n"
                    f"missing: {list((expected - seen).items())[:5]}\nsurplus: {list((seen - expected).items())[:5]}"
                )
