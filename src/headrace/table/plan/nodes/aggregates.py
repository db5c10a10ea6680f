"""Nodes that aggregate: groups, windows, OVER."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headrace.table.plan.nodes.base import Node
from headrace.table.plan.relations import OverWindow, Window
from headrace.table.plan.rex import AggregateCall

if TYPE_CHECKING:
    from headrace.table.plan.describe import Text


@dataclass(frozen=True, eq=False)
class GroupAggregate(Node):
    """GROUP BY without windows, or DISTINCT. Columns: the groups, then the calls."""

    groups: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    mini_batch: bool = False
    ttl: int = 0
    label = "GroupAggregate"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the groups."""
        return self.groups

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return the groups and the calls."""
        names = self.input.row_type.field_names()
        found = [("groupBy", text.columns(self.input.row_type, self.groups))] if self.groups else []
        shown = [names[group] for group in self.groups]
        shown += [text.aggregate(call, names, not self.input.insert_only) for call in self.calls]
        return [*found, ("select", ", ".join(shown))]


@dataclass(frozen=True, eq=False)
class WindowAggregate(Node):
    """Aggregates per window. Columns: the groups, the calls, then the `properties` of the window.

    `attached` are the columns (start, end) of the input if its rows already have windows. `legacy` marks windows of GROUP BY,
    whose results carry only the properties that the query asks for.
    """

    window: Window
    groups: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    properties: tuple[str, ...]
    event_time: bool
    attached: tuple[int, int] | None = None
    legacy: bool = False
    two_phase: bool = False
    label = "WindowAggregate"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the groups."""
        return self.groups

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return groups, window and calls."""
        row_type = self.input.row_type
        names = row_type.field_names()
        found = [("groupBy", text.columns(row_type, self.groups))] if self.groups else []
        found.append(("window", text.window(self.window, row_type, self.attached, self.legacy)))
        shown = [names[group] for group in self.groups]
        shown += [text.aggregate(call, names, not self.input.insert_only) for call in self.calls]
        added = self.row_type.field_names()[len(self.groups) + len(self.calls) :]
        if self.legacy:
            if added:
                found.append(("properties", ", ".join(added)))
        shown += [f"{each} AS {name}" for each, name in zip(self.properties, added)]
        return [*found, ("select", ", ".join(shown))]


@dataclass(frozen=True, eq=False)
class GroupWindowAggregate(WindowAggregate):
    """Aggregates per legacy window."""

    label = "GroupWindowAggregate"


@dataclass(frozen=True, eq=False)
class LocalWindowAggregate(Node):
    """The part of `final` before the exchange: partial results per key and slice."""

    final: WindowAggregate
    label = "LocalWindowAggregate"

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return groups, window and calls."""
        return [(name, value) for name, value in self.final.with_inputs(self.inputs).details(text)]


@dataclass(frozen=True, eq=False)
class GlobalWindowAggregate(Node):
    """The part of `final` behind the exchange."""

    final: WindowAggregate
    label = "GlobalWindowAggregate"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the groups, which are the first columns of partial results."""
        return tuple(range(len(self.final.groups)))

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return groups, window and calls."""
        return self.final.details(text)


@dataclass(frozen=True, eq=False)
class OverAggregate(Node):
    """The input's columns, then the calls of an OVER window."""

    over: OverWindow
    time: int | None
    event_time: bool
    ttl: int = 0
    label = "OverAggregate"

    @property
    def keys(self) -> tuple[int, ...] | None:
        """Return the partition."""
        return self.over.partition_by

    def details(self, text: Text) -> list[tuple[str, str]]:
        """Return partition, order, frame and calls."""
        row_type, over = self.input.row_type, self.over
        names = row_type.field_names()
        found = []
        if over.partition_by:
            found.append(("partitionBy", text.columns(row_type, over.partition_by)))
        if over.order_by:
            found.append(("orderBy", text.order(over.order_by, names)))
        found.append(("window", text.frame(over.frame)))
        calls = [text.aggregate(call, names, not self.input.insert_only) for call in over.calls]
        return [*found, ("select", ", ".join([*names, *calls]))]
