"""WindowedStream and AllWindowedStream: operations on the windows of a stream.

Decides which window operation a call adds to the graph, with which name and type. Created by `KeyedStream.window`,
`KeyedStream.count_window`, `DataStream.window_all` and `DataStream.count_window_all`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from headrace.datastream.streams.data_stream import DataStream
from headrace.datastream.streams.keyed_stream import KeyedStream
from headrace.datastream.streams.window_settings import WindowSettings, checked_assigner
from headrace.errors import TypeMismatchError
from headrace.functions import (
    AggregateFunction,
    AllWindowFunction,
    NullByteKeySelector,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
)
from headrace.functions.checks import check_function, check_or_callable
from headrace.graph.specs import WindowOperation
from headrace.operators.windows.pre_aggregation import can_pre_aggregate
from headrace.types.declared_types import declared_type
from headrace.types.typeinfo import TypeInformation

_AGGREGATE_METHODS = ("create_accumulator", "add", "get_result", "merge")


class _Windowed(WindowSettings):
    """The common part of both; they differ in the functions that they take."""

    _apply_class: Any
    _process_class: Any
    _call: str
    _shown: str
    _over_all: bool

    def __init__(self, keyed_stream: KeyedStream, window_assigner: Any) -> None:
        super().__init__(checked_assigner(window_assigner, self._call))
        self._keyed_stream = keyed_stream

    def get_execution_environment(self) -> Any:
        """Return the environment that the stream belongs to."""
        return self._keyed_stream.get_execution_environment()

    def get_input_type(self) -> TypeInformation:
        """Return the type of the elements."""
        return self._keyed_stream.before_keys().get_type()

    def reduce(
        self, reduce_function: Any, window_function: Any = None, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Combine the elements of each window incrementally with ``reduce_function``.

        A ``window_function`` is called with the combined value when the window fires.
        """
        check_or_callable(reduce_function, ReduceFunction, "The input must be a ReduceFunction or a callable function")
        kept = declared_type(output_type)
        if window_function is None and kept is None:
            kept = self._keyed_stream.transformation.output_type
        return self._operation("reduce", reduce_function, window_function, self._calls(window_function), kept)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: Any = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Add the elements of each window incrementally to an accumulator, whose result is that of the window.

        A ``window_function`` is called with the result when the window fires.
        """
        message = "aggregate() takes an AggregateFunction"
        check_function(aggregate_function, (AggregateFunction,), _AGGREGATE_METHODS, message)
        declared_type(accumulator_type, "accumulator_type")
        calls = self._calls(window_function)
        return self._operation("aggregate", aggregate_function, window_function, calls, declared_type(output_type))

    def apply(self, window_function: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Call ``window_function.apply`` with all elements of a window when it fires."""
        name = self._apply_class.__name__
        check_function(window_function, (self._apply_class,), ("apply",), f"apply() takes a {name}")
        return self._operation("list", None, window_function, "apply", declared_type(output_type))

    def process(self, process_window_function: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Call ``process_window_function.process`` with all elements of a window when it fires."""
        name = self._process_class.__name__
        check_function(process_window_function, (self._process_class,), ("process",), f"process() takes a {name}")
        return self._operation("list", None, process_window_function, "process", declared_type(output_type))

    def _calls(self, function: Any) -> str:
        if function is None:
            return ""
        if isinstance(function, self._apply_class):
            return "apply"
        if isinstance(function, self._process_class):
            return "process"
        names = f"{self._apply_class.__name__} or {self._process_class.__name__}"
        raise TypeMismatchError(f"window_function should be a {names}", seen=function)

    def _operation(
        self, kind: str, combiner: Any, function: Any, calls: str, output_type: TypeInformation | None
    ) -> DataStream:
        trigger = self._final_trigger(self.get_execution_environment())
        spec = WindowOperation(
            assigner=self._window_assigner,
            trigger=trigger,
            kind=kind,
            combiner=combiner,
            function=function,
            calls=calls,
            evictor=self._window_evictor,
            allowed_lateness=self._allowed_lateness,
            late_tag=self._late_tag(),
            over_all=self._over_all,
        )
        spec = replace(spec, combines_early=can_pre_aggregate(spec))
        names = ", ".join(type(f).__name__ for f in (combiner, function) if f is not None)
        described = f"{self._shown}({self._window_assigner!r}, {type(trigger).__name__}, {names})"
        stream = self._keyed_stream.one_input_operator(spec, type(self._window_assigner).__name__, output_type)
        return stream.set_description(described)


class WindowedStream(_Windowed):
    """The windows of a keyed stream: each key has its own.

    >>> from headrace.common import Time
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> from headrace.datastream.window import TumblingEventTimeWindows
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> clicks = env.from_collection([("ann", 1)]).key_by(lambda click: click[0])
    >>> windows = clicks.window(TumblingEventTimeWindows.of(Time.minutes(1)))
    >>> windows.reduce(lambda a, b: (a[0], a[1] + b[1])).get_name()
    'TumblingEventTimeWindows'
    """

    _apply_class = WindowFunction
    _process_class = ProcessWindowFunction
    _call = "window()"
    _shown = "Window"
    _over_all = False

    def __init__(self, keyed_stream: KeyedStream, window_assigner: Any) -> None:
        """Programs call `KeyedStream.window`."""
        super().__init__(keyed_stream, window_assigner)


class AllWindowedStream(_Windowed):
    """The windows of a stream without keys: one subtask processes all elements.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.from_collection([1, 2, 3]).count_window_all(2).reduce(lambda a, b: a + b).get_name()
    'CountTumblingWindowAssigner'
    """

    _apply_class = AllWindowFunction
    _process_class = ProcessAllWindowFunction
    _call = "window_all()"
    _shown = "AllWindow"
    _over_all = True

    def __init__(self, data_stream: DataStream, window_assigner: Any) -> None:
        """Programs call `DataStream.window_all`."""
        super().__init__(data_stream.key_by(NullByteKeySelector()), window_assigner)
