"""Settings of the windows of a stream: trigger, evictor, lateness, late data.

Decides which combinations are legal. Base of `WindowedStream`, `AllWindowedStream` and the window joins.
"""

from __future__ import annotations

from typing import Any, TypeVar

from headrace.common.output_tag import OutputTag
from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.datastream.window import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    Evictor,
    MergingWindowAssigner,
    Trigger,
    WindowAssigner,
)
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.time import millis_of

Self = TypeVar("Self", bound="WindowSettings")


def checked_assigner(given: Any, call: str) -> WindowAssigner[Any, Any]:
    """Check that the argument is an assigner and return it.

    >>> checked_assigner(10, "window()")
    Traceback (most recent call last):
    ...
    headrace.errors.TypeMismatchError: window() takes a window assigner [TYPE_MISMATCH]
      seen:     10 (int)
      expected: e.g. TumblingEventTimeWindows.of(Time.seconds(10))
    """
    if isinstance(given, WindowAssigner):
        return given
    remedy = None
    if isinstance(given, type) and issubclass(given, WindowAssigner):
        remedy = f"make one: {given.__name__}.of(...)"
    raise TypeMismatchError(
        f"{call} takes a window assigner",
        seen="None" if given is None else given,
        expected="e.g. TumblingEventTimeWindows.of(Time.seconds(10))",
        remedy=remedy,
    )


def count_windows(size: int, slide: int) -> WindowAssigner[Any, Any]:
    """Return the assigner of count windows; tumbling without a slide.

    >>> count_windows(4, 0), count_windows(4, 2)
    (CountTumblingWindowAssigner(4), CountSlidingWindowAssigner(4, 2))
    """
    for value, name in ((size, "size"), (slide, "slide")):
        if isinstance(value, bool) or not isinstance(value, int):
            raise TypeMismatchError(f"The {name} of a count window must be a number of elements", seen=value)
    return CountTumblingWindowAssigner(size) if slide == 0 else CountSlidingWindowAssigner(size, slide)


def needs_keys(call: str, otherwise: str | None, seen: object) -> InvalidProgramError:
    """Return the error for a call on a stream without keys.

    >>> print(needs_keys("window()", None, 5).remedy)
    call key_by(...) before it
    """
    remedy = "call key_by(...) before it" + (f", or use {otherwise}" if otherwise else "")
    return InvalidProgramError(f"{call} needs a keyed stream", seen=seen, remedy=remedy)


class WindowSettings(NoJvmObject):
    """The settings; each call changes this object and returns it, as in PyFlink."""

    def __init__(self, assigner: WindowAssigner[Any, Any]) -> None:
        self._window_assigner = assigner
        self._window_trigger: Trigger[Any, Any] | None = None
        self._window_evictor: Evictor[Any, Any] | None = None
        self._allowed_lateness = 0
        self._late_data_output_tag: OutputTag | None = None

    def trigger(self: Self, trigger: Any) -> Self:
        """Use ``trigger`` instead of the assigner's default.

        >>> from headrace.datastream.window import DeltaTrigger, EventTimeSessionWindows
        >>> WindowSettings(EventTimeSessionWindows(1000)).trigger(DeltaTrigger.of(1, lambda a, b: b - a))
        Traceback (most recent call last):
        ...
        headrace.errors.TypeMismatchError: A merging window assigner cannot be used with a trigger that does not ...
        """
        if not isinstance(trigger, Trigger):
            remedy = f"pass an object: {trigger.__name__}(...)" if isinstance(trigger, type) else None
            raise TypeMismatchError("trigger() takes a trigger", seen=trigger, expected="a Trigger", remedy=remedy)
        self._check_merging(trigger)
        self._window_trigger = trigger
        return self

    def evictor(self: Self, evictor: Any) -> Self:
        """Let ``evictor`` remove elements of a window before or after its function is called.

        All elements of a window are then stored, even for reduce and aggregate.
        """
        if not isinstance(evictor, Evictor):
            remedy = f"pass an object: {evictor.__name__}.of(...)" if isinstance(evictor, type) else None
            raise TypeMismatchError("evictor() takes an evictor", seen=evictor, expected="an Evictor", remedy=remedy)
        self._window_evictor = evictor
        return self

    def allowed_lateness(self: Self, time_ms: Any) -> Self:
        """Keep windows for ``time_ms`` milliseconds after their end; late elements fire them again."""
        if isinstance(time_ms, bool) or not isinstance(time_ms, int):
            time_ms = millis_of(time_ms, "allowed_lateness", at_least=None)
        if time_ms < 0:
            raise InvalidProgramError("The allowed lateness cannot be negative.", seen=time_ms)
        self._allowed_lateness = time_ms
        return self

    def side_output_late_data(self: Self, output_tag: OutputTag) -> Self:
        """Send elements that are too late to a side output of the result instead of dropping them."""
        if not isinstance(output_tag, OutputTag):
            raise TypeMismatchError("Side output tag must be an OutputTag", seen=output_tag, expected="an OutputTag")
        self._late_data_output_tag = output_tag
        return self

    def _final_trigger(self, env: Any) -> Trigger[Any, Any]:
        trigger = self._window_trigger
        if trigger is None:
            trigger = self._window_assigner.get_default_trigger(env)
            self._check_merging(trigger)
        return trigger

    def _late_tag(self) -> str | None:
        return None if self._late_data_output_tag is None else self._late_data_output_tag.tag_id

    def _check_merging(self, trigger: Trigger[Any, Any]) -> None:
        if isinstance(self._window_assigner, MergingWindowAssigner) and trigger.can_merge() is not True:
            raise TypeMismatchError(
                "A merging window assigner cannot be used with a trigger that does not support merging.",
                seen=f"{trigger!r} for {self._window_assigner!r}",
                remedy="use another trigger, or return True from can_merge() of your own and implement on_merge()",
            )
