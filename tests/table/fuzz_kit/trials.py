"""Trials: a random query on both engines, and the report if their answers differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from fuzz_kit.data import COLUMNS
from fuzz_kit.engines import Engines
from fuzz_kit.queries import QueryMaker
from headrace.table.errors import SqlNotSupportedError

Rows = Counter[tuple[Any, ...]]
Answer = Callable[[str], Rows]

_PER_TABLES = 250
"""Queries that share one set of tables."""


def differences(seed: int, count: int) -> Iterator[str]:
    """Run `count` random queries. Yield a report for each whose answers differ or that headrace rejects."""
    for first in range(0, count, _PER_TABLES):
        engines = Engines(seed * 1_000_003 + first)
        for number in range(first, min(first + _PER_TABLES, count)):
            query = QueryMaker(Random(f"{seed}/{number}"), COLUMNS).query()
            expected = engines.duck(query.duck)
            for mode, answer in (("batch", engines.own), ("streaming", engines.streaming)):
                report = _difference(answer, query.flink, expected)
                if report is not None:
                    yield f"query {number}, {mode} mode: {report}\n{query.flink}"


def _difference(answer: Answer, query: str, expected: Rows) -> str | None:
    try:
        seen = answer(query)
    except SqlNotSupportedError:
        if answer.__name__ == "streaming":  # Flink refuses some queries over streams, too
            return None
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if seen == expected or (not seen and _may_be_empty(answer, query, expected)):
        return None
    missing, surplus = list((expected - seen).items())[:5], list((seen - expected).items())[:5]
    return f"missing: {missing}\nsurplus: {surplus}"


def _may_be_empty(answer: Answer, query: str, expected: Rows) -> bool:
    """Return whether this is an aggregate of no rows: a stream has no result for it, as in Flink."""
    return answer.__name__ == "streaming" and expected.total() == 1 and "GROUP BY" not in query
