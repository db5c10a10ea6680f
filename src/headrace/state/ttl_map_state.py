"""Map state with a time to live: each entry has its own age. `ttl_states` has the rules."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any

from headrace.state.descriptors import StateDescriptor
from headrace.state.interfaces import MapState
from headrace.state.keyed_states import KeyHolder
from headrace.state.table import MISSING, MapTable
from headrace.state.ttl_states import Timed, TtlState


class TtlMapState(TtlState, MapState[Any, Any]):
    """A map per key, each entry with its own age."""

    __slots__ = ("_map",)

    def __init__(self, holder: KeyHolder, table: MapTable, descriptor: StateDescriptor, now: Callable[[], int]) -> None:
        super().__init__(holder, table, descriptor, now)
        self._map = table

    def get(self, key: Any) -> Any:
        now, current = self._now(), self._holder.key
        self._sweep(now)
        return self._seen(current, key, self._map.lookup(current, key), now)

    def put(self, key: Any, value: Any) -> None:
        now = self._now()
        self._sweep(now)
        self._map.put(self._holder.key, key, (value, now))

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        now, current = self._now(), self._holder.key
        self._sweep(now)
        for key, value in dict(dict_value).items():
            self._map.put(current, key, (value, now))

    def remove(self, key: Any) -> None:
        self._sweep(self._now())
        self._map.remove(self._holder.key, key)

    def contains(self, key: Any) -> bool:
        now, current = self._now(), self._holder.key
        self._sweep(now)
        entry = self._map.lookup(current, key)
        if entry is MISSING:
            return False
        if self._expiry.expired(entry[1], now):
            self._map.remove(current, key)
            return self._see_expired
        return True

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries. Each counts as used when it is reached."""
        now, current = self._now(), self._holder.key
        self._sweep(now)
        return self._items(current, now)

    def keys(self) -> Iterator[Any]:
        return (key for key, _ in self.items())

    def values(self) -> Iterator[Any]:
        return (value for _, value in self.items())

    def is_empty(self) -> bool:
        now, current = self._now(), self._holder.key
        self._sweep(now)
        seen = self._items(current, now, touch=False)
        empty = next(seen, None) is None
        seen.close()
        return empty

    def clear(self) -> None:
        self._map.clear(self._holder.key)

    def _items(self, current: Any, now: int, touch: bool = True) -> Generator[tuple[Any, Any], None, None]:
        # Expired and used entries are changed afterwards, not during the iteration.
        expired: list[Any] = []
        used: list[tuple[Any, Any]] = []
        try:
            for key, (value, time) in self._map.entries(current):
                if self._expiry.expired(time, now):
                    expired.append(key)
                    if not self._see_expired:
                        continue
                elif self._on_read and touch and time != now:
                    used.append((key, value))
                yield key, value
        finally:
            for key in expired:
                self._map.remove(current, key)
            for key, value in used:
                entry = self._map.lookup(current, key)
                if entry is not MISSING and entry[0] is value:
                    self._map.put(current, key, (value, now))

    def _seen(self, current: Any, key: Any, entry: Any, now: int) -> Any:
        """Return the visible value of an entry. Reading it counts as a use."""
        if entry is MISSING:
            return None
        value, used = entry
        if self._expiry.expired(used, now):
            self._map.remove(current, key)
            return value if self._see_expired else None
        if self._on_read and used != now:
            self._map.put(current, key, (value, now))
        return value

    def _clean(self, key: Any, now: int) -> None:
        entries: list[tuple[Any, Timed]] = list(self._map.entries(key))
        for name, timed in entries:
            if self._expiry.expired(timed[1], now):
                self._map.remove(key, name)
