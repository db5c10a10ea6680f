"""The ends of plans: tables that are written, and pattern matching, which stands for itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.table.plan.nodes.base import Node
from headrace.table.plan.relations import Match as MatchRelation

if TYPE_CHECKING:
    from headrace.table.plan.describe import Text


@dataclass(frozen=True, eq=False)
class Sink(Node):
    """A table that is written. `sink` is its `TableSink`."""

    name: tuple[str, ...]
    sink: Any
    primary_key: tuple[int, ...] = ()
    not_null: tuple[tuple[int, str], ...] = ()
    """NOT NULL columns that are checked, because the query does not promise it."""
    drop_nulls: bool = False
    lengths: tuple[tuple[int, int, bool], ...] = ()
    materialize: bool = False
    upsert_key: tuple[int, ...] | None = None
    ttl: int = 0
    label = "Sink"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the table and the columns."""
        found = [("table", ".".join(self.name)), ("fields", text.names(self.input.row_type))]
        return [*found, ("upsertMaterialize", "true")] if self.materialize else found


@dataclass(frozen=True, eq=False)
class Match(Node):
    """MATCH_RECOGNIZE."""

    match: MatchRelation
    event_time: bool
    label = "Match"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the partition."""
        return self.match.partition_by

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return partition, order, measures and pattern."""
        row_type = self.input.row_type
        found = []
        if self.match.partition_by:
            found.append(("partitionBy", text.columns(row_type, self.match.partition_by)))
        found.append(("orderBy", text.order(self.match.order_by, row_type.field_names())))
        found.append(("measures", ", ".join(name for name, _ in self.match.measures)))
        found.append(("rowsPerMatch", "ALL ROWS PER MATCH" if self.match.all_rows else "ONE ROW PER MATCH"))
        found.append(("after", " ".join(map(str, self.match.after_match))))
        return [*found, ("define", ", ".join(name for name, _ in self.match.definitions))]
