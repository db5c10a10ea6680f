"""The keyed state of groups: accumulators by key and the values of DISTINCT calls, both with an optional time to live."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headrace.operators.context import OperatorContext
from headrace.state.descriptors import MapStateDescriptor, ValueStateDescriptor
from headrace.state.ttl import StateTtlConfig
from headrace.types.time import Time

ACCUMULATORS = "accumulators"


class GroupState:
    """Accumulators of groups. `get` and `put` take the key; the keys of changed groups must be `put` again."""

    def __init__(self, context: OperatorContext, ttl: int, maps: int) -> None:
        backend = context.keyed_state
        self._backend = backend
        descriptor = ValueStateDescriptor(ACCUMULATORS, None)
        self.get: Callable[[Any], Any]
        self.put: Callable[[Any, Any], None]
        if ttl:
            descriptor.enable_time_to_live(_config(ttl))
            self._state = backend.get_state(descriptor)
            self.get, self.put = self._get, self._put
        else:
            self._table = backend.table(ACCUMULATORS, kind=ValueStateDescriptor.kind)
            self._data, self._dirty = self._table.data, self._table.dirty
            self.get, self.put = self._data.get, self._put_plain
        self._ttl = ttl
        self.seen = SeenInState(context, ttl, maps) if maps else None

    def remove(self, key: Any) -> None:
        """Remove a group."""
        if self._ttl:
            self._backend.key = key
            self._state.clear()
        elif key in self._data:
            del self._data[key]
            self._dirty.add(key)
        if self.seen is not None:
            self._backend.key = key
            self.seen.clear()

    def entries(self) -> list[tuple[Any, Any]]:
        """Return all groups; without a time to live only."""
        return list(self._data.items())

    def _get(self, key: Any) -> Any:
        self._backend.key = key
        return self._state.value()

    def _put(self, key: Any, entry: Any) -> None:
        self._backend.key = key
        self._state.update(entry)

    def _put_plain(self, key: Any, entry: Any) -> None:
        self._data[key] = entry
        self._dirty.add(key)


class SeenInState:
    """The maps of DISTINCT calls as map states: a change costs the same for a group of any size."""

    def __init__(self, context: OperatorContext, ttl: int, maps: int) -> None:
        self._states = []
        for place in range(maps):
            descriptor = MapStateDescriptor(f"distinct/{place}", None, None)
            if ttl:
                descriptor.enable_time_to_live(_config(ttl))
            self._states.append(context.keyed_state.get_state(descriptor))

    def added(self, place: int, value: tuple[Any, ...]) -> bool:
        """Add a value for the current key. Return whether it is new."""
        state = self._states[place]
        count = state.get(value)
        state.put(value, 1 if count is None else count + 1)
        return count is None

    def removed(self, place: int, value: tuple[Any, ...]) -> bool:
        """Remove a value once. Return whether it was the last."""
        state = self._states[place]
        count = state.get(value)
        if count is None:
            return False
        if count > 1:
            state.put(value, count - 1)
            return False
        state.remove(value)
        return True

    def clear(self) -> None:
        """Remove all values of the current key."""
        for state in self._states:
            state.clear()


def _config(ttl: int) -> StateTtlConfig:
    return StateTtlConfig.new_builder(Time.milliseconds(ttl)).build()
