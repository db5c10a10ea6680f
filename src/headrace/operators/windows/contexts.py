"""The contexts of triggers, assigners, evictors and process functions: one of each per operator, reused for each window.

State of a key and window is in the tables of the operator's keyed backend, with the window as namespace, so it is filed by
key group like any keyed state. A handle always means the key and window that are current when it is used.
"""

from __future__ import annotations

from typing import Any

from headrace.errors import StateError, TypeMismatchError
from headrace.operators.base import Operator
from headrace.operators.context import TaskRuntimeContext
from headrace.operators.windows.state_migration import TRIGGER_STATE, WINDOW_STATE
from headrace.state import descriptors
from headrace.state.descriptors import StateDescriptor
from headrace.state.interfaces import KeyedStateStore
from headrace.state.keyed_backend import KeyedBackend
from headrace.state.keyed_states import KeyHolder
from headrace.windows.assigner import WindowAssigner
from headrace.windows.evictors import Evictor
from headrace.windows.trigger import Trigger


class AssignerContext(WindowAssigner.WindowAssignerContext):
    """Time and runtime context for an assigner."""

    def __init__(self, operator: Operator) -> None:
        self._clock = operator.context.clock
        self._runtime = TaskRuntimeContext(operator.context)

    def get_current_processing_time(self) -> int:
        return self._clock.now()

    def get_runtime_context(self) -> Any:
        return self._runtime


class WindowTriggerContext(Trigger.OnMergeContext):
    """Timers and state of one key and window at a time."""

    def __init__(self, operator: Operator) -> None:
        context = operator.context
        self._operator = operator
        self._clock = context.clock
        self._event = context.event_timers
        self._processing = context.processing_timers
        self._store = WindowStateStore(context.keyed_state, TRIGGER_STATE)
        self.key: Any = None
        self.window: Any = None
        self.merged: list[Any] = []

    def at(self, key: Any, window: Any) -> WindowTriggerContext:
        """Move this context to a key and window, and return it."""
        self.key = key
        self.window = window
        self._store.at((key, window))
        return self

    def get_current_processing_time(self) -> int:
        return self._clock.now()

    def get_metric_group(self) -> Any:
        return _metric_group(self._operator)

    def get_current_watermark(self) -> int:
        return self._operator.watermark

    def register_processing_time_timer(self, time: int) -> None:
        self._processing.register(time, self.key, self.window)

    def register_event_time_timer(self, time: int) -> None:
        self._event.register(time, self.key, self.window)

    def delete_processing_time_timer(self, time: int) -> None:
        self._processing.delete(time, self.key, self.window)

    def delete_event_time_timer(self, time: int) -> None:
        self._event.delete(time, self.key, self.window)

    def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
        return self._store.state(state_descriptor)

    def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
        self._store.merge(state_descriptor, self.key, self.window, self.merged)


class FiringContext(Evictor.EvictorContext):
    """What a process function (and an evictor) can see of the current window."""

    def __init__(self, operator: Operator, merging: bool) -> None:
        self._operator = operator
        self._clock = operator.context.clock
        self._store = WindowStateStore(operator.context.keyed_state, WINDOW_STATE)
        self._window_state: Any = NoWindowState() if merging else self._store
        self._global_state = GlobalStateStore(operator.context.keyed_state)
        self._backend = operator.context.keyed_state
        self._window: Any = None
        self.uses_state = False
        """Whether the function uses window state: only then it must be moved from key to key."""

    def at(self, key: Any, window: Any) -> FiringContext:
        """Move this context to a window, and return it; the key is the backend's current one."""
        self._window = window
        if self.uses_state:
            self._store.at((key, window))
        return self

    def window(self) -> Any:
        return self._window

    def current_processing_time(self) -> int:
        return self._clock.now()

    def current_watermark(self) -> int:
        return self._operator.watermark

    def window_state(self) -> Any:
        self.uses_state = True
        self._store.at((self._backend.key, self._window))
        return self._window_state

    def global_state(self) -> Any:
        return self._global_state

    def get_current_processing_time(self) -> int:
        return self._clock.now()

    def get_current_watermark(self) -> int:
        return self._operator.watermark

    def get_metric_group(self) -> Any:
        return _metric_group(self._operator)


def _metric_group(operator: Operator) -> Any:
    return TaskRuntimeContext(operator.context).get_metrics_group()


class _Store(KeyedStateStore):
    """Makes one method of all five getters."""

    def state(self, descriptor: descriptors.StateDescriptor) -> Any:
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
