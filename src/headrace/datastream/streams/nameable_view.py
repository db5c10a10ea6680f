"""NameableView: a view of a stream (side output, custom partitioning) that becomes an operator if it is configured.

In PyFlink these calls return an operator, so programs name them and set their parallelism. A view is free, so the
operator (an identity map) is only added if a program configures it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headrace.datastream.streams.data_stream import DataStream
from headrace.graph.specs import Map
from headrace.graph.transformations import Transformation, TransformationKind

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["NameableView"]


def identity(element: Any) -> Any:
    """Return the element unchanged.

    >>> identity(3)
    3
    """
    return element


class NameableView(DataStream):
    """A side output or a custom partitioning.

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
