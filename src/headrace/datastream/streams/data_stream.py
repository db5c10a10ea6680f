"""DataStream: the operators that a program can apply to a stream.

Decides which transformation a call adds to the environment's registry, with which name and type, and refuses calls that
no job could run. Never runs anything: `StreamExecutionEnvironment.execute` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

from headrace.common.output_tag import OutputTag
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.base.rate_limit import RateLimited
from headrace.datastream.key_selectors import key_function, key_type_of
from headrace.datastream.streams.broadcast_stream import BroadcastConnectedStream, BroadcastStream
from headrace.datastream.streams.closeable_iterator import CloseableIterator
from headrace.datastream.streams.connected_streams import ConnectedStreams
from headrace.datastream.streams.data_stream_sink import DataStreamSink
from headrace.datastream.streams.field_projection import FieldProjection
from headrace.datastream.streams.partitioned_stream import PartitionedStream
from headrace.datastream.streams.window_settings import count_windows, needs_keys
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    SinkFunction,
)
from headrace.functions.checks import check_function, check_or_callable
from headrace.graph import partitioners
from headrace.graph.specs import (
    AssignTimestamps,
    CollectSink,
    Filter,
    FlatMap,
    FunctionSink,
    Map,
    PrintSink,
    Process,
    SourceSpec,
    StagedSink,
)
from headrace.graph.transformations import TransformationKind
from headrace.types.data_types import RowType
from headrace.types.declared_types import declared_type, shown_type
from headrace.types.typeinfo import TupleTypeInfo, TypeInformation

if TYPE_CHECKING:
    from headrace.datastream.streams.cached_data_stream import CachedDataStream
    from headrace.datastream.streams.iterative_stream import IterativeStream
    from headrace.datastream.streams.keyed_stream import KeyedStream
    from headrace.datastream.streams.window_joins import CoGroupedStreams, JoinedStreams
    from headrace.datastream.streams.windowed_stream import AllWindowedStream

__all__ = ["DataStream"]


class DataStream(PartitionedStream):
    """A stream of elements. Every call gives a new stream and leaves this one as it is.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> words = env.from_collection(["to be", "or not"]).flat_map(str.split).filter(lambda word: len(word) > 2)
    >>> words.get_name()
    'Filter'
    """

    def before_keys(self) -> DataStream:
        """The stream before `key_by`: itself if it is not keyed."""
        return self

    def get_type(self) -> TypeInformation:
        """Give the type of the elements; a stream without a declared type has that of pickled Python objects.

        >>> from headrace.common import Types
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1], Types.INT()).get_type(), env.from_collection([1]).get_type()
        (Integer, PickledByteArrayTypeInfo)
        """
        return shown_type(self.transformation.output_type)

    def get_execution_config(self) -> Any:
        """Give the execution configuration of the environment."""
        return self._env.get_config()

    # ------------------------------------------------------------------ element by element

    def map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Give one result for each element: ``func`` is a callable or a MapFunction.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection(["3", "4"]).map(int).get_name()
        'Map'
        """
        check_or_callable(func, MapFunction, "The input must be a MapFunction or a callable function")
        return self._add(Map(func), "Map", declared_type(output_type))

    def flat_map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Give any number of results for each element: ``func`` is a callable or a FlatMapFunction.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection(["to be"]).flat_map(str.split).get_name()
        'FlatMap'
        """
        check_or_callable(func, FlatMapFunction, "The input must be a FlatMapFunction or a callable function")
        return self._add(FlatMap(func), "FlatMap", declared_type(output_type))

    def filter(self, func: Any) -> DataStream:
        """Keep the elements for which ``func`` (a callable or a FilterFunction) is true.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1, 2]).filter(lambda number: number > 1).get_name()
        'Filter'
        """
        check_or_callable(func, FilterFunction, "The input must be a FilterFunction or a callable function")
        return self._add(Filter(func), "Filter", self.transformation.output_type)

    def map_columns(self, func: Any, output_type: RowType) -> DataStream:
        """Map many rows at once, as columns; headrace's own, for streams of rows with named and typed fields.

        ``func`` gets a RecordBatch of pyarrow and gives one with as many rows and the columns of ``output_type``. How many
        rows it gets is not defined. Rows that come from columnar files or DataFrames, and go to such, stay columns.

        >>> import pyarrow as pa, pyarrow.compute as pc
        >>> from headrace.common import Row, Types
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> from headrace.table import DataTypes
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> orders = env.from_collection([Row(n=1), Row(n=2)], Types.ROW_NAMED(["n"], [Types.LONG()]))
        >>> doubled = DataTypes.ROW([DataTypes.FIELD("doubled", DataTypes.BIGINT())])
        >>> orders.map_columns(
        ...     lambda rows: pa.record_batch([pc.multiply(rows["n"], 2)], ["doubled"]), doubled
        ... ).get_name()
        'Map Columns'
        """
        from headrace.datastream.streams.column_functions import mapped_columns

        spec, produced = mapped_columns(self, func, output_type)
        return self._add(spec, "Map Columns", produced)

    def filter_columns(self, func: Any) -> DataStream:
        """Filter many rows at once, as columns: ``func`` gets a RecordBatch of pyarrow and gives a BooleanArray.

        As for `map_columns`. Null counts as false.

        >>> import pyarrow.compute as pc
        >>> from headrace.common import Row, Types
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> orders = env.from_collection([Row(n=1), Row(n=2)], Types.ROW_NAMED(["n"], [Types.LONG()]))
        >>> orders.filter_columns(lambda rows: pc.greater(rows["n"], 1)).get_name()
        'Filter Columns'
        """
        from headrace.datastream.streams.column_functions import filtered_columns

        return self._add(filtered_columns(self, func), "Filter Columns", self.transformation.output_type)

    def process(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Apply a ProcessFunction, which sees timestamps and may emit to side outputs.

        >>> from headrace.datastream import ProcessFunction, StreamExecutionEnvironment
        >>> class Twice(ProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         yield value
        ...         yield value
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1]).process(Twice()).get_name()
        'PROCESS'
        """
        if isinstance(func, KeyedProcessFunction):
            raise TypeMismatchError(
                "KeyedProcessFunction needs a keyed stream",
                seen=func,
                remedy="call key_by before process, or derive the function from ProcessFunction",
            )
        check_function(func, (ProcessFunction,), ("process_element",), "The input must be a ProcessFunction!")
        return self._add(Process(func, keyed=False), "PROCESS", declared_type(output_type))

    def project(self, *field_indexes: int) -> DataStream:
        """Keep some fields of a stream of tuples, in the given order.

        >>> from headrace.common import Types
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> pairs = env.from_collection([(1, "a")], Types.TUPLE([Types.INT(), Types.STRING()]))
        >>> pairs.project(1, 0).get_type()
        TupleTypeInfo(String, Integer)
        """
        kept = self.transformation.output_type
        if not isinstance(kept, TupleTypeInfo):
            raise InvalidProgramError(
                "Only Tuple DataStreams can be projected.",
                seen=f"a stream of {self.get_type()}",
                remedy="declare the type as Types.TUPLE([...]), or use map",
            )
        fields = kept.get_field_types()
        if not field_indexes:
            raise InvalidProgramError("project() needs to select at least one field.")
        for index in field_indexes:
            self._check_whole_number(index, "index of a field")
            if not 0 <= index < len(fields):
                raise InvalidProgramError(
                    f"Index: {index}, Size: {len(fields)}", expected=f"indexes from 0 to {len(fields) - 1}"
                )
        projected = TupleTypeInfo([fields[index] for index in field_indexes])
        return self._add(Map(FieldProjection(field_indexes)), "Projection", projected)

    def limit_rate(self, rate: Any) -> DataStream:
        """Let the source of this stream read no faster: so many records a second, or a `RateLimiterStrategy`.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_sequence(1, 1000).limit_rate(100).get_name()
        'Sequence Source'
        """
        from headrace.connectors.base.rate_limit import RateLimiterStrategy

        strategy = rate if isinstance(rate, RateLimiterStrategy) else RateLimiterStrategy.per_second(rate)
        t = self.transformation
        if not isinstance(t.spec, SourceSpec):
            raise InvalidProgramError(
                "Only a source has a rate", operator_name=t.name, uid=t.uid, remedy="call limit_rate() on its stream"
            )
        if strategy.rate is not None:
            spec = replace(t.spec, source=RateLimited(t.spec.source, strategy.rate))
            self._env.registry.update(t.id, spec=spec)
        return self

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Give the elements event times and the stream watermarks.

        >>> from headrace.common import WatermarkStrategy
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> strategy = WatermarkStrategy.for_monotonous_timestamps()
        >>> env.from_collection([1]).assign_timestamps_and_watermarks(strategy).get_name()
        'Timestamps/Watermarks'
        """
        if not isinstance(watermark_strategy, WatermarkStrategy):
            raise TypeMismatchError(
                "assign_timestamps_and_watermarks takes a watermark strategy",
                seen=watermark_strategy,
                expected="a WatermarkStrategy, e.g. WatermarkStrategy.for_monotonous_timestamps()",
            )
        spec = AssignTimestamps(watermark_strategy)
        # As in PyFlink: a strategy that leaves the timestamps alone stays where the elements are.
        add = self.beside if watermark_strategy.timestamp_assigner is None else self._add
        return add(spec, "Timestamps/Watermarks", self.transformation.output_type)

    # ------------------------------------------------------------------ several streams

    def key_by(self, key_selector: Any, key_type: TypeInformation | None = None) -> KeyedStream:
        """Bring elements with equal keys together in one subtask, with state and timers per key.

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
        """Put streams of the same type together; elements of each keep their order.

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
        """Bring this stream and another one (or a broadcast one) together in one operator.

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
        """Begin a loop here: what `close_with` is called with comes again in this stream, one epoch later.

        The loop ends when nothing can come any more: its input has ended, nothing went back, and no processing-time timer
        waits that could send something. ``max_wait_time_millis`` is how long it waits for such timers at most, 0 is as
        long as it takes.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> loop = env.from_collection([10, 3]).iterate()
        >>> less = loop.map(lambda number: number - 1)
        >>> again = loop.close_with(less.filter(lambda number: number > 0))
        """
        from headrace.datastream.streams.iterative_stream import iteration

        self._check_whole_number(max_wait_time_millis, "maximum wait time")
        if max_wait_time_millis < 0:
            raise InvalidProgramError("The maximum wait time must not be negative", seen=max_wait_time_millis)
        return iteration(self, max_wait_time_millis)

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """Give the elements that the function of this operator yielded as ``tag, value``.

        >>> from headrace.datastream import OutputTag, ProcessFunction, StreamExecutionEnvironment
        >>> odd = OutputTag("odd")
        >>> class Split(ProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         yield (odd, value) if value % 2 else value
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> side = env.from_collection([1, 2]).process(Split()).get_side_output(odd).map(str)
        """
        from headrace.datastream.streams.nameable_view import NameableView

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

    # ------------------------------------------------------------------ ends

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print the elements to the standard output of the program, with the subtask's number before each line.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1]).print().get_name()
        'Print to Std. Out'
        """
        return self._sink(PrintSink(sink_identifier, input_type=self.transformation.output_type), "Print to Std. Out")

    def print_to_err(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Print the elements to the standard error of the program.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1]).print_to_err("debug").get_name()
        'Print to Std. Err'
        """
        spec = PrintSink(sink_identifier, stderr=True, input_type=self.transformation.output_type)
        return self._sink(spec, "Print to Std. Err")

    def add_sink(self, sink_func: SinkFunction) -> DataStreamSink:
        """Give the elements to a SinkFunction, or to a connector that PyFlink programs pass here."""
        from headrace.connectors.base.definitions import Sink, prepared_for

        if isinstance(sink_func, Sink):
            stream, spec = prepared_for(sink_func, self)
            return DataStream._sink(stream, replace(spec, steps=()), "Unnamed")
        check_function(sink_func, (SinkFunction,), ("invoke",), "The input must be a SinkFunction!")
        kind = self.transformation.output_type
        definition = sink_func.get_definition() if isinstance(sink_func, SinkFunction) else None
        return self._sink(
            FunctionSink(sink_func, kind) if definition is None else StagedSink(definition, kind), "Unnamed"
        )

    def sink_to(self, sink: Any) -> DataStreamSink:
        """Give the elements to a sink of `headrace.datastream.connectors`."""
        from headrace.connectors.base.definitions import prepared_for

        stream, spec = prepared_for(sink, self)
        return DataStream._sink(stream, spec, "Sink")

    def sink_to_spark(
        self,
        format: str,
        options: Mapping[str, Any] | None = None,
        *,
        schema: Any,
        mode: str = "append",
        partition_by: Sequence[str] = (),
    ) -> DataStreamSink:
        """Give the elements to any batch writer of Spark: one write for each checkpoint, by the driver.

        ``schema`` is a StructType or its text; elements are rows, tuples, dicts, or single values for one column. In
        the values of ``options`` ``{epoch}`` is the number of the checkpoint and ``{job}`` the id of the job: a repeated
        write has the same, so that a writer can tell it. Without that a write may be repeated after a failure.
        """
        from headrace.datastream.streams.data_frames import spark_sink

        sink = spark_sink(self, format, options or {}, schema, mode, partition_by)
        return self._sink(StagedSink(sink, self.transformation.output_type), f"Spark {format}")

    def to_dataframe(self, schema: Any, job_execution_name: str | None = None) -> Any:
        """Run the program to its end and give the elements of this stream as a DataFrame of PySpark.

        For bounded streams. The rows are in files of this process, which are removed when it ends.
        """
        from headrace.datastream.streams.data_frames import as_data_frame

        return as_data_frame(self, schema, job_execution_name)

    def execute_and_collect(self, job_execution_name: str | None = None, limit: int | None = None) -> Any:
        """Run the program and give the elements of this stream: all as an iterator, or a list of at most ``limit``.

        The iterator is a context manager; closing it cancels the job if it still runs.
        """
        if limit is not None:
            self._check_whole_number(limit, "limit")
            if limit < 1:
                raise InvalidProgramError("Limit must be greater than 0", seen=limit)
        collect_id = f"collect-{self._id}"
        sink = self._sink(CollectSink(collect_id, self.transformation.output_type), "Data stream collect sink")
        t = self.transformation
        # Where the stream is made, so that nothing is exchanged and the elements of a subtask keep their order.
        alike = t.parallelism if t.kind is TransformationKind.OPERATOR else 1
        self._env.registry.update(sink.transformation_id, parallelism=alike, non_parallel=t.non_parallel)
        results = CloseableIterator(self._env.submit(job_execution_name), collect_id)
        return results if limit is None else results.take(limit)

    def cache(self) -> CachedDataStream:
        """Keep the elements of this stream after the first job that computes them, for later jobs of the environment.

        Works in batch mode. In streaming mode every job computes the elements again.
        """
        from headrace.datastream.streams.cached_data_stream import cached

        return cached(self)

    # ------------------------------------------------------------------ windows and joins

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
        """Group all elements into windows of ``size`` elements; with a ``slide`` one begins every so many elements."""
        from headrace.datastream.streams.windowed_stream import AllWindowedStream

        return AllWindowedStream(self, count_windows(size, slide))

    def window(self, window_assigner: Any) -> Any:
        """Refuse: windows by key need keys."""
        raise needs_keys("window()", "window_all(...) for windows over the whole stream", window_assigner)

    def count_window(self, size: int, slide: int = 0) -> Any:
        """Refuse: windows by key need keys."""
        raise needs_keys("count_window()", "count_window_all(...) for windows over the whole stream", (size, slide))

    def interval_join(self, other: Any) -> Any:
        """Refuse: elements meet by their keys."""
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
        """Bring the elements of this stream and another one together by key and window, also those without a partner."""
        from headrace.datastream.streams.window_joins import CoGroupedStreams

        self._check_neighbour(other, "co_group")
        return CoGroupedStreams(self, other)
