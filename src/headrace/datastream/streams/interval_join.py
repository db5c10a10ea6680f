"""Interval joins of two keyed streams: `a.interval_join(b).between(lower, upper).process(function)`."""

from __future__ import annotations

from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.datastream.streams.data_stream import DataStream
from headrace.datastream.streams.keyed_stream import KeyedStream
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions import ProcessJoinFunction
from headrace.functions.checks import check_function
from headrace.graph import specs
from headrace.types.declared_types import declared_type
from headrace.types.time import millis_of
from headrace.types.typeinfo import TypeInformation

__all__ = ["IntervalJoin", "IntervalJoined"]


class IntervalJoin:
    """An interval join without bounds.

    >>> from headrace.common import Time
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> keyed = env.from_collection([1]).key_by(lambda number: number)
    >>> type(keyed.interval_join(keyed).between(Time.seconds(-1), Time.seconds(1))).__name__
    'IntervalJoined'
    """

    def __init__(self, left: KeyedStream, right: Any) -> None:
        """Programs call `KeyedStream.interval_join`."""
        if not isinstance(right, KeyedStream):
            raise TypeMismatchError(
                "interval_join takes a keyed stream",
                seen=right,
                expected="a KeyedStream",
                remedy="call key_by(...) on the other stream first" if isinstance(right, DataStream) else None,
            )
        self._left = left
        self._right = right

    def in_event_time(self) -> IntervalJoin:
        """Join by event time, which is the default."""
        return self

    def in_processing_time(self) -> IntervalJoin:
        """Raise an error, like Flink."""
        raise InvalidProgramError("Time-bounded stream joins are only supported in event time")

    def between(self, lower_bound: Any, upper_bound: Any) -> IntervalJoined:
        """Set how much later than the left element the right one may be: from ``lower_bound`` to ``upper_bound``."""
        lower, upper = _millis(lower_bound, "lower_bound"), _millis(upper_bound, "upper_bound")
        return IntervalJoined(self._left, self._right, lower, upper)


class IntervalJoined:
    """An interval join with bounds, without a function.

    >>> from headrace.common import Time
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> keyed = env.from_collection([1]).key_by(lambda number: number)
    >>> keyed.interval_join(keyed).between(Time.seconds(2), Time.seconds(1))
    Traceback (most recent call last):
    ...
    headrace.errors.InvalidProgramError: The lower bound of an interval join is above its upper bound ...
    """

    def __init__(self, left: KeyedStream, right: KeyedStream, lower: int, upper: int) -> None:
        """Programs call `between`."""
        if lower > upper:
            raise InvalidProgramError(
                "The lower bound of an interval join is above its upper bound",
                seen=f"between({lower} ms, {upper} ms)",
                expected="lower_bound <= upper_bound",
                remedy="swap them; use negative bounds to look back in time",
            )
        self._left = left
        self._right = right
        self._lower = lower
        self._upper = upper
        self._exclusive = (0, 0)
        self._left_late: str | None = None
        self._right_late: str | None = None

    def lower_bound_exclusive(self) -> IntervalJoined:
        """Exclude pairs exactly at the lower bound."""
        self._exclusive = (1, self._exclusive[1])
        return self

    def upper_bound_exclusive(self) -> IntervalJoined:
        """Exclude pairs exactly at the upper bound."""
        self._exclusive = (self._exclusive[0], 1)
        return self

    def side_output_left_late_data(self, output_tag: OutputTag) -> IntervalJoined:
        """Send late left elements to a side output."""
        self._left_late = _tag(output_tag)
        return self

    def side_output_right_late_data(self, output_tag: OutputTag) -> IntervalJoined:
        """Send late right elements to a side output."""
        self._right_late = _tag(output_tag)
        return self

    def process(self, process_join_function: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Call ``process_join_function.process_element(left, right, ctx)`` with every pair."""
        message = "process() of an interval join takes a ProcessJoinFunction"
        check_function(process_join_function, (ProcessJoinFunction,), ("process_element",), message)
        lower, upper = self._lower + self._exclusive[0], self._upper - self._exclusive[1]
        if lower > upper:
            raise InvalidProgramError(
                "The interval between the bounds of the interval join is empty",
                seen=f"{lower} to {upper} ms after bounds were made exclusive",
            )
        spec = specs.IntervalJoin(process_join_function, lower, upper, self._left_late, self._right_late)
        return self._left.two_input_operator(self._right, spec, "Interval Join", declared_type(output_type))


def _millis(bound: Any, what: str) -> int:
    if isinstance(bound, int) and not isinstance(bound, bool):
        return bound
    return millis_of(bound, what, at_least=None)


def _tag(given: Any) -> str:
    if not isinstance(given, OutputTag):
        raise TypeMismatchError("Side output tag must be an OutputTag", seen=given, expected="an OutputTag")
    return given.tag_id
