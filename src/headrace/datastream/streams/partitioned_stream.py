"""PartitionedStream: how elements are distributed to the subtasks of the next operator, and how streams are created.

Decides the partitioning view or operator that a call adds to the registry. Base of DataStream.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from headrace.datastream.key_selectors import key_function
from headrace.datastream.operator_handle import OperatorHandle
from headrace.datastream.streams.connected_streams import BroadcastStream
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions import Partitioner
from headrace.functions.checks import check_or_callable
from headrace.graph import partitioners
from headrace.graph.specs import OperatorSpec
from headrace.graph.transformations import TransformationKind
from headrace.state.descriptors import MapStateDescriptor
from headrace.types.declared_types import shown_type
from headrace.types.typeinfo import TypeInformation

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment
    from headrace.datastream.streams.data_stream import DataStream


class PartitionedStream(OperatorHandle):
    """Operations of a stream that do not look at its elements.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.from_collection([1]).rebalance().transformation.partitioner.name
    'REBALANCE'
    """

    is_keyed = False

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        """Return the environment that this stream belongs to."""
        return self._env

    def get_type(self) -> TypeInformation:
        """Return the type of the elements; a stream without a declared type has that of pickled Python objects.

        >>> from headrace.common import Types
        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1], Types.INT()).get_type(), env.from_collection([1]).get_type()
        (Integer, PickledByteArrayTypeInfo)
        """
        return shown_type(self.transformation.output_type)

    def get_execution_config(self) -> Any:
        """Return the execution configuration of the environment."""
        return self._env.get_config()

    def shuffle(self) -> DataStream:
        """Send each element to a random subtask of the next operator."""
        return self._partitioned(partitioners.Shuffle())

    def rebalance(self) -> DataStream:
        """Send the elements to all subtasks of the next operator, round robin."""
        return self._partitioned(partitioners.Rebalance())

    def rescale(self) -> DataStream:
        """Send the elements to a subset of the subtasks of the next operator, round robin."""
        return self._partitioned(partitioners.Rescale())

    def forward(self) -> DataStream:
        """Send the elements to the subtask with the same index. Both operators need the same parallelism."""
        return self._partitioned(partitioners.Forward())

    def global_(self) -> DataStream:
        """Send all elements to the first subtask of the next operator.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> env.from_collection([1]).global_().map(str).get_name()
        'Map'
        """
        return self._partitioned(partitioners.Global())

    @overload
    def broadcast(self) -> DataStream: ...
    @overload
    def broadcast(
        self, broadcast_state_descriptor: MapStateDescriptor, *other_broadcast_state_descriptors: MapStateDescriptor
    ) -> BroadcastStream: ...
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor | None = None,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> DataStream | BroadcastStream:
        """Send each element to all subtasks of the next operator. With descriptors, the elements fill broadcast state."""
        if broadcast_state_descriptor is None:
            return self._partitioned(partitioners.Broadcast())
        descriptors = [broadcast_state_descriptor, *other_broadcast_state_descriptors]
        for descriptor in descriptors:
            if not isinstance(descriptor, MapStateDescriptor):
                raise TypeMismatchError("broadcast_state_descriptor must be MapStateDescriptor", seen=descriptor)
        return BroadcastStream(self._partitioned(partitioners.Broadcast()), descriptors)

    def partition_custom(self, partitioner: Any, key_selector: Any) -> DataStream:
        """Send each element to the subtask that ``partitioner(key, number_of_subtasks)`` returns.

        >>> from headrace.datastream import StreamExecutionEnvironment
        >>> env = StreamExecutionEnvironment.get_execution_environment()
        >>> spread = env.from_collection([1, 2]).partition_custom(
        ...     lambda key, count: key % count, lambda element: element
        ... )
        """
        from headrace.datastream.streams.data_stream import NameableView

        check_or_callable(
            partitioner, Partitioner, "Parameter partitioner should be type of Partitioner or a callable function."
        )
        choose = partitioner.partition if isinstance(partitioner, Partitioner) else partitioner
        selector = key_function(key_selector, self.transformation.output_type)
        view = self._view(partitioners.Custom(choose, selector))
        return NameableView(self._env, view, "_keyed_stream_values_operator")

    def one_input_operator(self, spec: OperatorSpec, name: str, output_type: TypeInformation | None) -> DataStream:
        """Add an operator whose input is this stream."""
        return self._add(spec, name, output_type)

    def two_input_operator(
        self, second: DataStream, spec: OperatorSpec, name: str, output_type: TypeInformation | None
    ) -> DataStream:
        """Add an operator whose inputs are this stream and ``second``."""
        operator = self._env.registry.add(
            TransformationKind.OPERATOR,
            (self._id, second.transformation_id),
            spec=spec,
            name=name,
            output_type=output_type,
        )
        return self._stream(operator)

    def beside(self, spec: OperatorSpec, name: str, output_type: TypeInformation | None) -> DataStream:
        """Add an operator with the parallelism of this stream, so that no exchange is needed between them."""
        t = self.transformation
        while t.kind is not TransformationKind.OPERATOR:
            t = self._env.registry.get(t.inputs[0])
        stream = self._add(spec, name, output_type)
        same = 1 if t.non_parallel else t.parallelism
        self._env.registry.update(stream.transformation_id, parallelism=same)
        return stream

    def _stream(self, transformation_id: int) -> DataStream:
        from headrace.datastream.streams.data_stream import DataStream

        return DataStream(self._env, transformation_id)

    def _add(self, spec: OperatorSpec, name: str, output_type: TypeInformation | None) -> DataStream:
        operator = self._env.registry.add(
            TransformationKind.OPERATOR, (self._id,), spec=spec, name=name, output_type=output_type
        )
        return self._stream(operator)

    def _view(self, partitioner: partitioners.Partitioner) -> int:
        return self._env.registry.add(
            TransformationKind.PARTITION,
            (self._id,),
            partitioner=partitioner,
            output_type=self.transformation.output_type,
            name="Partition",
        )

    def _partitioned(self, partitioner: partitioners.Partitioner) -> DataStream:
        return self._stream(self._view(partitioner))

    def _check_neighbour(self, other: object, call: str) -> None:
        if not isinstance(other, PartitionedStream):
            raise TypeMismatchError(f"{call} takes a stream", seen=other, expected="a DataStream")
        if other.get_execution_environment() is not self._env:
            raise InvalidProgramError(
                f"{call} takes streams of the same environment", remedy="build both with one StreamExecutionEnvironment"
            )
