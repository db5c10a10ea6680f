"""Window assigners decide to which windows an element belongs: base classes of the built-in ones and of programs' own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import Any, Generic, TypeVar

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.serializer import TypeSerializer
from headrace.windows.time_triggers import EventTimeTrigger, ProcessingTimeTrigger
from headrace.windows.trigger import Trigger
from headrace.windows.window_types import TimeWindow, TimeWindowSerializer

T = TypeVar("T")
W = TypeVar("W")
W2 = TypeVar("W2")


class WindowAssigner(ABC, Generic[T, W]):
    """Base class of assigners.

    >>> sorted(WindowAssigner.__abstractmethods__)
    ['assign_windows', 'get_default_trigger', 'get_window_serializer', 'is_event_time']
    """

    class WindowAssignerContext(ABC):
        """What an assigner can see besides the element."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """Return the processing time in milliseconds."""

        @abstractmethod
        def get_runtime_context(self) -> Any:
            """Return the runtime context of the operator; its state belongs to the key of the element."""

    @abstractmethod
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[W]:
        """Return the windows of an element."""

    @abstractmethod
    def get_default_trigger(self, env: Any) -> Trigger[T, W]:
        """Return the trigger to use if the program sets none."""

    @abstractmethod
    def get_window_serializer(self) -> TypeSerializer[W]:
        """Return a serializer of the windows."""

    @abstractmethod
    def is_event_time(self) -> bool:
        """Return whether the windows are of event time: then elements can be late."""


class TimeAssigner(WindowAssigner[Any, TimeWindow]):
    """Base class of the built-in assigners of time windows: event time or the clock, by ``_event_time``."""

    _event_time: bool

    def get_default_trigger(self, env: Any) -> Trigger[Any, TimeWindow]:
        return EventTimeTrigger() if self._event_time else ProcessingTimeTrigger()

    def get_window_serializer(self) -> TypeSerializer[TimeWindow]:
        return TimeWindowSerializer()

    def is_event_time(self) -> bool:
        return self._event_time

    def _time_of(self, element: Any, timestamp: int | None, context: WindowAssigner.WindowAssignerContext) -> int:
        return event_timestamp(element, timestamp) if self._event_time else context.get_current_processing_time()


class MergingWindowAssigner(WindowAssigner[T, W]):
    """Base class of assigners whose windows may be merged, like sessions.

    >>> "merge_windows" in MergingWindowAssigner.__abstractmethods__
    True
    """

    class MergeCallback(ABC, Generic[W2]):
        """Receives the merges that `merge_windows` finds."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W2], merge_result: W2) -> None:
            """Note that the windows ``to_be_merged`` become ``merge_result``."""

    @abstractmethod
    def merge_windows(self, windows: Iterable[W], callback: MergingWindowAssigner.MergeCallback[W]) -> None:
        """Tell ``callback`` which windows to merge."""


class SessionWindowTimeGapExtractor(ABC):
    """Computes the gap of the session that an element opens.

    >>> class PerUser(SessionWindowTimeGapExtractor):
    ...     def extract(self, element):
    ...         return element["gap"]
    >>> PerUser().extract({"gap": 100})
    100
    """

    @abstractmethod
    def extract(self, element: Any) -> int:
        """Return the gap in milliseconds."""


def milliseconds(given: Any, what: str) -> int:
    """Convert a Time, a Duration or a number of milliseconds to milliseconds.

    >>> from headrace.common import Duration, Time
    >>> milliseconds(Time.seconds(1), "size"), milliseconds(Duration.of_millis(5), "size"), milliseconds(7, "size")
    (1000, 5, 7)
    """
    if isinstance(given, int) and not isinstance(given, bool):
        return given
    for name in ("to_milliseconds", "to_millis"):
        method = getattr(given, name, None)
        if callable(method):
            return int(method())
    raise TypeMismatchError(
        f"The {what} of a window is a Time or a Duration",
        seen="None" if given is None else given,
        expected="e.g. Time.seconds(10)",
    )


def check_parameters(assigner: object, valid: bool, rule: str, seen: str) -> None:
    """Refuse parameters that break ``rule``, in Flink's words."""
    if not valid:
        name = assigner if isinstance(assigner, str) else type(assigner).__name__
        raise InvalidProgramError(f"{name} parameters must satisfy {rule}", seen=seen)


def missing_timestamp(element: Any) -> InvalidProgramError:
    """Return the error for an element without a timestamp."""
    return InvalidProgramError(
        "Record has Long.MIN_VALUE timestamp (= no timestamp marker). Is the time characteristic set to "
        "'ProcessingTime', or did you forget to call 'data_stream.assign_timestamps_and_watermarks(...)'?",
        seen=f"a record without a timestamp: {element!r:.200}",
        remedy="call assign_timestamps_and_watermarks(...) before the window, with a timestamp assigner; "
        "or use windows of processing time",
    )


def event_timestamp(element: Any, timestamp: int | None) -> int:
    """Return the timestamp. Raise an error if there is none."""
    if timestamp is None or timestamp <= MIN_TIMESTAMP:
        raise missing_timestamp(element)
    return timestamp
