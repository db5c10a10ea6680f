"""The context of pattern functions: the time of the match, the clock, and side outputs."""

from __future__ import annotations

from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.errors import TypeMismatchError
from headrace.operators.clock import Clock


class MatchContext:
    """The `ctx` of `process_match` and `process_timed_out_match`."""

    __slots__ = ("_clock", "sides", "time")

    def __init__(self, clock: Clock) -> None:
        self.time = 0
        self.sides: dict[str, tuple[list[Any], list[int | None]]] = {}
        self._clock = clock

    def timestamp(self) -> int:
        """Return the time of the event that completed the match; of a timed-out match, when its window ended."""
        return self.time

    def current_processing_time(self) -> int:
        """Return the clock, in milliseconds."""
        return self._clock.now()

    def output(self, output_tag: OutputTag, value: Any) -> None:
        """Emit to a side output."""
        if not isinstance(output_tag, OutputTag):
            raise TypeMismatchError("ctx.output takes an OutputTag and a value", seen=output_tag)
        values, times = self.sides.setdefault(output_tag.tag_id, ([], []))
        values.append(value)
        times.append(self.time)
