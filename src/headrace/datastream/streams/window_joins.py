"""Window joins: `a.join(b).where(...).equal_to(...).window(...).apply(...)`, and the same with `co_group`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.datastream.streams.data_stream import DataStream
from headrace.datastream.streams.keyed_stream import KeyedStream
from headrace.datastream.streams.window_settings import WindowSettings, checked_assigner
from headrace.errors import TypeMismatchError
from headrace.functions import CoGroupFunction, FlatJoinFunction, JoinFunction
from headrace.functions.checks import check_or_callable
from headrace.graph.specs import WindowCoGroup
from headrace.types.declared_types import declared_type
from headrace.types.typeinfo import TypeInformation

__all__ = ["CoGroupedStreams", "JoinedStreams"]


class _Pair:
    """Two streams to join, without keys and windows."""

    _name = ""

    def __init__(self, first: DataStream, second: DataStream) -> None:
        """Programs call `DataStream.join` or `DataStream.co_group`."""
        self._first = first.before_keys()
        self._second = second.before_keys()

    def where(self, key_selector: Any, key_type: TypeInformation | None = None) -> _Where:
        """Set the key of the first stream."""
        return _Where(self._name, self._first.key_by(key_selector, key_type), self._second)


class JoinedStreams(_Pair):
    """Two streams that are joined pair by pair.

    >>> from headrace.common import Time
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> from headrace.datastream.window import TumblingEventTimeWindows
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> both = JoinedStreams(env.from_collection([1]), env.from_collection([2]))
    >>> windowed = both.where(abs).equal_to(abs).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    >>> windowed.apply(lambda left, right: left + right).get_name()
    'Join'
    """

    _name = "Join"


class CoGroupedStreams(_Pair):
    """Two streams that are joined group by group.

    >>> from headrace.common import Time
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> from headrace.datastream.window import TumblingEventTimeWindows
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> both = CoGroupedStreams(env.from_collection([1]), env.from_collection([2]))
    >>> windowed = both.where(abs).equal_to(abs).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    >>> windowed.apply(lambda left, right: [len(list(left)) + len(list(right))]).get_name()
    'CoGroup'
    """

    _name = "CoGroup"


@dataclass(frozen=True)
class _Where:
    """Both streams, and the key of the first one."""

    _name: str
    _first: KeyedStream
    _second: DataStream

    def equal_to(self, key_selector: Any, key_type: TypeInformation | None = None) -> _EqualTo:
        """Set the key of the second stream."""
        return _EqualTo(self._name, self._first, self._second.key_by(key_selector, key_type))


@dataclass(frozen=True)
class _EqualTo:
    """Both streams and their keys."""

    _name: str
    _first: KeyedStream
    _second: KeyedStream

    def window(self, window_assigner: Any) -> WindowedJoin:
        """Set the windows in which elements are joined."""
        return WindowedJoin(self._name, self._first, self._second, window_assigner)


class WindowedJoin(WindowSettings):
    """A join without a function; trigger, evictor and lateness may be set."""

    def __init__(self, name: str, first: KeyedStream, second: KeyedStream, window_assigner: Any) -> None:
        """Programs call `window` after `equal_to`."""
        super().__init__(checked_assigner(window_assigner, "window()"))
        self._name = name
        self._first = first
        self._second = second

    def apply(self, function: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Call ``function`` with every pair (join), or with both groups (co_group), when a window fires.

        A join takes a JoinFunction, a FlatJoinFunction, or a callable that returns one result; a co_group takes a
        CoGroupFunction or a callable that returns or yields results.
        """
        spec = WindowCoGroup(
            assigner=self._window_assigner,
            trigger=self._final_trigger(self._first.get_execution_environment()),
            kind="list",
            function=function,
            calls=self._calls(function),
            evictor=self._window_evictor,
            allowed_lateness=self._allowed_lateness,
            late_tag=self._late_tag(),
        )
        return self._first.two_input_operator(self._second, spec, self._name, declared_type(output_type))

    def _calls(self, function: Any) -> str:
        if self._name == "CoGroup":
            check_or_callable(function, CoGroupFunction, "co_group takes a CoGroupFunction or a callable function")
            return "co_group"
        if isinstance(function, CoGroupFunction):
            raise TypeMismatchError(
                "join takes a JoinFunction", seen=function, remedy="use co_group(...), or derive it from JoinFunction"
            )
        if isinstance(function, FlatJoinFunction):
            return "flat_join"
        check_or_callable(function, JoinFunction, "join takes a JoinFunction, FlatJoinFunction or a callable function")
        return "join"
