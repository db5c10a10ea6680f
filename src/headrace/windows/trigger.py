"""Triggers: what says when a window fires. The base of the built-in ones and of those that programs write.

A trigger has no state of its own: one object serves all keys and windows. What it must remember stands in the state of its
context, which belongs to the key and window at hand.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any, Generic, TypeVar

from headrace.state.descriptors import StateDescriptor

__all__ = ["Trigger", "TriggerResult"]

T = TypeVar("T")
W = TypeVar("W")


class TriggerResult(Enum):
    """What a trigger decides: whether the window fires, and whether its contents are dropped.

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
    """Base of triggers.

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
        """Time, timers and state of the key and window that a trigger is asked about."""

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
            """Ask for a call of `Trigger.on_processing_time` at ``time``."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Ask for a call of `Trigger.on_event_time` when the watermark reaches ``time``."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None:
            """Take a processing-time timer back."""

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None:
            """Take an event-time timer back."""

        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
            """Return state of this key and window."""

    class OnMergeContext(TriggerContext):
        """What `Trigger.on_merge` gets: state of the merged windows can be merged too."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Bring the state of the windows that were merged into that of the new window."""

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
        """Return whether windows of this trigger can be merged; if so, `on_merge` must do its part."""
        return False

    @abstractmethod
    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        """Take over what several windows had into the new ``window``."""

    @abstractmethod
    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        """Clear state and timers of a window that is removed."""
