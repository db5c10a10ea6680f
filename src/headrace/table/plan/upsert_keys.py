"""Upsert keys: columns that identify a row in the changelog of a node, so that an update replaces exactly one row.

A key must survive the exchanges: after rows have been distributed by other columns than those of the key, two changes of
the same key may overtake each other, and the key no longer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from headrace.table.plan.nodes import aggregates, ends, joins, ranks, simple
from headrace.table.plan.nodes.base import Node
from headrace.table.plan.rex import Call, InputRef, Rex

Keys = frozenset[frozenset[int]]
_NONE: Keys = frozenset()
_MOST_KEYS = 16
_WIDENING = ["TinyIntType", "SmallIntType", "IntType", "BigIntType"]


class UpsertKeys:
    """The keys of all nodes of a plan, each computed once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Node, Keys]] = {}

    def of(self, node: Node) -> Keys:
        """Return the upsert keys of a node."""
        known = self._known.get(id(node))
        if known is None:
            handler = _HANDLERS.get(type(node))
            found = handler(self, node) if handler is not None else _NONE
            known = self._known[id(node)] = (node, _minimal(found))
        return known[1]

    def before_exchange(self, node: Node) -> Keys:
        """Return the keys of a node, or of the node before it if this is an exchange."""
        return self.of(node.input if isinstance(node, simple.Exchange) else node)


def smallest(keys: Keys) -> tuple[int, ...] | None:
    """Return the key with the fewest columns.

    >>> smallest(frozenset([frozenset([0, 1]), frozenset([2])])), smallest(frozenset())
    ((2,), None)
    """
    return min((tuple(sorted(key)) for key in keys), key=lambda key: (len(key), key), default=None)


def containing(keys: Keys, columns: Iterable[int]) -> Keys:
    """Return the keys that contain all of some columns."""
    needed = frozenset(columns)
    return frozenset(key for key in keys if needed <= key)


def _minimal(keys: Keys) -> Keys:
    if len(keys) <= 1:
        return keys
    kept = [key for key in keys if not any(other < key for other in keys)]
    return frozenset(sorted(kept, key=lambda key: (len(key), sorted(key)))[:_MOST_KEYS])


def projected(keys: Keys, expressions: tuple[Rex, ...]) -> Keys:
    """Return keys behind a projection, which must keep all of their columns."""
    places: dict[int, list[int]] = {}
    for place, rex in enumerate(expressions):
        column = _kept_column(rex)
        if column is not None:
            places.setdefault(column, []).append(place)
    found = set()
    for key in keys:
        if all(column in places for column in key):
            for chosen in product(*(places[column] for column in sorted(key))):
                found.add(frozenset(chosen))
                if len(found) >= _MOST_KEYS:
                    return frozenset(found)
    return frozenset(found)


def _kept_column(rex: Rex) -> int | None:
    """Return the column whose values an expression keeps apart."""
    if isinstance(rex, InputRef):
        return rex.index
    if isinstance(rex, Call) and rex.function.name == "CAST" and isinstance(rex.arguments[0], InputRef):
        names = [type(rex.arguments[0].type).__name__, type(rex.type).__name__]
        if all(name in _WIDENING for name in names) and _WIDENING.index(names[0]) <= _WIDENING.index(names[1]):
            return rex.arguments[0].index
    return None


def _scan(keys: UpsertKeys, node: simple.TableScan) -> Keys:
    del keys
    return frozenset([frozenset(node.primary_key)]) if node.primary_key else _NONE


def _same(keys: UpsertKeys, node: Node) -> Keys:
    return keys.of(node.input)


def _calc(keys: UpsertKeys, node: simple.Calc) -> Keys:
    return projected(keys.of(node.input), node.expressions)


def _exchange(keys: UpsertKeys, node: simple.Exchange) -> Keys:
    return containing(keys.of(node.input), node.columns)


def _window_table(keys: UpsertKeys, node: simple.WindowTable) -> Keys:
    return keys.of(node.input) if node.window.kind == "TUMBLE" else _NONE


def _group(keys: UpsertKeys, node: aggregates.GroupAggregate) -> Keys:
    del keys
    return frozenset([frozenset(range(len(node.groups)))])


def _windows(keys: UpsertKeys, node: aggregates.WindowAggregate) -> Keys:
    del keys
    first = len(node.groups) + len(node.calls)
    return frozenset(frozenset((*range(len(node.groups)), first + number)) for number in range(len(node.properties)))


def _final_windows(keys: UpsertKeys, node: aggregates.GlobalWindowAggregate) -> Keys:
    return _windows(keys, node.final)


def _over(keys: UpsertKeys, node: aggregates.OverAggregate) -> Keys:
    return containing(keys.before_exchange(node.input), node.over.partition_by)


def _rank(keys: UpsertKeys, node: ranks.Rank) -> Keys:
    inherited = containing(keys.before_exchange(node.input), node.partition_by)
    if node.function != "ROW_NUMBER":
        return inherited
    if node.end == 1:
        return inherited | {frozenset(node.partition_by)}
    if node.with_rank:
        return inherited | {frozenset((*node.partition_by, len(node.row_type) - 1))}
    return inherited


def _deduplicate(keys: UpsertKeys, node: ranks.Deduplicate | ranks.WindowRank) -> Keys:
    del keys
    if isinstance(node, ranks.WindowRank):
        return frozenset([frozenset((*node.partition_by, *node.window))]) if node.end == 1 else _NONE
    return frozenset([frozenset(node.partition_by)])


def _normalize(keys: UpsertKeys, node: simple.ChangelogNormalize) -> Keys:
    del keys
    return frozenset([frozenset(node.key)])


def _expand(keys: UpsertKeys, node: simple.Expand) -> Keys:
    inherited = projected(keys.of(node.input), node.projections[0])
    return frozenset(key | {len(node.row_type) - 1} for key in inherited)


def _join(keys: UpsertKeys, node: joins.JoinNode) -> Keys:
    left = containing(keys.before_exchange(node.inputs[0]), node.left_keys)
    right = containing(keys.before_exchange(node.inputs[1]), node.right_keys)
    if node.kind in ("SEMI", "ANTI"):
        return left
    width = len(node.inputs[0].row_type)
    moved = frozenset(frozenset(column + width for column in key) for key in right)
    found = {one | other for one in left for other in moved}
    # All keys of a side contain its join key here, so a side is unique on it if the key has nothing else.
    if frozenset(node.right_keys) in right and node.kind not in ("RIGHT", "FULL"):
        found |= left
    if frozenset(node.left_keys) in left and node.kind not in ("LEFT", "FULL"):
        found |= moved
    return frozenset(found)


def _temporal(keys: UpsertKeys, node: joins.TemporalJoin) -> Keys:
    return containing(keys.before_exchange(node.inputs[0]), node.left_keys)


def _lookup(keys: UpsertKeys, node: joins.LookupJoin) -> Keys:
    """A row stays one row only if the lookup finds at most one: the key of the external table is not known here."""
    del keys, node
    return _NONE


_HANDLERS: dict[type[Node], Callable[[UpsertKeys, Any], Keys]] = {
    simple.TableScan: _scan,
    simple.Calc: _calc,
    simple.Exchange: _exchange,
    simple.Watermarks: _same,
    simple.DropUpdateBefore: _same,
    simple.WindowTable: _window_table,
    simple.ChangelogNormalize: _normalize,
    simple.Expand: _expand,
    aggregates.GroupAggregate: _group,
    aggregates.WindowAggregate: _windows,
    aggregates.GroupWindowAggregate: _windows,
    aggregates.GlobalWindowAggregate: _final_windows,
    aggregates.OverAggregate: _over,
    ranks.Rank: _rank,
    ranks.Deduplicate: _deduplicate,
    ranks.WindowRank: _deduplicate,
    ranks.Sort: _same,
    ranks.SortLimit: _same,
    ranks.Limit: _same,
    ranks.TemporalSort: _same,
    joins.Join: _join,
    joins.IntervalJoin: _join,
    joins.WindowJoin: _join,
    joins.TemporalJoin: _temporal,
    joins.LookupJoin: _lookup,
    ends.Sink: _same,
}
