"""Triggers decide when a window fires: base classes of the built-in ones and of programs' own.

A trigger object has no state: one object serves all keys and windows. It keeps its state through its context, which
belongs to the current key and window.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, Generic, TypeVar

from headrace.state.descriptors import StateDescriptor

T = TypeVar("T")
W = TypeVar("W")


class TriggerResult(Enum):
    """A trigger's decision: whether the window fires, and whether its contents are dropped.

    >>> TriggerResult.FIRE_AND_PURGE.is_fire(), TriggerResult.FIRE.is_purge()
    (True, False)
    """

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def is_fire(self) -> bool:
        """Return whether the window function is called."""
        return self.value[0]

    def is_purge(self) -> bool:
        """Return whether the elements are dropped."""
        return self.value[1]


class Trigger(ABC, Generic[T, W]):
    """Base class of triggers.

    >>> class EveryElement(Trigger):
    ...     def on_element(self, element, timestamp, window, ctx):
    ...         return TriggerResult.FIRE
    ...
    ...     def on_processing_time(self, time, window, ctx):
    ...         return TriggerResult.CONTINUE
    ...
    ...     def on_event_time(self, time, window, ctx):
    ...         return TriggerResult.CONTINUE
    ...
    ...     def on_merge(self, window, ctx):
    ...         pass
    ...
    ...     def clear(self, window, ctx):
    ...         pass
    >>> EveryElement().can_merge()
    False
    """

    class TriggerContext(ABC):
        """Time, timers and state of the trigger's current key and window."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the processing time in milliseconds."""

        @abstractmethod
        def get_metric_group(self) -> Any:
            """Return the metric group of the operator."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """Return the current watermark."""

        @abstractmethod
        def register_processing_time_timer(self, time: int) -> None:
            """Register a call of `Trigger.on_processing_time` at ``time``."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Register a call of `Trigger.on_event_time` when the watermark reaches ``time``."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None:
            """Delete a processing-time timer."""

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None:
            """Delete an event-time timer."""

        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
            """Return state of this key and window."""

    class OnMergeContext(TriggerContext):
        """The context of `Trigger.on_merge`: it can also merge the state of the merged windows."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Merge the state of the merged windows into that of the new window."""

    @abstractmethod
    def on_element(self, element: T, timestamp: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide after an element was added to the window."""

    @abstractmethod
    def on_processing_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide when a processing-time timer of the window is due."""

    @abstractmethod
    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Decide when an event-time timer of the window is due."""

    def can_merge(self) -> bool:
        """Return whether windows of this trigger can be merged; if so, `on_merge` must handle it."""
        return False

    @abstractmethod
    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        """Merge the timers and state of several windows into the new ``window``."""

    @abstractmethod
    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        """Clear state and timers of a window that is removed."""


class QuietTrigger(Trigger[T, W]):
    """Base class of the built-in triggers: continues whatever happens, and has nothing to merge or to clear."""

    def on_element(self, element: T, timestamp: int, window: W, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: W, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: W, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_merge(self, window: W, ctx: Any) -> None:
        pass

    def clear(self, window: W, ctx: Any) -> None:
        pass
