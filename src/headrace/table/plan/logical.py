"""Relations that only rules make: what patterns in queries mean."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.table.plan.relations import Relation
from headrace.table.plan.rex import Rex, SortKey


@dataclass(frozen=True)
class Rank(Relation):
    """The rows of each partition whose rank is between `start` and `end`: top N.

    `end_column` holds the last rank if it differs between rows. With `with_rank`, the rank is the last column.
    """

    input: Relation
    function: str
    partition_by: tuple[int, ...]
    order_by: tuple[SortKey, ...]
    start: int
    end: int | None
    end_column: int | None
    with_rank: bool


@dataclass(frozen=True)
class Expand(Relation):
    """Each row of the input once per projection: GROUPING SETS. The last column is the number of the set."""

    input: Relation
    projections: tuple[tuple[Rex, ...], ...]


@dataclass(frozen=True)
class Empty(Relation):
    """No rows at all."""
