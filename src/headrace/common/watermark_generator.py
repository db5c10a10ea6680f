"""WatermarkGenerator: the interface of watermark generators for ``WatermarkStrategy.for_generator``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

__all__ = ["MAX_WATERMARK", "MIN_TIMESTAMP", "Watermark", "WatermarkGenerator", "WatermarkOutput"]

MIN_TIMESTAMP = -(2**63)
"""The timestamp of an element that has none, and the watermark before the first one."""

MAX_WATERMARK = 2**63 - 1
"""The watermark that follows the last element of bounded input."""


@dataclass(frozen=True, slots=True, order=True)
class Watermark:
    """Declares that no element with a timestamp up to ``timestamp`` will follow.

    >>> Watermark(10) < Watermark(MAX_WATERMARK)
    True
    """

    timestamp: int


class WatermarkOutput(ABC):
    """Receives the watermarks of a generator.

    >>> class Collected(WatermarkOutput):
    ...     def __init__(self):
    ...         self.seen = []
    ...
    ...     def emit_watermark(self, watermark):
    ...         self.seen.append(watermark.timestamp)
    ...
    ...     def mark_idle(self):
    ...         self.seen.append("idle")
    ...
    ...     def mark_active(self):
    ...         self.seen.append("active")
    >>> output = Collected()
    >>> output.emit_watermark(Watermark(3))
    >>> output.seen
    [3]
    """

    @abstractmethod
    def emit_watermark(self, watermark: Watermark) -> None:
        """Emit a watermark and end idleness. A watermark below the last one has no effect."""

    @abstractmethod
    def mark_idle(self) -> None:
        """Mark the split idle, so that downstream operators do not wait for it."""

    @abstractmethod
    def mark_active(self) -> None:
        """Undo ``mark_idle``."""


class WatermarkGenerator(ABC):
    """Creates watermarks from the elements. Programs implement a subclass.

    It may emit in ``on_event`` (punctuated), in ``on_periodic_emit`` (periodic), or in both.

    >>> class Bounded(WatermarkGenerator):
    ...     def __init__(self):
    ...         self.highest = MIN_TIMESTAMP + 1001
    ...
    ...     def on_event(self, event, event_timestamp, output):
    ...         self.highest = max(self.highest, event_timestamp)
    ...
    ...     def on_periodic_emit(self, output):
    ...         output.emit_watermark(Watermark(self.highest - 1001))
    >>> Bounded().highest
    -9223372036854774807
    """

    @abstractmethod
    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        """Handle one element, and emit a watermark to ``output`` if needed."""

    @abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit the current watermark; called periodically, even without elements."""
