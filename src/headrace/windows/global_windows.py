"""The global window: all elements of a key together. Nothing fires it unless the program sets a trigger."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from headrace.types.serializer import TypeSerializer
from headrace.windows.assigner import WindowAssigner
from headrace.windows.time_triggers import EndOfStreamTrigger
from headrace.windows.trigger import Trigger
from headrace.windows.window_types import GlobalWindow, GlobalWindowSerializer
from headrace.windows.wrapping_triggers import NeverTrigger

_THE_ONE = GlobalWindow()


class GlobalWindows(WindowAssigner[Any, GlobalWindow]):
    """All elements of a key in one window.

    >>> GlobalWindows.create().assign_windows("a", 5, None)
    [GlobalWindow]
    """

    def __init__(self, trigger: Trigger[Any, GlobalWindow] | None = None) -> None:
        """Programs call `create` or `create_with_end_of_stream_trigger`."""
        self._trigger = trigger

    @staticmethod
    def create() -> GlobalWindows:
        """Make an assigner whose window never fires by itself."""
        return GlobalWindows()

    @staticmethod
    def create_with_end_of_stream_trigger() -> GlobalWindows:
        """Make an assigner whose window fires when the input ends.

        >>> type(GlobalWindows.create_with_end_of_stream_trigger().get_default_trigger(None)).__name__
        'EndOfStreamTrigger'
        """
        return GlobalWindows(EndOfStreamTrigger())

    def assign_windows(self, element: Any, timestamp: int, context: Any) -> Collection[GlobalWindow]:
        return [_THE_ONE]

    def get_default_trigger(self, env: Any) -> Trigger[Any, GlobalWindow]:
        """Never fire, or at the end of the input."""
        return NeverTrigger() if self._trigger is None else self._trigger

    def get_window_serializer(self) -> TypeSerializer[GlobalWindow]:
        return GlobalWindowSerializer()

    def is_event_time(self) -> bool:
        """Return False: elements are never late."""
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"
