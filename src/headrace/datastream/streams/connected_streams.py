"""ConnectedStreams: two streams, possibly of different types, that share an operator and its state; broadcast streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
)
from headrace.functions.checks import check_function
from headrace.graph.specs import BroadcastProcess, CoFlatMap, CoMap, CoProcess
from headrace.state.descriptors import MapStateDescriptor
from headrace.types.declared_types import declared_type
from headrace.types.typeinfo import TypeInformation

if TYPE_CHECKING:
    from headrace.datastream.streams.data_stream import DataStream


class ConnectedStreams(NoJvmObject):
    """Two connected streams.

    >>> from headrace.datastream import CoMapFunction, StreamExecutionEnvironment
    >>> class Text(CoMapFunction):
    ...     def map1(self, value):
    ...         return str(value)
    ...
    ...     def map2(self, value):
    ...         return value
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.from_collection([1]).connect(env.from_collection(["a"])).map(Text()).get_name()
    'Co-Map'
    """

    def __init__(self, stream1: DataStream, stream2: DataStream) -> None:
        """Programs call `DataStream.connect`."""
        self.stream1 = stream1
        self.stream2 = stream2

    def key_by(
        self, key_selector1: Any, key_selector2: Any, key_type: TypeInformation | None = None
    ) -> ConnectedStreams:
        """Key both streams, so that elements with equal keys reach the same subtask and share state."""
        first, second = self.stream1.before_keys(), self.stream2.before_keys()
        return ConnectedStreams(first.key_by(key_selector1, key_type), second.key_by(key_selector2, key_type))

    def map(self, func: CoMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Apply a CoMapFunction: one result (or None for no result) per element."""
        check_function(func, (CoMapFunction,), ("map1", "map2"), "The input function must be a CoMapFunction!")
        return self._operator(CoMap(func), "Co-Map", output_type)

    def flat_map(self, func: CoFlatMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Apply a CoFlatMapFunction: any number of results per element."""
        check_function(func, (CoFlatMapFunction,), ("flat_map1", "flat_map2"), "The input must be a CoFlatMapFunction!")
        return self._operator(CoFlatMap(func), "Co-Flat Map", output_type)

    def process(
        self, func: CoProcessFunction | KeyedCoProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Apply a CoProcessFunction, or on keyed streams a KeyedCoProcessFunction."""
        check_function(
            func,
            (CoProcessFunction, KeyedCoProcessFunction),
            ("process_element1", "process_element2"),
            "The input must be a CoProcessFunction or KeyedCoProcessFunction!",
        )
        keyed = self.stream1.is_keyed and self.stream2.is_keyed
        if isinstance(func, KeyedCoProcessFunction) and not keyed:
            raise TypeMismatchError(
                "KeyedCoProcessFunction needs two keyed streams",
                seen=func,
                remedy="call key_by on the connected streams, or derive the function from CoProcessFunction",
            )
        return self._operator(CoProcess(func, keyed), "Keyed Co-Process" if keyed else "Co-Process", output_type)

    def _operator(
        self, spec: CoMap | CoFlatMap | CoProcess, name: str, output_type: TypeInformation | None
    ) -> DataStream:
        if self.stream1.is_keyed != self.stream2.is_keyed:
            raise InvalidProgramError(
                "Connected streams must both be keyed, or neither",
                seen=f"only the {'first' if self.stream1.is_keyed else 'second'} stream is keyed",
                remedy="call key_by on the connected streams: a.connect(b).key_by(selector1, selector2)",
            )
        return self.stream1.two_input_operator(self.stream2, spec, name, declared_type(output_type))


class BroadcastStream(NoJvmObject):
    """A stream whose elements go to every subtask, with the descriptors of the state that they fill.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> from headrace.datastream.state import MapStateDescriptor
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> rules = env.from_collection(["a"]).broadcast(MapStateDescriptor("rules", None, None))
    >>> [d.get_name() for d in rules.broadcast_state_descriptors]
    ['rules']
    """

    def __init__(self, input_stream: DataStream, broadcast_state_descriptors: list[MapStateDescriptor]) -> None:
        """Programs call `DataStream.broadcast`."""
        self.input_stream = input_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors


class BroadcastConnectedStream(NoJvmObject):
    """A stream connected to a broadcast stream.

    >>> from headrace.datastream import BroadcastProcessFunction, StreamExecutionEnvironment
    >>> from headrace.datastream.state import MapStateDescriptor
    >>> class Pass(BroadcastProcessFunction):
    ...     def process_element(self, value, ctx):
    ...         yield value
    ...
    ...     def process_broadcast_element(self, value, ctx):
    ...         pass
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> rules = env.from_collection(["a"]).broadcast(MapStateDescriptor("rules", None, None))
    >>> env.from_collection([1]).connect(rules).process(Pass()).get_name()
    'Co-Process-Broadcast'
    """

    def __init__(
        self,
        non_broadcast_stream: DataStream,
        broadcast_stream: BroadcastStream,
        broadcast_state_descriptors: list[MapStateDescriptor],
    ) -> None:
        """Programs call `DataStream.connect`."""
        self.non_broadcast_stream = non_broadcast_stream
        self.broadcast_stream = broadcast_stream
        self.broadcast_state_descriptors = broadcast_state_descriptors

    def process(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Apply a BroadcastProcessFunction, or on a keyed stream a KeyedBroadcastProcessFunction."""
        keyed = self.non_broadcast_stream.is_keyed
        if isinstance(func, BroadcastProcessFunction) and keyed:
            raise TypeMismatchError(
                "BroadcastProcessFunction should be applied to non-keyed DataStream",
                seen=func,
                remedy="derive the function from KeyedBroadcastProcessFunction, or connect before key_by",
            )
        if isinstance(func, KeyedBroadcastProcessFunction) and not keyed:
            raise TypeMismatchError(
                "KeyedBroadcastProcessFunction should be applied to keyed DataStream",
                seen=func,
                remedy="key_by the stream before connect, or derive the function from BroadcastProcessFunction",
            )
        check_function(
            func,
            (BroadcastProcessFunction, KeyedBroadcastProcessFunction),
            ("process_element", "process_broadcast_element"),
            "The input must be a BroadcastProcessFunction or KeyedBroadcastProcessFunction!",
        )
        return self.non_broadcast_stream.two_input_operator(
            self.broadcast_stream.input_stream,
            BroadcastProcess(func, keyed, tuple(self.broadcast_state_descriptors)),
            "Keyed-Co-Process-Broadcast" if keyed else "Co-Process-Broadcast",
            declared_type(output_type),
        )
