"""BroadcastStream and BroadcastConnectedStream, created by `DataStream.broadcast` and `DataStream.connect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.errors import TypeMismatchError
from headrace.functions import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from headrace.functions.checks import check_function
from headrace.graph.specs import BroadcastProcess
from headrace.state.descriptors import MapStateDescriptor
from headrace.types.declared_types import declared_type
from headrace.types.typeinfo import TypeInformation

if TYPE_CHECKING:
    from headrace.datastream.streams.data_stream import DataStream


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
