"""Tables of live Python objects.

Decides how such a table becomes a delta and is restored from one. Never copies values: a value in a delta is the live
object, to be pickled before the next record is processed. Made by the heap backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from headrace.state.key_groups import GroupCache
from headrace.state.table import MISSING, MapTable, Table
from headrace.state.tombstone import TOMBSTONE, Entries, StateDelta
from headrace.state.ttl import Expiry


class HeapTable(Table):
    """Entries in a dict.

    >>> table = HeapTable("count", "ValueState")
    >>> table.data["a"] = 1
    >>> table.dirty.add("a")
    >>> table.dirty.add("b")
    >>> sorted(sum(table.collect_delta(GroupCache(1)).values(), []))
    [('a', 1), ('b', TOMBSTONE)]
    >>> table.collect_delta(GroupCache(1))
    {}
    """

    __slots__ = ()

    sweeps = True

    def __init__(self, name: str, kind: str, namespaced: bool = False) -> None:
        super().__init__(name, kind, namespaced, {})

    @property
    def changes(self) -> int:
        return len(self.dirty)

    def keys(self) -> Iterable[Any]:
        return list(self.data)

    def collect_delta(self, group_of: GroupCache) -> StateDelta:
        get = self.data.get
        delta = self._by_group([(key, get(key, TOMBSTONE)) for key in self.dirty], group_of)
        self.dirty.clear()
        return delta

    def snapshot_full(self, group_of: GroupCache) -> StateDelta:
        return self._by_group(_unexpired(self.data.items(), self.expiry), group_of)

    def load(self, group: int, entries: Entries, group_of: GroupCache | None = None) -> None:
        self.data.update(entries)
        for entry_key, value in entries:
            if value is TOMBSTONE:
                self.data.pop(entry_key, None)
        if group_of is not None:
            group_of.learn([self._key_of(entry_key) for entry_key, _ in entries], group)


class HeapMapTable(MapTable):
    """Maps as dicts: ``data`` maps the owner of a map to a dict that is never empty.

    ``fresh`` has those of ``dirty`` that did not exist at the last delta: one that is removed again leaves no trace.

    >>> table = HeapMapTable("m", "MapState")
    >>> table.put("a", "x", 1)
    >>> table.put("a", "y", None)
    >>> table.remove("a", "z"), table.lookup("a", "y"), table.lookup("b", "y") is MISSING
    (False, None, True)
    >>> sorted(sum(table.collect_delta(GroupCache(1)).values(), []))
    [(('a', 'x'), 1), (('a', 'y'), None)]
    >>> table.put("a", "z", 1)
    >>> table.remove("a", "z"), table.remove("a", "x")
    (True, True)
    >>> table.collect_delta(GroupCache(1))
    {0: [(('a', 'x'), TOMBSTONE)]}
    """

    __slots__ = ("fresh",)

    sweeps = True

    def __init__(self, name: str, kind: str, namespaced: bool = False) -> None:
        super().__init__(name, kind, namespaced, {})
        self.fresh: set[tuple[Any, Any]] = set()

    @property
    def changes(self) -> int:
        return len(self.dirty)

    def keys(self) -> Iterable[Any]:
        return list(self.data)

    def lookup(self, owner: Any, key: Any) -> Any:
        entries = self.data.get(owner)
        return MISSING if entries is None else entries.get(key, MISSING)

    def put(self, owner: Any, key: Any, value: Any) -> None:
        entry = (owner, key)
        changed = entry in self.dirty  # first of all: an unhashable key is refused before anything is stored for it
        entries = self.data.get(owner)
        if entries is None:
            entries = self.data[owner] = {}
        if not changed:
            if key not in entries:
                self.fresh.add(entry)
            self.dirty.add(entry)
        entries[key] = value

    def remove(self, owner: Any, key: Any) -> bool:
        entries = self.data.get(owner)
        if entries is None or key not in entries:
            return False
        del entries[key]
        if not entries:
            del self.data[owner]
        self._removed((owner, key))
        return True

    def _removed(self, entry: tuple[Any, Any]) -> None:
        if entry in self.fresh:
            self.fresh.remove(entry)
            self.dirty.remove(entry)
        else:
            self.dirty.add(entry)

    def entries(self, owner: Any) -> Iterator[tuple[Any, Any]]:
        return iter(self.data.get(owner, _NOTHING).items())

    def clear(self, owner: Any) -> None:
        entries = self.data.pop(owner, _NOTHING)
        for key in entries:
            self._removed((owner, key))

    def is_empty(self, owner: Any) -> bool:
        return owner not in self.data

    def collect_delta(self, group_of: GroupCache) -> StateDelta:
        get = self.data.get
        changed = [(entry, get(entry[0], _NOTHING).get(entry[1], TOMBSTONE)) for entry in self.dirty]
        self.dirty.clear()
        self.fresh.clear()
        return self._by_group(changed, group_of)

    def snapshot_full(self, group_of: GroupCache) -> StateDelta:
        flat = (((owner, key), value) for owner, entries in self.data.items() for key, value in entries.items())
        return self._by_group(_unexpired(flat, self.expiry), group_of)

    def load(self, group: int, entries: Entries, group_of: GroupCache | None = None) -> None:
        for (owner, key), value in entries:
            if value is not TOMBSTONE:
                self.data.setdefault(owner, {})[key] = value
            elif owner in self.data:
                self.data[owner].pop(key, None)
                if not self.data[owner]:
                    del self.data[owner]
        if group_of is not None:
            group_of.learn([self._key_of(entry_key) for entry_key, _ in entries], group)


_NOTHING: dict[Any, Any] = {}


def _unexpired(entries: Iterable[tuple[Any, Any]], expiry: Expiry | None) -> Iterable[tuple[Any, Any]]:
    """Return the entries for a full snapshot: without expired ones if the state is configured so."""
    if expiry is None or not expiry.in_full_snapshot:
        return entries
    now = expiry.now()
    living = ((entry_key, expiry.living(value, now)) for entry_key, value in entries)
    return [entry for entry in living if entry[1] is not None]
