"""A table of live Python objects, and what of it changed in the running epoch.

Decides how a table becomes a delta. Never serialises, never copies values: a value in a delta is the live object, to
be pickled before the next record is processed. Used by the heap backend, its state objects, and operators that keep
a table of their own (``table.data[key] = value; table.dirty.add(key)``).
"""

from __future__ import annotations

from collections import defaultdict
from itertools import repeat
from typing import Any

from headrace.state.key_groups import GroupCache
from headrace.state.tombstone import TOMBSTONE, Entries, StateDelta

__all__ = ["HeapTable"]


class HeapTable:
    """One named state of one subtask.

    ``data`` maps an entry key to its value and ``dirty`` holds the entry keys changed since the last delta; both stay
    the same objects for the table's whole life, so callers may bind them. An entry key is the key itself or, if the
    table is ``namespaced``, a tuple ``(key, namespace)``.

    >>> table = HeapTable("count", "ValueState")
    >>> table.data["a"] = 1
    >>> table.dirty.add("a")
    >>> table.dirty.add("b")
    >>> sorted(sum(table.collect_delta(GroupCache(1)).values(), []))
    [('a', 1), ('b', TOMBSTONE)]
    >>> table.collect_delta(GroupCache(1))
    {}
    """

    __slots__ = ("data", "dirty", "kind", "name", "namespaced")

    def __init__(self, name: str, kind: str, namespaced: bool = False) -> None:
        """Start empty."""
        self.name = name
        self.kind = kind
        self.namespaced = namespaced
        self.data: dict[Any, Any] = {}
        self.dirty: set[Any] = set()

    def collect_delta(self, group_of: GroupCache) -> StateDelta:
        """Give the changed entries by key group, and forget that they changed. Costs only what changed."""
        delta = self._by_group(list(self.dirty), group_of)
        self.dirty.clear()
        return delta

    def snapshot_full(self, group_of: GroupCache) -> StateDelta:
        """Give all entries by key group; what counts as changed stays."""
        return self._by_group(list(self.data), group_of)

    def _by_group(self, entry_keys: list[Any], group_of: GroupCache) -> StateDelta:
        keys = [entry_key[0] for entry_key in entry_keys] if self.namespaced else entry_keys
        entries = zip(entry_keys, map(self.data.get, entry_keys, repeat(TOMBSTONE)), strict=True)
        result: defaultdict[int, Entries] = defaultdict(list)
        for group, entry in zip(map(group_of.__getitem__, keys), entries, strict=True):
            result[group].append(entry)
        return dict(result)
