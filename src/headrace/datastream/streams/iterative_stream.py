"""IterativeStream: a loop in a program, created by `DataStream.iterate`.

Checks that the loop is valid. In the graph, which has no cycles, the loop is a source and a sink: records that reach the
sink come out of the source in the next epoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.feedback import FeedbackSource
from headrace.datastream.streams.data_stream import DataStream
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.graph.specs import FeedbackSink, SourceSpec
from headrace.graph.transformations import TransformationKind, TransformationRegistry

if TYPE_CHECKING:
    from headrace.datastream.stream_execution_environment import StreamExecutionEnvironment


class IterativeStream(DataStream):
    """The start of a loop; `close_with` sets the stream that is fed back.

    >>> from headrace.common import Configuration
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> configuration = Configuration().set_string("headrace.executor", "local")
    >>> env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)
    >>> loop = env.from_collection([1, 5]).iterate()
    >>> halved = loop.map(lambda number: number / 2)
    >>> again = loop.close_with(halved.filter(lambda number: number > 1))
    >>> sorted(halved.filter(lambda number: number <= 1).execute_and_collect())
    [0.5, 0.625]
    """

    def __init__(self, env: StreamExecutionEnvironment, transformation_id: int, feedback_id: str) -> None:
        """Programs call `DataStream.iterate`."""
        super().__init__(env, transformation_id)
        self._feedback_id = feedback_id
        self._closed = False

    def close_with(self, feedback_stream: DataStream) -> DataStream:
        """Feed the elements of ``feedback_stream`` back to the start of the loop. Return that stream."""
        self._check_neighbour(feedback_stream, "close_with")
        if self._closed:
            raise InvalidProgramError(
                "The iteration is already closed", remedy="call union() on the streams before close_with()"
            )
        if self._id not in _ancestors(self._env.registry, feedback_stream.transformation_id):
            raise InvalidProgramError(
                "Cannot close an iteration with a feedback DataStream that does not originate from said iteration.",
                remedy="build the feedback stream from the result of iterate()",
            )
        own, other = self.transformation.output_type, feedback_stream.transformation.output_type
        if own is not None and own != other:
            raise TypeMismatchError(
                "The feedback stream has another type than the iteration",
                seen=feedback_stream.get_type(),
                expected=str(own),
                remedy="declare the output type of the last operator of the loop",
            )
        registry = self._env.registry
        head = registry.get(registry.get(self._id).inputs[1])
        registry.add(
            TransformationKind.OPERATOR,
            (feedback_stream.transformation_id,),
            spec=FeedbackSink(self._feedback_id, own),
            name=f"IterationSink-{self._id}",
            is_sink=True,
            parallelism=head.parallelism,
        )
        self._closed = True
        return feedback_stream


def iteration(stream: DataStream, max_wait_time_millis: int) -> IterativeStream:
    """Start a loop at ``stream``."""
    registry = stream.get_execution_environment().registry
    t = registry.get(stream.transformation_id)
    while t.kind is not TransformationKind.OPERATOR:
        t = registry.get(t.inputs[0])
    output_type = stream.transformation.output_type
    feedback_id = f"iteration-{stream.transformation_id}-{len(registry)}"
    head = registry.add(
        TransformationKind.OPERATOR,
        (),
        spec=SourceSpec(
            FeedbackSource(feedback_id, output_type, max_wait_time_millis), WatermarkStrategy.no_watermarks()
        ),
        name=f"IterationSource-{stream.transformation_id}",
        output_type=output_type,
        parallelism=1 if t.non_parallel else t.parallelism,
    )
    both = registry.add(
        TransformationKind.UNION, (stream.transformation_id, head), output_type=output_type, name="Iteration"
    )
    return IterativeStream(stream.get_execution_environment(), both, feedback_id)


def check_iterations(program: TransformationRegistry, batch: bool) -> None:
    """Reject loops that are not closed, and all loops in batch mode."""
    sinks = {t.spec.feedback_id for t in program if isinstance(t.spec, FeedbackSink)}
    for t in program:
        if isinstance(t.spec, SourceSpec) and isinstance(t.spec.source, FeedbackSource):
            if batch:
                raise InvalidProgramError("Iterations are not supported in BATCH execution mode.", operator_name=t.name)
            if t.spec.source.feedback_id not in sinks:
                raise InvalidProgramError(
                    "Iteration does not have any feedback edges.",
                    operator_name=t.name,
                    remedy="call close_with() on the result of iterate()",
                )


def _ancestors(registry: TransformationRegistry, number: int) -> set[int]:
    found: set[int] = set()
    waiting = [number]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += registry.get(current).inputs
    return found
