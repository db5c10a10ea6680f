"""What a program needs to write its own watermark generator.

Decides the interface only. Never calls it: the operators package does, for strategies made by
``WatermarkStrategy.for_generator``.
"""

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
    """Say that no element with a timestamp up to ``timestamp`` is still to come.

    >>> Watermark(10) < Watermark(MAX_WATERMARK)
    True
    """

    timestamp: int


class WatermarkOutput(ABC):
    """Where a generator puts its watermarks.

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
        """Emit a watermark; one that is lower than the last has no effect. Ends idleness."""

    @abstractmethod
    def mark_idle(self) -> None:
        """Say that nothing is to be expected for a while: downstream need not wait for this split."""

    @abstractmethod
    def mark_active(self) -> None:
        """Take ``mark_idle`` back."""


class WatermarkGenerator(ABC):
    """Creates watermarks from the elements seen; a program writes a subclass.

    It may emit in ``on_event`` (punctuated) or in ``on_periodic_emit`` (periodic), or in both.

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
        """See one element; ``output`` may be used at once."""

    @abstractmethod
    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        """Emit what is known by now; called again and again, also when no element came."""
