"""Tables on disk with the recently used entries as live objects in memory: what all have in common, and the plain one.

Decides which entries must be written before they may leave memory, and which belong to the next delta. How entries are
cached is decided by ``cached_entries`` for plain tables, by ``disk_map_table`` for maps. Made by the disk backend.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from headrace.state.cached_entries import UNKNOWN, CachedEntries
from headrace.state.disk_file import DiskFile
from headrace.state.key_groups import GroupCache
from headrace.state.table import Table
from headrace.state.tombstone import TOMBSTONE, Entries, StateDelta

_SAMPLE_AT, _SAMPLES = 32, 8  # entries in memory before the first are weighed, and how many are


class StoredTable(Table):
    """What both kinds of tables on disk share.

    A changed entry is marked in ``dirty``, then in ``_unwritten`` or ``_undelivered`` until it is both on disk and in
    a delta.
    """

    __slots__ = ("_file", "_next_sample", "_undelivered", "_unwritten")

    sweeps = False

    def __init__(self, name: str, kind: str, namespaced: bool, file: DiskFile, data: dict[Any, Any]) -> None:
        super().__init__(name, kind, namespaced, data)
        self._file = file
        self._next_sample = _SAMPLE_AT
        self._unwritten: set[Any] = set()
        self._undelivered: set[Any] = set()

    # -- memory ---------------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def in_memory(self) -> int:
        """How many entries came in since the last `retire`."""

    @abstractmethod
    def _newest(self) -> Iterator[Any]:
        """Iterate over the values that came in since the last `retire`, the newest first."""

    @abstractmethod
    def _known(self, entry: Any) -> Any:
        """Return the value of an entry in memory, TOMBSTONE if it is known not to exist, or UNKNOWN."""

    @abstractmethod
    def _set(self, entry: Any, value: Any) -> None:
        """Change an entry; None removes it."""

    @abstractmethod
    def _drop(self) -> None:
        """Drop what was not used since the last time; everything in memory is on disk."""

    @property
    def average(self) -> float:
        """About how many bytes an entry has on disk; some are weighed whenever their number has doubled."""
        if self.in_memory >= self._next_sample:
            self._next_sample = 2 * self.in_memory
            self._file.weigh(islice(self._newest(), _SAMPLES))
        return self._file.average

    def write_back(self) -> None:
        """Bring the disk up to date."""
        changed = self._unwritten | self.dirty
        if changed:
            values = ((entry, self._known(entry)) for entry in changed)
            self._file.put([pair for pair in values if pair[1] is not UNKNOWN])
            self._unwritten = set()
            self._undelivered.update(self.dirty)
            self.dirty.clear()

    def retire(self) -> None:
        """Write back, and take entries out of memory that were not used since the last time."""
        self.write_back()
        self._drop()
        self._next_sample = _SAMPLE_AT

    # -- saving ---------------------------------------------------------------------------------------------------

    @property
    def changes(self) -> int:
        return len(self.dirty) + len(self._undelivered)

    def collect_delta(self, group_of: GroupCache) -> StateDelta:
        """Return the changed entries by key group; those that are only on disk are read again, but stay there."""
        changed = [*self.dirty, *self._undelivered.difference(self.dirty)]
        self._unwritten.update(self.dirty)
        self.dirty.clear()
        self._undelivered = set()
        return self._by_group([(entry, self._now(entry)) for entry in changed], group_of)

    def _now(self, entry: Any) -> Any:
        value = self._known(entry)
        return self._file.get(entry, TOMBSTONE) if value is UNKNOWN else value

    def snapshot_full(self, group_of: GroupCache) -> StateDelta:
        """Return all entries by key group, read from disk while the snapshot is used."""
        self.write_back()
        return self._file.by_group(self.expiry)  # type: ignore[return-value]  # read like a dict

    def load(self, group: int, entries: Entries, group_of: GroupCache | None = None) -> None:
        self.retire()
        self._drop()
        self._file.put(entries, group)

    def clean(self, entries: int) -> None:
        """Check some entries on disk, continuing where the last check ended, and remove expired ones."""
        expiry = self.expiry
        if expiry is None or expiry.query_after is None:
            return
        now = expiry.now()
        for number, (entry, value) in enumerate(self._file.take_turns(entries)):
            if number % expiry.query_after == 0:
                now = expiry.now()
            living = expiry.living(value, now)
            # An entry in memory is newer than the one that was read.
            if living is not value and self._known(entry) is UNKNOWN:
                self._set(entry, living)


class DiskTable(StoredTable):
    """Entries by entry key, on disk."""

    __slots__ = ()

    data: CachedEntries

    def __init__(self, name: str, kind: str, namespaced: bool, file: DiskFile) -> None:
        super().__init__(name, kind, namespaced, file, CachedEntries(file))

    @property
    def in_memory(self) -> int:
        return self.data.young

    def keys(self) -> Iterable[Any]:
        return iter(self.data)

    def _newest(self) -> Iterator[Any]:
        return reversed(dict.values(self.data))

    def _known(self, entry: Any) -> Any:
        return self.data.known(entry)

    def _set(self, entry: Any, value: Any) -> None:
        if value is None:
            del self.data[entry]
        else:
            self.data[entry] = value
        self.dirty.add(entry)

    def _drop(self) -> None:
        self.data.retire()
