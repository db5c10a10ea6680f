"""The entries of one state in the disk store: ``state number, key group, entry key -> value``.

Decides where an entry is, so that the entries of a key group are neighbours and a snapshot can be read group by group.
A value is stored as one byte for the form, then a pickle. The entry key is stored with it if it cannot be read from its
bytes (``entry_codec``). Never keeps values in memory. Used by the tables of the disk backend, which read only what this
process has written.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from headrace.errors import StateError, shortened
from headrace.state.disk_store import DiskStore
from headrace.state.entry_codec import decode_key, encode_key
from headrace.state.safe_pickle import BY_VALUE, PLAIN, dump
from headrace.state.tombstone import TOMBSTONE, Entries
from headrace.state.ttl import Expiry

_PREFIX = struct.Struct(">HH")
_STATE = struct.Struct(">H")
_KEY_BYTES = 30
_VALUE = b"v"
_LISTED = b"l"
_FIRST_VALUE = _VALUE[0]


class DiskFile:
    """The entries of one state; ``group_of`` returns the key group of an entry key."""

    __slots__ = ("_cursor", "_group_of", "_number", "_store", "average")

    def __init__(self, store: DiskStore, number: int, group_of: Callable[[Any], int]) -> None:
        self._store = store
        self._number = number
        self._group_of = group_of
        self._cursor: bytes | None = None
        self.average = 100.0
        """About how many bytes an entry has."""

    def get(self, key: Any, missing: Any) -> Any:
        """Return the value of an entry."""
        if not self._store.is_open:
            hash(key)  # like a dict: an unhashable key must raise
            return missing
        data = self._store.get(_PREFIX.pack(self._number, self._group_of(key)) + encode_key(key)[0])
        return missing if data is None else _unpack(data, key, missing)

    def put(self, entries: Entries, group: int | None = None) -> None:
        """Write entries; TOMBSTONE removes one. ``group`` is their key group, if all have the same."""
        puts: dict[bytes, bytes] = {}
        deletes: list[bytes] = []
        shared: dict[bytes, list[tuple[Any, Any]]] = {}
        for key, value in entries:
            where = _PREFIX.pack(self._number, self._group_of(key) if group is None else group)
            data, faithful, hashed = encode_key(key)
            where += data
            if hashed:
                present = shared.get(where)
                if present is None:
                    stored = self._store.get(where)
                    present = [] if stored is None else _unpack_listed(stored) or []
                shared[where] = [entry for entry in present if entry[0] != key]
                if value is not TOMBSTONE:
                    shared[where].append((key, value))
            elif value is TOMBSTONE:
                deletes.append(where)
            else:
                puts[where] = _pack_value(value) if faithful else _pack_listed([(key, value)])
        for where, listed in shared.items():
            if listed:
                puts[where] = _pack_listed(listed)
            else:
                deletes.append(where)
        if puts or (deletes and self._store.is_open):
            self._store.write(puts.items(), deletes)
        if puts:
            size = sum(map(len, puts)) + sum(map(len, puts.values()))
            self.average += (size / len(puts) - self.average) / 4

    def weigh(self, values: Iterable[Any]) -> None:
        """Learn from some values how large entries are, before any was written."""
        sizes = [len(_pack_value(value)) + _KEY_BYTES for value in values]
        if sizes:
            self.average += (sum(sizes) / len(sizes) - self.average) / 2

    def scan(
        self, group: int | None = None, start: bytes | None = None
    ) -> Iterator[tuple[bytes, list[tuple[Any, Any]]]]:
        """Return the entries as they are now, of one key group or all, in the order of their bytes."""
        prefix = _STATE.pack(self._number) if group is None else _PREFIX.pack(self._number, group)
        yield from map(_entries_at, self._store.scan(prefix, start))

    def scan_owner(self, owner: Any, group: int) -> Iterator[tuple[bytes, list[tuple[Any, Any]]]]:
        """Return the entries ``((owner, map key), value)`` of one owner, with the bytes of their map keys."""
        pair = encode_key((owner, None))[0][:-1]
        prefix = _PREFIX.pack(self._number, group) + pair
        for where, data in self._store.scan(prefix):
            found = _entries_at((where, data))[1]
            yield where[len(prefix) :], [entry for entry in found if entry[0][0] == owner]

    def groups(self) -> Iterator[int]:
        """Return the key groups that have entries."""
        state = _STATE.pack(self._number)
        start = state
        while True:
            where = next((where for where, _ in self._store.scan(state, start)), None)
            if where is None:
                return
            group = _PREFIX.unpack_from(where)[1]
            yield group
            if group + 1 > 0xFFFF:
                return
            start = _PREFIX.pack(self._number, group + 1)

    def by_group(self, expiry: Expiry | None) -> DiskSnapshot:
        """Return all entries by key group, read on iteration; without expired ones if the state is configured so."""
        return DiskSnapshot(self, expiry if expiry is not None and expiry.in_full_snapshot else None)

    def take_turns(self, count: int) -> Iterator[tuple[Any, Any]]:
        """Return the next ``count`` entries or so, starting over after the last one."""
        seen = 0
        last: bytes | None = None
        for where, entries in self.scan(start=self._cursor):
            if seen >= count:
                last = where
                break
            seen += len(entries)
            yield from entries
        self._cursor = last


class DiskSnapshot(Mapping[int, Iterable[tuple[Any, Any]]]):
    """Key group -> entries, each group read from disk when it is asked for."""

    def __init__(self, file: DiskFile, expiry: Expiry | None) -> None:
        self._file = file
        self._expiry = expiry
        self._groups = list(file.groups())

    def __getitem__(self, group: int) -> Iterator[tuple[Any, Any]]:
        """Return the entries of a key group, which are read one after the other."""
        expiry = self._expiry
        for _, entries in self._file.scan(group):
            if expiry is None:
                yield from entries
            else:
                now = expiry.now()
                for key, value in entries:
                    living = expiry.living(value, now)
                    if living is not None:
                        yield key, living

    def __iter__(self) -> Iterator[int]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)


def _entries_at(item: tuple[bytes, bytes]) -> tuple[bytes, list[tuple[Any, Any]]]:
    where, data = item
    listed = _unpack_listed(data)
    if listed is not None:
        return where, listed
    key = decode_key(where[_PREFIX.size :])
    return where, [(key, _unpack(data, key, None))]


def _pack_value(value: Any) -> bytes:
    """Return the bytes of a value whose key can be read from the bytes it is stored under."""
    return _VALUE + _pickled(value)


def _pack_listed(entries: list[tuple[Any, Any]]) -> bytes:
    """Return the bytes of ``(entry key, value)`` pairs that are stored under the same bytes."""
    return _LISTED + _pickled(entries)


def _unpack_listed(data: bytes) -> list[tuple[Any, Any]] | None:
    """Return the pairs; None if it is a single value."""
    return None if data[0] == _FIRST_VALUE else pickle.loads(memoryview(data)[1:])  # noqa: S301 - written by this process


def _unpack(data: bytes, entry_key: Any, missing: Any) -> Any:
    """Return the value of an entry, ``missing`` if it is not among those stored here.

    >>> _unpack(_pack_value([1]), "a", None), _unpack(_pack_listed([(1.5, "x")]), 1.5, None)
    ([1], 'x')
    """
    if data[0] == _FIRST_VALUE:
        return pickle.loads(memoryview(data)[1:])  # noqa: S301 - written by this process
    for key, value in pickle.loads(memoryview(data)[1:]):  # noqa: S301 - written by this process
        if key == entry_key:
            return value
    return missing


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value, protocol=5)
    except Exception:
        try:
            codec, data = dump(value)
        except Exception as error:
            raise StateError(
                f"A value cannot be kept on disk: {type(error).__name__}: {error}",
                seen=shortened(value),
                remedy="keep only picklable values in state: no locks, connections, generators or open files",
            ) from error
        assert codec in (PLAIN, BY_VALUE)  # pickle loads both
        return data
