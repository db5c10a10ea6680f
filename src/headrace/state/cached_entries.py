"""The entries of a table on disk, as a dict that keeps the recently used ones in memory.

Decides what is in memory: an entry comes in when it is asked for and stays. Entries leave in two steps, like in a cache
with two generations: ``retire`` makes the young generation the old one and drops the former old one. So entries that
are used again and again stay, and a hit costs a dict lookup.

Values may be changed in place if the table's ``dirty`` is told before the next ``retire``, which only happens between
two runs of records. Used by ``disk_table``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from headrace.state.disk_file import DiskFile
from headrace.state.tombstone import TOMBSTONE

UNKNOWN: Final = object()
"""Memory does not know whether an entry exists: the disk does."""
_MISSING = object()


class CachedEntries(dict[Any, Any]):
    """A dict that holds the young generation itself, and answers for the old one and the disk too.

    Hits in the young generation are served by ``dict``: only misses come to the methods of this class.
    """

    __slots__ = ("_absent", "_file", "_old")

    def __init__(self, file: DiskFile) -> None:
        super().__init__()
        self._file = file
        self._old: dict[Any, Any] = {}
        self._absent: set[Any] = set()  # keys known not to exist, unless the young generation has them

    # -- like a dict -----------------------------------------------------------------------------------------------

    def __missing__(self, key: Any) -> Any:
        """Bring an entry into memory."""
        value = self._bring(key)
        if value is _MISSING:
            raise KeyError(key)
        return value

    def get(self, key: Any, default: Any = None) -> Any:
        value = dict.get(self, key, _MISSING)
        if value is _MISSING:
            value = self._bring(key)
            if value is _MISSING:
                return default
        return value

    def __contains__(self, key: Any) -> bool:
        return dict.__contains__(self, key) or self._bring(key) is not _MISSING

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        dict.__delitem__(self, key)
        self._absent.add(key)

    def pop(self, key: Any, *default: Any) -> Any:
        """Remove an entry and return its value."""
        value = self.get(key, _MISSING)
        if value is not _MISSING:
            del self[key]
            return value
        if default:
            return default[0]
        raise KeyError(key)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """Return a value, after setting it to ``default`` if there was none."""
        value = self.get(key, _MISSING)
        if value is _MISSING:
            self[key] = value = default
        return value

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self.items())

    def keys(self) -> Any:
        return iter(self)

    def values(self) -> Any:
        return (value for _, value in self.items())

    def items(self) -> Any:
        """Iterate over the entries as they are at the start; values that are only on disk stay there."""
        held = self.held()
        absent = frozenset(self._absent)
        yield from held.items()
        for _, entries in self._file.scan():
            for key, value in entries:
                if key not in held and key not in absent:
                    yield key, value

    def __len__(self) -> int:
        """Count the entries, one by one."""
        return sum(1 for _ in self.items())

    def __bool__(self) -> bool:
        return dict.__len__(self) > 0 or any(True for _ in self.items())

    def __eq__(self, other: object) -> bool:
        return dict(self.items()) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def clear(self) -> None:
        for key in list(self):
            del self[key]

    # -- for the table --------------------------------------------------------------------------------------------

    @property
    def young(self) -> int:
        """How many keys the young generation knows, including those that do not exist."""
        return dict.__len__(self) + len(self._absent)

    def held(self) -> dict[Any, Any]:
        held = {key: value for key, value in self._old.items() if key not in self._absent}
        held.update(dict.items(self))
        return held

    def known(self, key: Any) -> Any:
        """Return a value that is in memory, TOMBSTONE if it is known not to exist, or UNKNOWN."""
        value = dict.get(self, key, _MISSING)
        if value is not _MISSING:
            return value
        return TOMBSTONE if key in self._absent else self._old.get(key, UNKNOWN)

    def retire(self) -> None:
        """Drop the old generation; everything in memory must be on disk."""
        self._old = dict(dict.items(self))
        dict.clear(self)
        self._absent = set()

    def _bring(self, key: Any) -> Any:
        if key in self._absent:
            return _MISSING
        value = self._old.pop(key, _MISSING)
        if value is _MISSING:
            value = self._file.get(key, _MISSING)
            if value is _MISSING:
                self._absent.add(key)
                return _MISSING
        self[key] = value
        return value
