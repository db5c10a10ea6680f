"""Changelog inference: which changes each node makes, and whether updates carry their old rows.

1. Bottom up, each node offers kinds of changes: inserts, updates, deletes. A consumer that cannot take them is an error.
2. Top down, consumers wish for updates as the new row only, or as the old and the new row; a node that cannot do with
   new rows only (a filter on columns that change, an aggregation) asks its input for both.
3. With that, strategies are chosen: how top N keeps its rows, which keys joins use, whether a sink must be materialised.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from headrace.table.changelog_mode import ChangelogMode
from headrace.table.errors import SqlNotSupportedError
from headrace.table.plan.describe import Text, description
from headrace.table.plan.nodes import aggregates, ends, joins, ranks, simple
from headrace.table.plan.nodes.base import ALL_CHANGES, INSERT_ONLY, Node, UpdateKind
from headrace.table.plan.rex import input_columns
from headrace.table.plan.settings import PlanSettings
from headrace.table.plan.upsert_keys import UpsertKeys, smallest
from headrace.types.logical_types import TimeAttribute
from headrace.types.row import RowKind

Changes = frozenset[str]
_UPDATES = frozenset("U")


def inferred(node: Node, settings: PlanSettings) -> Node:
    """Return the plan with the changes of all nodes. The root may be a sink, or a query that takes all changes."""
    offered = _Offers(settings).visit(node, ALL_CHANGES, "the result")
    wishes = _Wishes(settings)
    if isinstance(offered, ends.Sink):
        return wishes.sink(offered)
    found = wishes.visit(offered, before_and_after(offered))
    if found is None:
        raise SqlNotSupportedError("Can't generate a valid execution plan for the given query")
    return found


def before_and_after(node: Node) -> UpdateKind:
    """Return the wish for old and new rows, if a node updates rows at all."""
    return UpdateKind.BEFORE_AND_AFTER if "U" in node.changes else UpdateKind.NONE


def only_after(node: Node) -> UpdateKind:
    """Return the wish for new rows only, if a node updates rows at all."""
    return UpdateKind.ONLY_AFTER if "U" in node.changes else UpdateKind.NONE


def changes_of(mode: ChangelogMode) -> Changes:
    """Return the kinds of changes in a changelog mode."""
    found = {"I"} if mode.contains(RowKind.INSERT) else set()
    found |= {"U"} if mode.contains(RowKind.UPDATE_AFTER) or mode.contains(RowKind.UPDATE_BEFORE) else set()
    return frozenset(found | ({"D"} if mode.contains(RowKind.DELETE) else set()))


def mode_of(node: Node) -> ChangelogMode:
    """Return the changelog mode of a node."""
    names = {"I": RowKind.INSERT, "UB": RowKind.UPDATE_BEFORE, "UA": RowKind.UPDATE_AFTER, "D": RowKind.DELETE}
    return ChangelogMode(frozenset(names[each] for each in node.changelog))


class _Offers:
    """The first pass."""

    def __init__(self, settings: PlanSettings) -> None:
        self._settings = settings
        self._known: dict[int, tuple[Node, Node]] = {}

    def visit(self, node: Node, accepted: Changes, consumer: str) -> Node:
        known = self._known.get(id(node))
        if known is None:
            known = self._known[id(node)] = (node, self._offered(node))
        found = known[1]
        if not found.changes <= accepted:
            names = {"U": "update", "D": "delete", "I": "insert"}
            extra = " and ".join(names[kind] for kind in "UD" if kind in found.changes - accepted)
            raise SqlNotSupportedError(
                f"{consumer} doesn't support consuming {extra} changes which is produced by node "
                f"{description(found, Text())}",
                remedy="remove updates before it (windows, append-only queries), or use batch mode",
            )
        return found

    def _offered(self, node: Node) -> Node:
        if self._settings.batch:
            inputs = tuple(self.visit(each, ALL_CHANGES, node.label) for each in node.inputs)
            return replace(node, inputs=inputs, changes=INSERT_ONLY)
        if isinstance(node, ends.Sink):
            return self._sink(node)
        accepted = self._accepted(node)
        name = node.label if accepted == ALL_CHANGES else description(node, Text()).partition("(")[0]
        inputs = tuple(self.visit(each, accepted, name) for each in node.inputs)
        current = node.with_inputs(inputs)
        return replace(current, changes=self._changes(current))

    def _accepted(self, node: Node) -> Changes:
        match node:
            case aggregates.OverAggregate(time=time):
                return ALL_CHANGES if time is None else INSERT_ONLY
            case joins.IntervalJoin() | joins.WindowJoin() | ranks.WindowRank() | ranks.TemporalSort():
                return INSERT_ONLY
            case ranks.Deduplicate() | ends.Match():
                return INSERT_ONLY
        return ALL_CHANGES

    def _changes(self, node: Node) -> Changes:  # noqa: PLR0911 - one for each kind of node
        """Return the kinds of changes that a node makes of those of its inputs."""
        inputs = frozenset().union(*(each.changes for each in node.inputs)) if node.inputs else INSERT_ONLY
        match node:
            case simple.TableScan(source=source):
                return changes_of(source.changelog_mode)
            case aggregates.GroupAggregate(calls=calls):
                if not calls and inputs == INSERT_ONLY and node.groups:
                    return INSERT_ONLY
                return frozenset("IUD") if inputs & frozenset("UD") else frozenset("IU")
            case aggregates.WindowAggregate(legacy=legacy):
                settings = self._settings
                fires = legacy and (settings.early_fire or settings.late_fire)
                return frozenset("IU") if fires else INSERT_ONLY
            case aggregates.OverAggregate(time=time):
                return INSERT_ONLY if time is not None else ALL_CHANGES
            case ranks.Rank():
                return INSERT_ONLY if inputs == INSERT_ONLY and keeps_first(node) else ALL_CHANGES
            case ranks.SortLimit():
                return ALL_CHANGES
            case ranks.Sort() | ranks.TemporalSort() | ranks.WindowRank():
                return INSERT_ONLY
            case joins.Join(kind=kind):
                return inputs if kind in ("INNER", "SEMI") else ALL_CHANGES
            case joins.TemporalJoin():
                return node.inputs[0].changes
            case joins.JoinNode():
                return INSERT_ONLY
            case simple.ChangelogNormalize():
                return ALL_CHANGES
            case ends.Match():
                return INSERT_ONLY
        return inputs

    def _sink(self, node: ends.Sink) -> Node:
        accepted = changes_of(node.sink.changelog_mode(ChangelogMode.all()))
        name = f"Table sink '{'.'.join(node.name)}'"
        below = self.visit(node.input, accepted, name)
        return replace(node, inputs=(below,), changes=below.changes)


def time_order(node: ranks.Rank) -> TimeAttribute | None:
    """Return the time attribute if rows are ordered by it alone."""
    if len(node.order_by) != 1:
        return None
    kind = node.input.row_type.fields[node.order_by[0].index].data_type
    return getattr(kind, "time_attribute", None)


def deduplicates(node: ranks.Rank) -> bool:
    """Return whether top N keeps the first or last row by time, which a deduplication does."""
    first = node.function == "ROW_NUMBER" and node.start == 1 and node.end == 1 and not node.with_rank
    return first and time_order(node) is not None


def keeps_first(node: ranks.Rank) -> bool:
    """Return whether only the first row by time is kept, which never changes."""
    return deduplicates(node) and not node.order_by[0].descending


class _Wishes:
    """The second pass. `visit` returns None if a wish cannot be met."""

    def __init__(self, settings: PlanSettings) -> None:
        self._settings = settings
        self._keys = UpsertKeys()
        self._known: dict[tuple[int, UpdateKind], tuple[Node, Node | None]] = {}

    def visit(self, node: Node, wish: UpdateKind) -> Node | None:
        known = self._known.get((id(node), wish))
        if known is None:
            handler = _WISHES.get(type(node), _Wishes.forward)
            known = self._known[id(node), wish] = (node, handler(self, node, wish))
        return known[1]

    # -- the root -------------------------------------------------------------------------------------------------

    def sink(self, node: ends.Sink) -> Node:
        """Return the sink over an input in a form that it takes."""
        for wish in self._sink_wishes(node):
            below = self.visit(node.input, wish)
            if below is not None:
                current = replace(node, inputs=(below,), changes=below.changes, update=below.update)
                return self._materialized(current)
        raise SqlNotSupportedError(
            f"Table sink '{'.'.join(node.name)}' doesn't support consuming the changes of the query",
            seen=description(node.input, Text()),
        )

    def _sink_wishes(self, node: ends.Sink) -> list[UpdateKind]:
        below = node.input
        both = before_and_after(below)
        default = ChangelogMode.all() if "U" in below.changes else mode_of(below)
        mode: ChangelogMode = node.sink.changelog_mode(default)
        if mode.contains(RowKind.UPDATE_BEFORE) or "U" not in below.changes:
            return [both]
        exact = frozenset(node.primary_key) in self._keys.of(below)
        return [only_after(below), both] if exact or not node.primary_key else [both]

    def _materialized(self, node: ends.Sink) -> Node:
        """Decide whether changes must be put in order by the primary key of the sink."""
        below, choice = node.input, self._settings.upsert_materialize
        if (
            (below.insert_only and choice != "FORCE")
            or not node.primary_key
            or choice == "NONE"
            or self._settings.batch
        ):
            return node
        mode: ChangelogMode = node.sink.changelog_mode(mode_of(below))
        if mode.contains(RowKind.UPDATE_BEFORE) or mode.is_insert_only:
            return node
        keys = self._keys.of(below)
        if choice == "AUTO" and any(key <= frozenset(node.primary_key) for key in keys):
            return node
        return replace(node, materialize=True, upsert_key=smallest(keys))

    # -- nodes ----------------------------------------------------------------------------------------------------

    def forward(self, node: Node, wish: UpdateKind) -> Node | None:
        """The default: inputs get the wish of the consumer, as far as they update rows."""
        inputs = []
        for each in node.inputs:
            below = self.visit(each, wish if "U" in each.changes else UpdateKind.NONE)
            if below is None:
                return None
            inputs.append(below)
        return replace(node, inputs=tuple(inputs), update=wish if "U" in node.changes else UpdateKind.NONE)

    def needs_both(self, node: Node, wish: UpdateKind) -> Node | None:
        """Nodes that must see old rows, and can then send updates in any form."""
        inputs = []
        for each in node.inputs:
            below = self.visit(each, before_and_after(each))
            if below is None:
                return None
            inputs.append(below)
        return replace(node, inputs=tuple(inputs), update=wish if "U" in node.changes else UpdateKind.NONE)

    def calc(self, node: simple.Calc, wish: UpdateKind) -> Node | None:
        if wish is UpdateKind.ONLY_AFTER and node.condition is not None:
            used = input_columns(node.condition)
            if not any(used <= key for key in self._keys.of(node.input)):
                return None  # the update could make a row fail the condition, and its old row would stay
        return self.forward(node, wish)

    def scan(self, node: simple.TableScan, wish: UpdateKind) -> Node | None:
        mode: ChangelogMode = node.source.changelog_mode
        if "U" not in node.changes:
            return node
        has_before = mode.contains(RowKind.UPDATE_BEFORE)
        if wish is UpdateKind.ONLY_AFTER and has_before:
            full = replace(node, update=UpdateKind.BEFORE_AND_AFTER)
            return simple.DropUpdateBefore(node.row_type, (full,), changes=node.changes, update=UpdateKind.ONLY_AFTER)
        if wish is UpdateKind.BEFORE_AND_AFTER and not has_before:
            return None
        return replace(node, update=UpdateKind.BEFORE_AND_AFTER if has_before else UpdateKind.ONLY_AFTER)

    def normalize(self, node: simple.ChangelogNormalize, wish: UpdateKind) -> Node | None:
        for each in (UpdateKind.ONLY_AFTER, UpdateKind.BEFORE_AND_AFTER):
            below = self.visit(node.input, each if "U" in node.input.changes else UpdateKind.NONE)
            if below is not None:
                return replace(node, inputs=(below,), update=wish)
        return None

    def join(self, node: joins.Join, wish: UpdateKind) -> Node | None:
        inputs = []
        for each, keys in zip(node.inputs, (node.left_keys, node.right_keys)):
            kind = before_and_after(each)
            if wish is UpdateKind.ONLY_AFTER:
                known = self._keys.before_exchange(each)
                if "U" in each.changes and not any(frozenset(keys) <= key for key in known):
                    return None
                kind = only_after(each)
            below = self.visit(each, kind)
            if below is None:
                return None
            inputs.append(below)
        left, right = (smallest(self._keys.before_exchange(each)) for each in node.inputs)
        update = wish if "U" in node.changes else UpdateKind.NONE
        return replace(node, inputs=tuple(inputs), update=update, left_unique=left, right_unique=right)

    def temporal(self, node: joins.TemporalJoin, wish: UpdateKind) -> Node | None:
        left_node, right_node = node.inputs
        left = self.visit(left_node, wish if "U" in left_node.changes else UpdateKind.NONE)
        right = self.visit(right_node, only_after(right_node)) or self.visit(right_node, before_and_after(right_node))
        if left is None or right is None:
            return None
        return replace(node, inputs=(left, right), update=wish if "U" in node.changes else UpdateKind.NONE)

    def rank(self, node: ranks.Rank | ranks.SortLimit, wish: UpdateKind) -> Node | None:
        strategies = self._strategies(node)
        update = wish if "U" in node.changes else UpdateKind.NONE
        for strategy, kind, key in strategies:
            below = self.visit(node.input, kind)
            if below is None:
                continue
            current = replace(node, inputs=(below,), update=update, strategy=strategy, upsert_key=key)
            if isinstance(current, ranks.Rank) and self._is_deduplication(current):
                return self._deduplicate(current)
            return current
        return None

    def _strategies(self, node: Any) -> list[tuple[str, UpdateKind, tuple[int, ...] | None]]:
        """Return how top N can keep its rows, best first."""
        below = node.input
        if below.insert_only:
            return [("AppendFastStrategy", UpdateKind.NONE, None)]
        partition = node.partition_by if isinstance(node, ranks.Rank) else ()
        keys = frozenset(key for key in self._keys.before_exchange(below) if frozenset(partition) <= key)
        both = before_and_after(below)
        found = smallest(keys)
        retract = ("RetractStrategy", both, found)
        if found is None or "D" in below.changes or not self._only_rises(node):
            return [retract]
        return [("UpdateFastStrategy", only_after(below), found), retract]

    def _only_rises(self, node: Any) -> bool:
        """Return whether updates can only move rows up in the order: counts and the like, ordered descending."""
        from headrace.table.plan.monotonic import moves_up

        return all(moves_up(node.input, key) for key in node.order_by)

    def _is_deduplication(self, node: ranks.Rank) -> bool:
        """Return whether a deduplication can do the work; in batch mode, top N emits its rows only at the end."""
        return not self._settings.batch and node.input.insert_only and deduplicates(node)

    @staticmethod
    def _deduplicate(node: ranks.Rank) -> Node:
        time = node.order_by[0]
        return ranks.Deduplicate(
            node.row_type,
            node.inputs,
            node.partition_by,
            time.index,
            time_order(node) is TimeAttribute.ROWTIME,
            time.descending,
            node.ttl,
            changes=node.changes,
            update=node.update,
        )


_Wish = Callable[[Any, Any, UpdateKind], "Node | None"]
_both: _Wish = _Wishes.needs_both
_WISHES: dict[type[Node], _Wish] = {
    simple.TableScan: _Wishes.scan,
    simple.Calc: _Wishes.calc,
    simple.ChangelogNormalize: _Wishes.normalize,
    aggregates.GroupAggregate: _both,
    aggregates.WindowAggregate: _both,
    aggregates.GroupWindowAggregate: _both,
    aggregates.OverAggregate: _both,
    ranks.Limit: _both,
    ranks.Sort: _both,
    ranks.Rank: _Wishes.rank,
    ranks.SortLimit: _Wishes.rank,
    joins.Join: _Wishes.join,
    joins.TemporalJoin: _Wishes.temporal,
}
