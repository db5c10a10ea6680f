"""Nodes about the order of rows: top N, deduplication, sorting, limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.table.plan.nodes.base import Node
from headrace.table.plan.rex import SortKey

if TYPE_CHECKING:
    from headrace.table.plan.describe import Text


@dataclass(frozen=True, eq=False)
class Rank(Node):
    """Top N per key. `strategy` is chosen with the changelog: how updates of the input arrive."""

    function: str
    partition_by: tuple[int, ...]
    order_by: tuple[SortKey, ...]
    start: int
    end: int | None
    end_column: int | None
    with_rank: bool
    strategy: str = "AppendFastStrategy"
    upsert_key: tuple[int, ...] | None = None
    ttl: int = 0
    label = "Rank"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the partition."""
        return self.partition_by

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return function, range, partition and order."""
        names = self.input.row_type.field_names()
        strategy = self.strategy
        if self.upsert_key is not None and strategy == "UpdateFastStrategy":
            strategy += f"[{','.join(str(column) for column in self.upsert_key)}]"
        last = names[self.end_column] if self.end_column is not None else str(self.end)
        shown = list(names) + [f"w0$o0 AS {self.row_type.field_names()[-1]}"] * self.with_rank
        return [
            ("strategy", strategy),
            ("rankType", self.function),
            (
                "rankRange",
                f"rankEnd={last}" if self.end_column is not None else f"rankStart={self.start}, rankEnd={last}",
            ),
            ("partitionBy", text.columns(self.input.row_type, self.partition_by)),
            ("orderBy", text.order(self.order_by, names)),
            ("select", ", ".join(shown)),
        ]


@dataclass(frozen=True, eq=False)
class Deduplicate(Node):
    """The first or last row per key."""

    partition_by: tuple[int, ...]
    time: int
    event_time: bool
    keep_last: bool
    ttl: int = 0
    label = "Deduplicate"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the key."""
        return self.partition_by

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return what is kept, the key and the time."""
        return [
            ("keep", "LastRow" if self.keep_last else "FirstRow"),
            ("key", text.columns(self.input.row_type, self.partition_by)),
            ("order", "ROWTIME" if self.event_time else "PROCTIME"),
            ("outputInsertOnly", str(self.insert_only).lower()),
        ]


@dataclass(frozen=True, eq=False)
class WindowRank(Node):
    """Top N per key and window. `window` are the columns (start, end); `partition_by` leaves them out."""

    window: tuple[int, int]
    window_text: str
    partition_by: tuple[int, ...]
    order_by: tuple[SortKey, ...]
    start: int
    end: int
    with_rank: bool
    event_time: bool
    function: str = "ROW_NUMBER"
    label = "WindowRank"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the partition."""
        return self.partition_by

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return window, range, partition and order."""
        names = self.input.row_type.field_names()
        found = [
            ("window", self.window_text),
            ("rankType", self.function),
            ("rankRange", f"rankStart={self.start}, rankEnd={self.end}"),
            ("partitionBy", text.columns(self.input.row_type, self.partition_by)),
            ("orderBy", text.order(self.order_by, names)),
        ]
        return [*found, ("select", ", ".join(self.row_type.field_names()))]


@dataclass(frozen=True, eq=False)
class TemporalSort(Node):
    """ORDER BY with a time attribute first."""

    order_by: tuple[SortKey, ...]
    event_time: bool
    label = "TemporalSort"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return no keys: all rows in one place."""
        return ()

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the order."""
        return [("orderBy", text.order(self.order_by, self.row_type.field_names()))]


@dataclass(frozen=True, eq=False)
class Sort(Node):
    """ORDER BY, OFFSET and LIMIT over a bounded input; in streaming mode only with a limit."""

    order_by: tuple[SortKey, ...]
    offset: int = 0
    limit: int | None = None
    label = "Sort"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return no keys: all rows in one place."""
        return ()

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return order, offset and limit."""
        found = [("orderBy", text.order(self.order_by, self.row_type.field_names()))]
        if self.offset or self.limit is not None:
            found += [("offset", str(self.offset)), ("fetch", "unlimited" if self.limit is None else str(self.limit))]
        return found


@dataclass(frozen=True, eq=False)
class SortLimit(Sort):
    """ORDER BY with LIMIT in streaming mode: top N over all rows."""

    strategy: str = "AppendFastStrategy"
    upsert_key: tuple[int, ...] | None = None
    ttl: int = 0
    label = "SortLimit"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return order, offset, limit and strategy."""
        return [*super().details(text), ("strategy", self.strategy)]


@dataclass(frozen=True, eq=False)
class Limit(Node):
    """LIMIT and OFFSET without an order."""

    offset: int
    limit: int | None
    ttl: int = 0
    label = "Limit"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return no keys: all rows in one place."""
        return ()

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return offset and limit."""
        return [("offset", str(self.offset)), ("fetch", "unlimited" if self.limit is None else str(self.limit))]
