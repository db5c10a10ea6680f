"""ElementOperators: the operators of a stream that handle one element (or batch of rows) at a time.

Decides which transformation a call adds to the environment's registry, with which name and type, and rejects calls that
no job could run. Base of DataStream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.base.rate_limit import RateLimited
from headrace.datastream.operator_handle import check_integer
from headrace.datastream.streams.partitioned_stream import PartitionedStream
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.formats.arrow_rows import row_type
from headrace.formats.row_columns import RowColumns
from headrace.functions import FilterFunction, FlatMapFunction, KeyedProcessFunction, MapFunction, ProcessFunction
from headrace.functions.checks import check_function, check_or_callable
from headrace.graph.specs import AssignTimestamps, Filter, FilterColumns, FlatMap, Map, MapColumns, Process, SourceSpec
from headrace.types.data_types import row_type_of_stream, stream_type
from headrace.types.declared_types import declared_type
from headrace.types.logical_types import RowType
from headrace.types.typeinfo import TupleTypeInfo, TypeInformation

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace.datastream.streams.data_stream import DataStream


class ElementOperators(PartitionedStream):
    """Operators that handle elements one by one.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.from_collection(["to be", "or not"]).flat_map(str.split).filter(lambda word: len(word) > 2).get_name()
    'Filter'
    """

    def map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Return one result for each element: ``func`` is a callable or a MapFunction.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection(["3", "4"]).map(int).get_name()
        'Map'
        """
        check_or_callable(func, MapFunction, "The input must be a MapFunction or a callable function")
        return self._add(Map(func), "Map", declared_type(output_type))

    def flat_map(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Return any number of results for each element: ``func`` is a callable or a FlatMapFunction.

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
        """Map batches of rows as columns. For streams of rows with named and typed fields; an addition of headrace.

        ``func`` receives a pyarrow RecordBatch and returns one with the same number of rows and the columns of
        ``output_type``. The size of batches is not defined. Rows between columnar files or DataFrames stay columns.

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
        spec, produced = mapped_columns(self, func, output_type)
        return self._add(spec, "Map Columns", produced)

    def filter_columns(self, func: Any) -> DataStream:
        """Filter batches of rows as columns: ``func`` receives a pyarrow RecordBatch and returns a BooleanArray.

        See `map_columns`. Null counts as false.

        >>> import pyarrow.compute as pc
        >>> from headrace.common import Row, Types
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> orders = env.from_collection([Row(n=1), Row(n=2)], Types.ROW_NAMED(["n"], [Types.LONG()]))
        >>> orders.filter_columns(lambda rows: pc.greater(rows["n"], 1)).get_name()
        'Filter Columns'
        """
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
            check_integer(index, "index of a field")
            if not 0 <= index < len(fields):
                raise InvalidProgramError(
                    f"Index: {index}, Size: {len(fields)}", expected=f"indexes from 0 to {len(fields) - 1}"
                )
        projected = TupleTypeInfo([fields[index] for index in field_indexes])
        return self._add(Map(FieldProjection(field_indexes)), "Projection", projected)

    def limit_rate(self, rate: Any) -> Self:
        """Limit how fast the source of this stream reads: records per second, or a `RateLimiterStrategy`.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_sequence(1, 1000).limit_rate(100).get_name()
        'Sequence Source'
        """
        from headrace.connectors.base.rate_limit import RateLimiterStrategy

        strategy = rate if isinstance(rate, RateLimiterStrategy) else RateLimiterStrategy.per_second(rate)
        t = self.transformation
        if not isinstance(t.spec, SourceSpec):
            raise t.invalid("Only a source has a rate", remedy="call limit_rate() on the stream of a source")
        if strategy.rate is not None:
            spec = replace(t.spec, source=RateLimited(t.spec.source, strategy.rate))
            self._env.registry.update(t.id, spec=spec)
        return self

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Assign event times to the elements and watermarks to the stream.

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
        # As in PyFlink: a strategy that keeps the timestamps runs without an exchange.
        add = self.beside if watermark_strategy.timestamp_assigner is None else self._add
        return add(spec, "Timestamps/Watermarks", self.transformation.output_type)


class FieldProjection:
    """Selects fields of a tuple, in a given order; a plain callable for the map operator.

    >>> FieldProjection([2, 0])(("a", "b", "c")), FieldProjection([1])(("a", "b"))
    (('c', 'a'), ('b',))
    """

    def __init__(self, indexes: Sequence[int]) -> None:
        self._indexes = tuple(indexes)
        self._fields = itemgetter(*indexes)

    def __call__(self, element: Any) -> tuple[Any, ...]:
        """Return the selected fields of ``element``."""
        fields = self._fields(element)
        return fields if len(self._indexes) > 1 else (fields,)


def mapped_columns(stream: PartitionedStream, func: Any, output_type: RowType) -> tuple[MapColumns, TypeInformation]:
    """Return the specification of `map_columns` and the type of its rows."""
    given = RowColumns(row_type(output_type, "map_columns"))
    return MapColumns(_checked(func, "map_columns"), _columns_of(stream), given), stream_type(output_type)


def filtered_columns(stream: PartitionedStream, func: Any) -> FilterColumns:
    """Return the specification of `filter_columns`."""
    return FilterColumns(_checked(func, "filter_columns"), _columns_of(stream))


def _checked(func: Any, method: str) -> Any:
    if not callable(func):
        raise TypeMismatchError(f"{method} takes a function of a pyarrow RecordBatch", seen=func)
    return func


def _columns_of(stream: PartitionedStream) -> RowColumns:
    kind = stream.transformation.output_type
    try:
        return RowColumns(row_type_of_stream(kind))
    except InvalidProgramError as error:
        raise InvalidProgramError(
            "Functions on columns need a stream of rows whose fields have names and types",
            operator_name=stream.get_name(),
            seen=error.seen or kind,
            remedy="declare them on the previous operator: output_type=Types.ROW_NAMED([...], [...])",
        ) from None
