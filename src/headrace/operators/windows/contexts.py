"""The contexts of triggers, assigners, evictors and process functions: one of each per operator, reused for each window."""

from __future__ import annotations

from typing import Any

from headrace.operators.base import Operator
from headrace.operators.runtime_context import TaskRuntimeContext
from headrace.operators.windows.state_migration import TRIGGER_STATE, WINDOW_STATE
from headrace.operators.windows.window_state import GlobalStateStore, NoWindowState, WindowStateStore
from headrace.state.descriptors import StateDescriptor
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
        """Return the window."""
        return self._window

    def current_processing_time(self) -> int:
        """Return the clock, in milliseconds."""
        return self._clock.now()

    def current_watermark(self) -> int:
        """Return the operator's event time."""
        return self._operator.watermark

    def window_state(self) -> Any:
        """Return state of the key and window."""
        self.uses_state = True
        self._store.at((self._backend.key, self._window))
        return self._window_state

    def global_state(self) -> Any:
        """Return state of the key."""
        return self._global_state

    def get_current_processing_time(self) -> int:
        return self._clock.now()

    def get_current_watermark(self) -> int:
        return self._operator.watermark

    def get_metric_group(self) -> Any:
        return _metric_group(self._operator)


def _metric_group(operator: Operator) -> Any:
    return TaskRuntimeContext(operator.context).get_metrics_group()
