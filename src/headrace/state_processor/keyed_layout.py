"""Convert between the stored entries of keyed state and the rows that users see.

Rows have lists for list states and dicts for map states, and no timestamps of a time to live. Decides both directions for
all kinds of state. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.operators.windows.state_migration import is_per_window
from headrace.state import descriptors
from headrace.state.opaque_key import unwrap_key
from headrace.state.ttl_states import ttl_kind

TABLE = "table"
"""The kind of state that operators keep themselves, such as the running value of `reduce`."""
_DESCRIBED = (
    descriptors.ValueStateDescriptor.kind,
    descriptors.ListStateDescriptor.kind,
    descriptors.MapStateDescriptor.kind,
    descriptors.ReducingStateDescriptor.kind,
    descriptors.AggregatingStateDescriptor.kind,
)
_TIMED = tuple(map(ttl_kind, _DESCRIBED))
_LISTS = (descriptors.ListStateDescriptor.kind, ttl_kind(descriptors.ListStateDescriptor.kind))
_MAPS = (descriptors.MapStateDescriptor.kind, ttl_kind(descriptors.MapStateDescriptor.kind))
KINDS = (*_DESCRIBED, *_TIMED, TABLE)

Entries = Iterable[tuple[Any, Any]]
Row = tuple[Any, ...]


@dataclass(frozen=True)
class KeyedLayout:
    """How the entries of one state are stored.

    >>> layout = KeyedLayout("MapState")
    >>> list(layout.rows([(("a", "x"), 1), (("b", "y"), 2), (("a", "z"), 3)]))
    [('a', {'x': 1, 'z': 3}), ('b', {'y': 2})]
    >>> list(layout.filed("a", {"x": 1}, lambda _: 0))
    [(('a', 'x'), 1)]
    """

    kind: str
    per_window: bool = False

    @property
    def is_timed(self) -> bool:
        """Return whether values are stored with the time of their last use."""
        return self.kind in _TIMED

    @property
    def is_list(self) -> bool:
        """Return whether a value is a list of elements."""
        return self.kind in _LISTS

    @property
    def is_map(self) -> bool:
        """Return whether the state is stored by map entry."""
        return self.kind in _MAPS

    def rows(self, entries: Entries) -> Iterator[Row]:
        """Yield (key, value) of all entries of a key group; (key, window, value) for state of windows."""
        for owner, value in self._by_owner(entries):
            yield (*self._shown(owner), self._without_times(value))

    def changed(self, entries: Entries, function: Callable[..., Any]) -> Iterator[tuple[Any, Any]]:
        """Yield the entries to store after `function(*row)` has replaced each value; None drops it.

        With a time to live, the entries of a map keep their times of last use, and all other values keep the latest one.
        """
        for owner, value in self._by_owner(entries):
            after = function(*self._shown(owner), self._without_times(value))
            yield from self.filed(owner, after, self._times(value))

    def _by_owner(self, entries: Entries) -> Entries:
        if not self.is_map:
            return entries
        maps: dict[Any, dict[Any, Any]] = {}
        for (owner, key), value in entries:
            maps.setdefault(owner, {})[key] = value
        return maps.items()

    def _shown(self, owner: Any) -> Row:
        return (unwrap_key(owner[0]), owner[1]) if self.per_window else (unwrap_key(owner),)

    def _without_times(self, value: Any) -> Any:
        if not self.is_timed:
            return list(value) if self.is_list else value
        if self.is_list:
            return [element for element, _ in value]
        return {key: element for key, (element, _) in value.items()} if self.is_map else value[0]

    def _times(self, value: Any) -> Callable[[Any], int]:
        if not self.is_timed:
            return lambda _: 0
        if self.is_map:
            latest = max(used for _, used in value.values())
            return lambda key: value[key][1] if key in value else latest
        latest = max(used for _, used in value) if self.is_list else value[1]
        return lambda _: latest

    def filed(self, owner: Any, value: Any, used: Callable[[Any], int]) -> Iterator[tuple[Any, Any]]:
        """Yield the entries of a (hashable) key's value; `used(map key)` returns times of last use. Empty values have none."""
        if value is None:
            return
        if self.is_map:
            if not isinstance(value, Mapping):
                raise TypeMismatchError("The value of a map state must be a mapping", seen=value)
            for key, element in value.items():
                yield (owner, key), (element, used(key)) if self.is_timed else element
        elif self.is_list:
            if isinstance(value, str | bytes) or not isinstance(value, Iterable):
                raise TypeMismatchError("The value of a list state must be a list of elements", seen=value)
            elements = [(element, used(None)) for element in value] if self.is_timed else list(value)
            if elements:
                yield owner, elements
        else:
            yield owner, (value, used(None)) if self.is_timed else value


def layout_of(kind: str | descriptors.StateDescriptor, name: str) -> KeyedLayout:
    """Return the layout of a state, given its descriptor or the name of its kind.

    >>> from headrace.common.typeinfo import Types
    >>> layout_of(descriptors.ValueStateDescriptor("count", Types.LONG()), "count").kind
    'ValueState'
    """
    if isinstance(kind, descriptors.StateDescriptor):
        if kind.name != name:
            raise TypeMismatchError("The descriptor belongs to another state", seen=kind.name, expected=repr(name))
        timed = kind.ttl_config is not None and kind.ttl_config.is_enabled()
        kind = ttl_kind(kind.kind) if timed else kind.kind
    if kind not in KINDS:
        raise TypeMismatchError(
            "Unknown kind of keyed state", seen=kind, expected="a state descriptor, or one of " + ", ".join(KINDS)
        )
    return KeyedLayout(kind, is_per_window(name))
