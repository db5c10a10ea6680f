"""Tables of live Python objects, and what of them changed in the running epoch.

Decides how a table becomes a delta and comes back from one. Never serialises, never copies values: a value in a delta is
the live object, to be pickled before the next record is processed. Used by the heap backend, its state objects, and
operators that keep a table of their own (``table.data[key] = value; table.dirty.add(key)``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from headrace.state.expiry import Expiry
from headrace.state.key_groups import GroupCache
from headrace.state.tombstone import TOMBSTONE, Entries, StateDelta

__all__ = ["MISSING", "HeapMapTable", "HeapTable"]

MISSING = object()
"""What a map table gives for an entry that is not there."""


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

    __slots__ = ("data", "dirty", "expiry", "kind", "name", "namespaced")

    sweeps = True
    """Whether states with a time to live look at a few other entries at each use."""

    def __init__(self, name: str, kind: str, namespaced: bool = False) -> None:
        """Start empty."""
        self.name = name
        self.kind = kind
        self.namespaced = namespaced
        self.data: dict[Any, Any] = {}
        self.dirty: set[Any] = set()
        self.expiry: Expiry | None = None
        """When entries expire; None if they never do."""

    @property
    def changes(self) -> int:
        """How many entries changed since the last delta."""
        return len(self.dirty)

    def keys(self) -> Iterable[Any]:
        """Give the keys (with their namespaces) that have anything, as they are now."""
        return list(self.data)

    def collect_delta(self, group_of: GroupCache) -> StateDelta:
        """Give the changed entries by key group, and forget that they changed. Costs only what changed."""
        get = self.data.get
        delta = self._by_group([(key, get(key, TOMBSTONE)) for key in self.dirty], group_of)
        self.dirty.clear()
        return delta

    def snapshot_full(self, group_of: GroupCache) -> StateDelta:
        """Give all entries by key group; what counts as changed stays."""
        return self._by_group(_unexpired(self.data.items(), self.expiry), group_of)

    def load(self, group: int, entries: Entries, group_of: GroupCache | None = None) -> None:
        """Take over entries of a key group; they do not count as changed."""
        self.data.update(entries)
        for entry_key, value in entries:
            if value is TOMBSTONE:
                self.data.pop(entry_key, None)
        if group_of is not None:
            group_of.learn([self._key_of(entry_key) for entry_key, _ in entries], group)

    def _key_of(self, entry_key: Any) -> Any:
        """The user's key in an entry key."""
        return entry_key[0] if self.namespaced else entry_key

    def _by_group(self, entries: Iterable[tuple[Any, Any]], group_of: GroupCache) -> StateDelta:
        entries = list(entries)
        key_of = self._key_of
        keys = [key_of(entry_key) for entry_key, _ in entries]
        result: defaultdict[int, Entries] = defaultdict(list)
        for group, entry in zip(map(group_of.__getitem__, keys), entries, strict=True):
            result[group].append(entry)
        return dict(result)


class HeapMapTable(HeapTable):
    """A map per key, filed entry by entry: what one entry's change costs does not grow with the map.

    ``data`` maps the owner of a map (a key, or a key and namespace) to a dict that is never empty; ``dirty`` and deltas
    have entry keys ``(owner, map key)``. ``fresh`` has those of ``dirty`` that were not there at the last delta: one that is
    removed again leaves no trace.

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

    def __init__(self, name: str, kind: str, namespaced: bool = False) -> None:
        """Start empty."""
        super().__init__(name, kind, namespaced)
        self.fresh: set[tuple[Any, Any]] = set()

    def lookup(self, owner: Any, key: Any) -> Any:
        """Give the value of an entry, MISSING if there is none."""
        entries = self.data.get(owner)
        return MISSING if entries is None else entries.get(key, MISSING)

    def put(self, owner: Any, key: Any, value: Any) -> None:
        """Set the value of an entry."""
        entry = (owner, key)
        changed = entry in self.dirty  # first of all: a key without a hash is refused before anything is there for it
        entries = self.data.get(owner)
        if entries is None:
            entries = self.data[owner] = {}
        if not changed:
            if key not in entries:
                self.fresh.add(entry)
            self.dirty.add(entry)
        entries[key] = value

    def remove(self, owner: Any, key: Any) -> bool:
        """Remove an entry; say whether it was there."""
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
        """Iterate over the entries of a map."""
        return iter(self.data.get(owner, _NOTHING).items())

    def clear(self, owner: Any) -> None:
        """Remove a map."""
        entries = self.data.pop(owner, _NOTHING)
        for key in entries:
            self._removed((owner, key))

    def is_empty(self, owner: Any) -> bool:
        """Say whether a map has no entry."""
        return owner not in self.data

    def collect_delta(self, group_of: GroupCache) -> StateDelta:
        """Give the changed entries by key group, and forget that they changed."""
        get = self.data.get
        changed = [(entry, get(entry[0], _NOTHING).get(entry[1], TOMBSTONE)) for entry in self.dirty]
        self.dirty.clear()
        self.fresh.clear()
        return self._by_group(changed, group_of)

    def snapshot_full(self, group_of: GroupCache) -> StateDelta:
        """Give all entries by key group."""
        flat = (((owner, key), value) for owner, entries in self.data.items() for key, value in entries.items())
        return self._by_group(_unexpired(flat, self.expiry), group_of)

    def load(self, group: int, entries: Entries, group_of: GroupCache | None = None) -> None:
        """Take over entries of a key group; they do not count as changed."""
        for (owner, key), value in entries:
            if value is not TOMBSTONE:
                self.data.setdefault(owner, {})[key] = value
            elif owner in self.data:
                self.data[owner].pop(key, None)
                if not self.data[owner]:
                    del self.data[owner]
        if group_of is not None:
            group_of.learn([self._key_of(entry_key) for entry_key, _ in entries], group)

    def _key_of(self, entry_key: Any) -> Any:
        return entry_key[0][0] if self.namespaced else entry_key[0]


_NOTHING: dict[Any, Any] = {}


def _unexpired(entries: Iterable[tuple[Any, Any]], expiry: Expiry | None) -> Iterable[tuple[Any, Any]]:
    """The entries for a full snapshot: without expired ones if the state was told so."""
    if expiry is None or not expiry.in_full_snapshot:
        return entries
    now = expiry.now()
    living = ((entry_key, expiry.living(value, now)) for entry_key, value in entries)
    return [entry for entry in living if entry[1] is not None]
