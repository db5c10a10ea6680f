"""The interface of tables: one named state of one subtask, and which of its entries changed in the running epoch.

Decides what states and operators may ask of a table, wherever it keeps its entries: as live objects (``heap_table``)
or on disk (``disk_table``, ``disk_map_table``). Never serialises. Made by the keyed backends.

An entry key is the key itself or, if the table is ``namespaced``, a tuple ``(key, namespace)``. In a map table it is
``(owner, map key)``, where the owner is what the entry key of a plain table is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from headrace.state.key_groups import GroupCache
from headrace.state.tombstone import Entries, StateDelta
from headrace.state.ttl import Expiry

MISSING = object()
"""The value of a map entry that does not exist."""


class Table(ABC):
    """Entries by entry key.

    ``data`` maps an entry key to its value and ``dirty`` holds the entry keys changed since the last delta. Both are
    the same objects for the table's whole life, so that callers can bind them:
    ``table.data[key] = value; table.dirty.add(key)``.
    """

    __slots__ = ("data", "dirty", "expiry", "kind", "name", "namespaced")

    sweeps: ClassVar[bool]
    """Whether states with a time to live check a few other entries at each use."""

    def __init__(self, name: str, kind: str, namespaced: bool, data: dict[Any, Any]) -> None:
        self.name = name
        self.kind = kind
        self.namespaced = namespaced
        self.data = data
        self.dirty: set[Any] = set()
        self.expiry: Expiry | None = None
        """When entries expire; None if they never do."""

    @property
    @abstractmethod
    def changes(self) -> int:
        """How many entries changed since the last delta."""

    @abstractmethod
    def keys(self) -> Iterable[Any]:
        """Return the keys (with their namespaces) that have an entry now."""

    @abstractmethod
    def collect_delta(self, group_of: GroupCache) -> StateDelta:
        """Return the changed entries by key group, and forget that they changed. Values are the live objects."""

    @abstractmethod
    def snapshot_full(self, group_of: GroupCache) -> StateDelta:
        """Return all entries by key group. Entries that count as changed still do."""

    @abstractmethod
    def load(self, group: int, entries: Entries, group_of: GroupCache | None = None) -> None:
        """Add restored entries of a key group; they do not count as changed."""

    def _key_of(self, entry_key: Any) -> Any:
        """Return the user's key in an entry key."""
        return entry_key[0] if self.namespaced else entry_key

    def _by_group(self, entries: Iterable[tuple[Any, Any]], group_of: GroupCache) -> StateDelta:
        entries = list(entries)
        key_of = self._key_of
        keys = [key_of(entry_key) for entry_key, _ in entries]
        result: defaultdict[int, Entries] = defaultdict(list)
        for group, entry in zip(map(group_of.__getitem__, keys), entries, strict=True):
            result[group].append(entry)
        return dict(result)


class MapTable(Table):
    """A map per owner, saved entry by entry: the cost of a change does not grow with the map.

    ``data`` belongs to the implementation; ``dirty`` and deltas have entry keys ``(owner, map key)``.
    """

    __slots__ = ()

    @abstractmethod
    def lookup(self, owner: Any, key: Any) -> Any:
        """Return the value of an entry, MISSING if it does not exist."""

    @abstractmethod
    def put(self, owner: Any, key: Any, value: Any) -> None:
        """Set the value of an entry."""

    @abstractmethod
    def remove(self, owner: Any, key: Any) -> bool:
        """Remove an entry. Return whether it existed."""

    @abstractmethod
    def entries(self, owner: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries of a map."""

    @abstractmethod
    def clear(self, owner: Any) -> None:
        """Remove a map."""

    @abstractmethod
    def is_empty(self, owner: Any) -> bool:
        """Return whether a map has no entry."""

    def _key_of(self, entry_key: Any) -> Any:
        return entry_key[0][0] if self.namespaced else entry_key[0]
