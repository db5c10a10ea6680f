"""DataStream: a stream of elements, and the operators that combine, key and window streams.

Decides which transformation a call adds to the environment's registry, with which name and type, and rejects calls that
no job could run. The operators on single elements are in `element_operators`, the sinks in `stream_sinks`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from headrace.common.output_tag import OutputTag
from headrace.datastream.key_selectors import key_function, key_type_of
from headrace.datastream.operator_handle import check_integer
from headrace.datastream.streams.connected_streams import BroadcastConnectedStream, BroadcastStream, ConnectedStreams
from headrace.datastream.streams.element_operators import ElementOperators
from headrace.datastream.streams.stream_sinks import StreamSinks
from headrace.datastream.streams.window_settings import count_windows, needs_keys
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.graph import partitioners
from headrace.graph.specs import Map
from headrace.graph.transformations import Transformation, TransformationKind
from headrace.types.declared_types import declared_type, shown_type
from headrace.types.typeinfo import TypeInformation

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment
    from headrace.datastream.streams.cached_data_stream import CachedDataStream
    from headrace.datastream.streams.iterative_stream import IterativeStream
    from headrace.datastream.streams.keyed_stream import KeyedStream
    from headrace.datastream.streams.window_joins import CoGroupedStreams, JoinedStreams
    from headrace.datastream.streams.windowed_stream import AllWindowedStream


class DataStream(ElementOperators, StreamSinks):
    """A stream of elements. Each call returns a new stream and leaves this one unchanged.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> words = env.from_collection(["to be", "or not"]).flat_map(str.split).filter(lambda word: len(word) > 2)
    >>> words.get_name()
    'Filter'
    """

    def before_keys(self) -> DataStream:
        """Return the stream before `key_by`: itself if it is not keyed."""
        return self

    def key_by(self, key_selector: Any, key_type: TypeInformation | None = None) -> KeyedStream:
        """Send elements with equal keys to the same subtask, with state and timers per key.

        ``key_selector`` is a callable, a KeySelector, the position of a field or its name.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([("a", 1)]).key_by(lambda pair: pair[0]).sum(1).get_name()
        'Reduce'
        """
        from headrace.datastream.streams.keyed_stream import KeyedStream

        element_type = self.transformation.output_type
        selector = key_function(key_selector, element_type)
        kept_key_type = declared_type(key_type, "key_type") or key_type_of(key_selector, element_type)
        view = self._view(partitioners.KeyGroup(selector, kept_key_type))
        return KeyedStream(self._env, view, self)

    def union(self, *streams: DataStream) -> DataStream:
        """Merge streams of the same type. The elements of each stream keep their order.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> odd, even = env.from_collection([1, 3]), env.from_collection([2, 4])
        >>> odd.union(even).map(str).get_name()
        'Map'
        """
        for other in streams:
            self._check_neighbour(other, "union")
            if other.transformation.output_type != self.transformation.output_type:
                raise TypeMismatchError(
                    f"Cannot union streams of different types: {self.get_type()} and {other.get_type()}",
                    remedy="map one of them to the type of the other, or connect them",
                )
        inputs = (self._id, *(s.transformation_id for s in streams))
        union = self._env.registry.add(
            TransformationKind.UNION, inputs, output_type=self.transformation.output_type, name="Union"
        )
        return DataStream(self._env, union)

    @overload
    def connect(self, ds: DataStream) -> ConnectedStreams: ...
    @overload
    def connect(self, ds: BroadcastStream) -> BroadcastConnectedStream: ...
    def connect(self, ds: DataStream | BroadcastStream) -> ConnectedStreams | BroadcastConnectedStream:
        """Connect this stream and another one (or a broadcast one) to the same operator.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> type(env.from_collection([1]).connect(env.from_collection(["a"]))).__name__
        'ConnectedStreams'
        """
        if isinstance(ds, BroadcastStream):
            self._check_neighbour(ds.input_stream, "connect")
            return BroadcastConnectedStream(self, ds, ds.broadcast_state_descriptors)
        self._check_neighbour(ds, "connect")
        return ConnectedStreams(self, ds)

    def iterate(self, max_wait_time_millis: int = 0) -> IterativeStream:
        """Start a loop: the elements of the stream passed to `close_with` reappear in this stream, one epoch later.

        The loop ends when no more elements can arrive: its input has ended, no element was fed back, and no
        processing-time timer is pending that could emit one. ``max_wait_time_millis`` limits the wait for such timers;
        0 means no limit.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> loop = env.from_collection([10, 3]).iterate()
        >>> less = loop.map(lambda number: number - 1)
        >>> again = loop.close_with(less.filter(lambda number: number > 0))
        """
        from headrace.datastream.streams.iterative_stream import iteration

        check_integer(max_wait_time_millis, "maximum wait time")
        if max_wait_time_millis < 0:
            raise InvalidProgramError("The maximum wait time must not be negative", seen=max_wait_time_millis)
        return iteration(self, max_wait_time_millis)

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """Return the elements that the function of this operator yielded as ``tag, value``.

        >>> from headrace.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
        >>> odd = OutputTag("odd")
        >>> class Split(ProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         yield (odd, value) if value % 2 else value
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> side = env.from_collection([1, 2]).process(Split()).get_side_output(odd).map(str)
        """
        t = self._operator("get_side_output()")
        if not isinstance(output_tag, OutputTag):
            raise TypeMismatchError("get_side_output takes an OutputTag", seen=output_tag, expected="an OutputTag")
        kept = declared_type(output_tag.type_info, "type_info")
        if output_tag.tag_id in t.side_types and t.side_types[output_tag.tag_id] != kept:
            raise InvalidProgramError(
                "A side output with a matching id was already requested with a different type. "
                "This is not allowed, side output ids need to be unique.",
                operator_name=t.name,
                uid=t.uid,
                seen=f"tag {output_tag.tag_id!r} as {shown_type(kept)}",
                expected=f"{shown_type(t.side_types[output_tag.tag_id])}",
            )
        self._env.registry.update(t.id, side_types={**t.side_types, output_tag.tag_id: kept})
        view = self._env.registry.add(
            TransformationKind.SIDE_OUTPUT,
            (t.id,),
            output_type=kept,
            output_tag=output_tag.tag_id,
            name=f"Side output {output_tag.tag_id}",
        )
        return NameableView(self._env, view, "Map")

    def cache(self) -> CachedDataStream:
        """Cache the elements of this stream when a job first computes them, for later jobs of the environment.

        Has an effect in batch mode only. In streaming mode, every job computes the elements again.
        """
        from headrace.datastream.streams.cached_data_stream import cached

        return cached(self)

    def window_all(self, window_assigner: Any) -> AllWindowedStream:
        """Group all elements into windows; one subtask sees them all.

        >>> from headrace.common import Time
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> from headrace.datastream.window import TumblingProcessingTimeWindows
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> windows = env.from_collection([1]).window_all(TumblingProcessingTimeWindows.of(Time.seconds(1)))
        >>> windows.reduce(max).get_name()
        'TumblingProcessingTimeWindows'
        """
        from headrace.datastream.streams.windowed_stream import AllWindowedStream

        return AllWindowedStream(self, window_assigner)

    def count_window_all(self, size: int, slide: int = 0) -> AllWindowedStream:
        """Group all elements into windows of ``size`` elements; a window starts every ``slide`` elements if given."""
        from headrace.datastream.streams.windowed_stream import AllWindowedStream

        return AllWindowedStream(self, count_windows(size, slide))

    def window(self, window_assigner: Any) -> Any:
        """Raise an error: windows per key need keys."""
        raise needs_keys("window()", "window_all(...) for windows over the whole stream", window_assigner)

    def count_window(self, size: int, slide: int = 0) -> Any:
        """Raise an error: windows per key need keys."""
        raise needs_keys("count_window()", "count_window_all(...) for windows over the whole stream", (size, slide))

    def interval_join(self, other: Any) -> Any:
        """Raise an error: an interval join needs keys."""
        raise needs_keys("interval_join()", None, other)

    def join(self, other: DataStream) -> JoinedStreams:
        """Pair the elements of this stream and another one that have the same key and are in the same window.

        >>> from headrace.common import Time
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> from headrace.datastream.window import TumblingEventTimeWindows
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> orders, payments = env.from_collection([(1, "book")]), env.from_collection([(1, 9.5)])
        >>> paid = orders.join(payments).where(lambda order: order[0]).equal_to(lambda payment: payment[0])
        >>> windowed = paid.window(TumblingEventTimeWindows.of(Time.hours(1)))
        >>> windowed.apply(lambda order, payment: (*order, payment[1])).get_name()
        'Join'
        """
        from headrace.datastream.streams.window_joins import JoinedStreams

        self._check_neighbour(other, "join")
        return JoinedStreams(self, other)

    def co_group(self, other: DataStream) -> CoGroupedStreams:
        """Group the elements of this stream and another one by key and window, including those without a partner."""
        from headrace.datastream.streams.window_joins import CoGroupedStreams

        self._check_neighbour(other, "co_group")
        return CoGroupedStreams(self, other)


def identity(element: Any) -> Any:
    """Return the element unchanged.

    >>> identity(3)
    3
    """
    return element


class NameableView(DataStream):
    """A side output or a custom partitioning: a view that becomes an operator if a program configures it.

    In PyFlink these calls return an operator. A view is free, so the operator (an identity map) is added on demand.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> spread = env.from_collection([1]).partition_custom(lambda key, count: 0, lambda element: element)
    >>> spread.transformation.kind.name, spread.name("spread").transformation.kind.name
    ('PARTITION', 'OPERATOR')
    """

    def __init__(self, env: StreamExecutionEnvironment, transformation_id: int, operator_name: str) -> None:
        """Programs call `get_side_output` or `partition_custom`."""
        super().__init__(env, transformation_id)
        self._operator_name = operator_name

    def _operator(self, request: str) -> Transformation:
        if self.transformation.kind is not TransformationKind.OPERATOR:
            operator = self._add(Map(identity), self._operator_name, self.transformation.output_type)
            self._id = operator.transformation_id
        return super()._operator(request)
