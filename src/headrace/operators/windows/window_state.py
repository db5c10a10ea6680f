"""State of a key and window: for triggers, and for process functions' `window_state()`.

The tables are those of the operator's keyed backend, with the window as namespace, so they are filed by key group like any
keyed state. A handle always means the key and window that are current when it is used.
"""

from __future__ import annotations

from typing import Any

from headrace.errors import StateError, TypeMismatchError
from headrace.state import descriptors
from headrace.state.interfaces import KeyedStateStore
from headrace.state.keyed_backend import KeyedBackend
from headrace.state.keyed_states import KeyHolder


class _Store(KeyedStateStore):
    """Makes one method of all five getters."""

    def state(self, descriptor: descriptors.StateDescriptor) -> Any:
        """Return the state that a descriptor describes."""
        raise NotImplementedError

    def get_state(self, state_descriptor: Any) -> Any:
        return self.state(state_descriptor)

    get_list_state = get_map_state = get_reducing_state = get_aggregating_state = get_state


class WindowStateStore(_Store):
    """State by key and window, under names with a prefix, so that those of triggers and functions do not clash.

    >>> from headrace.common.typeinfo import Types
    >>> from headrace.state.descriptors import ValueStateDescriptor
    >>> from headrace.state.heap import HeapKeyedBackend
    >>> store = WindowStateStore(HeapKeyedBackend(128, range(128)), "_trigger/")
    >>> store.at(("a", "window"))
    >>> count = store.get_state(ValueStateDescriptor("count", Types.LONG()))
    >>> count.update(1)
    >>> store.at(("a", "other window"))
    >>> count.value() is None
    True
    """

    def __init__(self, backend: KeyedBackend, prefix: str) -> None:
        self._backend = backend
        self._prefix = prefix
        self._holder = KeyHolder()
        self._states: dict[tuple[str, str], Any] = {}

    def at(self, entry_key: tuple[Any, Any]) -> None:
        """Move all states to this key and window."""
        self._holder.key = entry_key

    def state(self, descriptor: descriptors.StateDescriptor) -> Any:
        if not isinstance(descriptor, descriptors.StateDescriptor):
            raise TypeMismatchError("Not a state descriptor", seen=descriptor, expected="a StateDescriptor")
        of_kind = (descriptor.kind, descriptor.name)
        state = self._states.get(of_kind)
        if state is None:
            state = self._states[of_kind] = self._backend.state_at(self._holder, descriptor, self._prefix, True)
        return state

    def merge(self, descriptor: descriptors.StateDescriptor, key: Any, target: Any, sources: list[Any]) -> None:
        """Merge the state of the windows ``sources`` into that of ``target``."""
        merge = _merger(descriptor)
        table = self._backend.table(self._prefix + descriptor.name, namespaced=True, kind=descriptor.kind)
        data, dirty = table.data, table.dirty
        for source in sources:
            if (key, source) in data and source != target:
                value = data.pop((key, source))
                into = (key, target)
                data[into] = merge(data[into], value) if into in data else value
                dirty.update(((key, source), into))


def _merger(descriptor: descriptors.StateDescriptor) -> Any:
    if isinstance(descriptor, descriptors.ListStateDescriptor):
        return lambda a, b: a + b
    if isinstance(descriptor, descriptors.ReducingStateDescriptor):
        return descriptor.get_reduce_function().reduce
    if isinstance(descriptor, descriptors.AggregatingStateDescriptor):
        return descriptor.get_agg_function().merge
    raise StateError(
        "The given state descriptor does not refer to a mergeable state (MergingState)",
        seen=descriptor,
        expected="a ListStateDescriptor, ReducingStateDescriptor or AggregatingStateDescriptor",
    )


class GlobalStateStore(_Store):
    """State by key alone, shared by all windows of the key."""

    def __init__(self, backend: KeyedBackend) -> None:
        self._backend = backend

    def state(self, descriptor: descriptors.StateDescriptor) -> Any:
        return self._backend.get_state(descriptor)  # type: ignore[call-overload]


class NoWindowState(_Store):
    """Refuses all: a window that may be merged cannot have its own state."""

    def state(self, descriptor: descriptors.StateDescriptor) -> Any:
        raise StateError(
            "Per-window state is not allowed when using merging windows.",
            seen=descriptor,
            remedy="use global_state(), or windows that are not sessions",
        )
