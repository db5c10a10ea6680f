"""A table of maps on disk: every entry of a map is stored by itself, recently used ones are in memory.

Decides the order in which a map is iterated over: by the bytes of its keys, whatever is in memory. So a map can be larger
than memory, and the cost of an entry does not grow with its map. Two generations like in ``cached_entries``, by owner.
Made by the disk backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import merge
from operator import itemgetter
from typing import Any

from headrace.state.cached_entries import UNKNOWN
from headrace.state.disk_file import DiskFile
from headrace.state.disk_table import StoredTable
from headrace.state.entry_codec import encode_key
from headrace.state.key_groups import GroupCache
from headrace.state.table import MISSING, MapTable
from headrace.state.tombstone import TOMBSTONE

_BYTES = itemgetter(0)


class DiskMapTable(StoredTable, MapTable):
    """Maps by owner. ``data`` has the young generation: owner -> map key -> value, MISSING if it does not exist."""

    __slots__ = ("_group_of", "_in_memory", "_old")

    def __init__(self, name: str, kind: str, namespaced: bool, file: DiskFile, group_of: GroupCache) -> None:
        super().__init__(name, kind, namespaced, file, {})
        self._group_of = group_of
        self._old: dict[Any, dict[Any, Any]] = {}
        self._in_memory = 0

    @property
    def in_memory(self) -> int:
        return self._in_memory

    def _cached(self, owner: Any) -> dict[Any, Any]:
        entries: dict[Any, Any] | None = self.data.get(owner)
        if entries is None:
            entries = self.data[owner] = self._old.pop(owner, None) or {}
            self._in_memory += len(entries) + 1
        return entries

    def lookup(self, owner: Any, key: Any) -> Any:
        cached = self._cached(owner)
        value = cached.get(key, UNKNOWN)
        if value is UNKNOWN:
            value = cached[key] = self._file.get((owner, key), MISSING)
            self._in_memory += 1
        return value

    def put(self, owner: Any, key: Any, value: Any) -> None:
        cached = self._cached(owner)
        self._in_memory += key not in cached
        cached[key] = value
        self.dirty.add((owner, key))

    def remove(self, owner: Any, key: Any) -> bool:
        if self.lookup(owner, key) is MISSING:
            return False
        self.put(owner, key, MISSING)
        return True

    def entries(self, owner: Any) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries of a map as they are at the start; those only on disk are read one by one."""
        cached = dict(self._cached(owner))
        in_memory = sorted(((encode_key(key)[0], key, value) for key, value in cached.items()), key=_BYTES)
        for _, key, value in merge(in_memory, self._stored(owner, cached), key=_BYTES):
            if value is not MISSING:
                yield key, value

    def _stored(self, owner: Any, but: dict[Any, Any]) -> Iterator[tuple[bytes, Any, Any]]:
        for data, found in self._file.scan_owner(owner, self._group_of[self._key_of((owner, None))]):
            for (_, key), value in found:
                if key not in but:
                    yield data, key, value

    def clear(self, owner: Any) -> None:
        for key, _ in list(self.entries(owner)):
            self.put(owner, key, MISSING)

    def is_empty(self, owner: Any) -> bool:
        if any(value is not MISSING for value in self._cached(owner).values()):
            return False
        return next(self.entries(owner), None) is None

    def keys(self) -> Iterable[Any]:
        self.write_back()
        before: Any = MISSING
        for _, found in self._file.scan():
            for (owner, _), _ in found:
                if before is MISSING or owner != before:
                    yield owner
                before = owner

    def _newest(self) -> Iterator[Any]:
        values = (value for entries in reversed(self.data.values()) for value in reversed(entries.values()))
        return (value for value in values if value is not MISSING)

    def _known(self, entry: Any) -> Any:
        owner, key = entry
        cached = self.data.get(owner)
        if cached is None:
            cached = self._old.get(owner, _NOTHING)
        value = cached.get(key, UNKNOWN)
        return TOMBSTONE if value is MISSING else value

    def _set(self, entry: Any, value: Any) -> None:
        self.put(entry[0], entry[1], MISSING if value is None else value)

    def _drop(self) -> None:
        self._old = dict(self.data)
        self.data.clear()
        self._in_memory = 0


_NOTHING: dict[Any, Any] = {}
