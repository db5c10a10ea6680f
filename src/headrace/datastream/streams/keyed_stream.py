"""KeyedStream: a stream that is partitioned by key, with state and timers per key; created by `DataStream.key_by`."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn

from headrace.datastream.field_aggregation import FieldAggregation
from headrace.datastream.key_selectors import KeyAndElement
from headrace.datastream.streams.data_stream import DataStream
from headrace.datastream.streams.window_settings import count_windows
from headrace.datastream.streams.without_settings import WithoutSettings
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions import KeyedProcessFunction, ReduceFunction
from headrace.functions.checks import check_function, check_or_callable
from headrace.graph.partitioners import KeyGroup
from headrace.graph.specs import KeyedReduce, Map, Process
from headrace.types.declared_types import declared_type, shown_type
from headrace.types.typeinfo import RowTypeInfo, TypeInformation

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment
    from headrace.datastream.streams.interval_join import IntervalJoin
    from headrace.datastream.streams.windowed_stream import WindowedStream


class KeyedStream(WithoutSettings):
    """A keyed stream. The keys determine the partitioning, and it has no settings.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> clicks = env.from_collection([("ann", 1), ("bob", 1), ("ann", 1)]).key_by(lambda click: click[0])
    >>> clicks.reduce(lambda a, b: (a[0], a[1] + b[1])).get_name()
    'Reduce'
    >>> clicks.rebalance()
    Traceback (most recent call last):
    ...
    headrace.errors.InvalidProgramError: Cannot override partitioning for KeyedStream. [INVALID_PROGRAM]
      seen:     rebalance() after key_by()
      remedy:   apply an operator to the keyed stream first, or call rebalance() before key_by()
    """

    is_keyed = True
    _instead = "call it on the operator after key_by(): the result of process(), reduce(), map(), ..."

    class AccumulateType(Enum):
        """The kinds of incremental aggregation."""

        MIN = 1
        MAX = 2
        MIN_BY = 3
        MAX_BY = 4
        SUM = 5

    def __init__(self, env: StreamExecutionEnvironment, transformation_id: int, origin_stream: DataStream) -> None:
        """Programs call `DataStream.key_by`."""
        super().__init__(env, transformation_id)
        self._origin_stream = origin_stream

    def before_keys(self) -> DataStream:
        """Return the stream before `key_by`."""
        return self._origin_stream

    @property
    def _keys(self) -> KeyGroup:
        partitioner = self.transformation.partitioner
        assert isinstance(partitioner, KeyGroup)
        return partitioner

    def get_type(self) -> TypeInformation:
        """Return the type of the elements with their keys: a row of both, as in PyFlink.

        >>> from headrace.common import Types
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([7], Types.INT()).key_by(str, Types.STRING()).get_type()
        RowTypeInfo(f0: String, f1: Integer)
        """
        types = [shown_type(self._keys.key_type), shown_type(self.transformation.output_type)]
        return RowTypeInfo(types, ["f0", "f1"])

    def execute_and_collect(self, job_execution_name: str | None = None, limit: int | None = None) -> Any:
        """Run the program and return the elements of this stream, each as a ``Row`` of its key and itself."""
        spec = Map(KeyAndElement(self._keys.selector))
        pairs = self._origin_stream.beside(spec, "_stream_key_by_map_operator", self.get_type())
        return pairs.execute_and_collect(job_execution_name, limit)

    def key_by(self, key_selector: Any, key_type: TypeInformation | None = None) -> KeyedStream:
        """Key the elements by another key."""
        return self._origin_stream.key_by(key_selector, key_type)

    def process(self, func: Any, output_type: TypeInformation | None = None) -> DataStream:
        """Apply a KeyedProcessFunction, which has state and timers per key.

        >>> from headrace.datastream import KeyedProcessFunction, StreamExecutionEnvironment
        >>> class Keys(KeyedProcessFunction):
        ...     def process_element(self, value, ctx):
        ...         yield ctx.get_current_key()
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1]).key_by(lambda number: number % 2).process(Keys()).get_name()
        'KEYED PROCESS'
        """
        check_function(
            func, (KeyedProcessFunction,), ("process_element",), "KeyedProcessFunction is required for KeyedStream."
        )
        return self._add(Process(func, keyed=True), "KEYED PROCESS", declared_type(output_type))

    def reduce(self, func: Any) -> DataStream:
        """Combine the elements of each key incrementally with ``func``, a callable or a ReduceFunction.

        In streaming mode, each element emits the current value, which is the first element at first. In batch mode, each
        key emits its final value.
        """
        check_or_callable(func, ReduceFunction, "The input must be a ReduceFunction or a callable function")
        return self._add(KeyedReduce(func), "Reduce", self.transformation.output_type)

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """Add up a field (by position or name) per key; the other fields are those of the first element.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([("a", 1), ("a", 2)]).key_by(lambda pair: pair[0]).sum(1).get_name()
        'Reduce'
        """
        return self._accumulate(position_to_sum, KeyedStream.AccumulateType.SUM)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """Return the smallest value of a field per key; the other fields are those of the first element."""
        return self._accumulate(position_to_min, KeyedStream.AccumulateType.MIN)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """Return the largest value of a field per key; the other fields are those of the first element."""
        return self._accumulate(position_to_max, KeyedStream.AccumulateType.MAX)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream:
        """Return the element with the smallest value of a field per key, the first one if there are several."""
        return self._accumulate(position_to_min_by, KeyedStream.AccumulateType.MIN_BY)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream:
        """Return the element with the largest value of a field per key, the first one if there are several."""
        return self._accumulate(position_to_max_by, KeyedStream.AccumulateType.MAX_BY)

    def window(self, window_assigner: Any) -> WindowedStream:
        """Group the elements of each key into windows.

        >>> from headrace.common import Time
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> from headrace.datastream.window import EventTimeSessionWindows
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> clicks = env.from_collection([("ann", 1)]).key_by(lambda click: click[0])
        >>> clicks.window(EventTimeSessionWindows.with_gap(Time.minutes(5))).reduce(max).get_name()
        'EventTimeSessionWindows'
        """
        from headrace.datastream.streams.windowed_stream import WindowedStream

        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream:
        """Group the elements of each key into windows of ``size`` elements.

        With a ``slide``, a window starts every ``slide`` elements. Each fires when it has ``size`` elements.
        """
        from headrace.datastream.streams.windowed_stream import WindowedStream

        return WindowedStream(self, count_windows(size, slide))

    def interval_join(self, other: KeyedStream) -> IntervalJoin:
        """Pair elements of two keyed streams with the same key and event times within an interval.

        >>> from headrace.common import Time
        >>> from headrace.datastream import ProcessJoinFunction, StreamExecutionEnvironment
        >>> class Pair(ProcessJoinFunction):
        ...     def process_element(self, left, right, ctx):
        ...         yield left, right
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> orders = env.from_collection([(1, "book")]).key_by(lambda order: order[0])
        >>> payments = env.from_collection([(1, 9.5)]).key_by(lambda payment: payment[0])
        >>> orders.interval_join(payments).between(Time.seconds(0), Time.minutes(5)).process(Pair()).get_name()
        'Interval Join'
        """
        from headrace.datastream.streams.interval_join import IntervalJoin

        return IntervalJoin(self, other)

    def _accumulate(self, position: int | str, acc_type: KeyedStream.AccumulateType) -> DataStream:
        if isinstance(position, bool) or not isinstance(position, (int, str)):
            raise TypeMismatchError(
                "The field position must be of int or str type to locate the value to calculate for min, max, min_by, "
                f"max_by and sum. The given type is: {type(position)}",
                seen="None" if position is None else position,
            )
        return self.reduce(FieldAggregation(acc_type.name, position))

    def shuffle(self) -> NoReturn:
        """Raise an error: the keys determine the partitioning."""
        _reject_partitioning("shuffle()")

    def rebalance(self) -> NoReturn:
        """Raise an error: the keys determine the partitioning."""
        _reject_partitioning("rebalance()")

    def rescale(self) -> NoReturn:
        """Raise an error: the keys determine the partitioning."""
        _reject_partitioning("rescale()")

    def forward(self) -> NoReturn:
        """Raise an error: the keys determine the partitioning."""
        _reject_partitioning("forward()")

    def global_(self) -> NoReturn:
        """Raise an error: the keys determine the partitioning."""
        _reject_partitioning("global_()")

    def broadcast(self, *args: Any) -> NoReturn:
        """Raise an error: the keys determine the partitioning."""
        _reject_partitioning("broadcast()")

    def partition_custom(self, partitioner: Any, key_selector: Any) -> NoReturn:
        """Raise an error: the keys determine the partitioning."""
        _reject_partitioning("partition_custom()")

    def get_side_output(self, output_tag: Any) -> NoReturn:
        """Raise an error: side outputs belong to operators."""
        raise InvalidProgramError(
            "Get side output of KeyedStream is not supported.",
            seen=output_tag,
            remedy="call get_side_output() on the result of process()",
        )

    def cache(self) -> NoReturn:
        """Raise an error: a keyed stream is not an operator."""
        self._reject("Cache for")


def _reject_partitioning(call: str) -> NoReturn:
    raise InvalidProgramError(
        "Cannot override partitioning for KeyedStream.",
        seen=f"{call} after key_by()",
        remedy=f"apply an operator to the keyed stream first, or call {call} before key_by()",
    )
