"""What public sources and sinks are, and how a stream is attached to them.

Decides the shapes only: a public source gives a `headrace.connectors.Source`, which the runtime reads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, Any

from headrace.common.output_tag import OutputTag
from headrace.compatibility.java_objects import NoJava
from headrace.connectors.base.sink import Sink as SinkDefinition
from headrace.connectors.base.source import Source as SourceDefinition
from headrace.errors import TypeMismatchError
from headrace.graph.specs import StagedSink
from headrace.types.typeinfo import TypeInformation

if TYPE_CHECKING:
    from headrace.datastream.streams.data_stream import DataStream

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]


class Source(NoJava):
    """Base of the sources that `StreamExecutionEnvironment.from_source` takes.

    >>> from headrace.datastream.connectors.number_seq import NumberSequenceSource
    >>> isinstance(NumberSequenceSource(1, 3), Source)
    True
    """

    def __init__(self, source: SourceDefinition) -> None:
        """Wrap the definition that the runtime reads."""
        if not isinstance(source, SourceDefinition):
            raise TypeMismatchError(
                "A source wraps a definition of headrace.connectors",
                seen=source,
                expected="a headrace.connectors.base.source.Source",
                remedy="Java sources cannot run: use a connector of headrace.datastream.connectors",
            )
        self._definition = source

    def get_definition(self) -> SourceDefinition:
        """Give the definition that the runtime reads."""
        return self._definition


class Sink(NoJava):
    """Base of the sinks that `DataStream.sink_to` takes.

    >>> from headrace.datastream.connectors.file_system import FileSink
    >>> issubclass(FileSink, Sink)
    True
    """

    def __init__(self, sink: Any) -> None:
        """Keep the definition of the sink, a `headrace.connectors.base.sink.Sink`."""
        self._sink = sink

    def get_definition(self) -> Any:
        """Give the definition that the runtime writes with."""
        return self._sink

    def definition_for(self, type_info: TypeInformation | None) -> Any:
        """Give the definition for elements of a type."""
        del type_info
        return self.get_definition()


class DeliveryGuarantee(Enum):
    """How often a record can arrive in the outer system when the job fails and goes on.

    >>> DeliveryGuarantee.EXACTLY_ONCE.name
    'EXACTLY_ONCE'
    """

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2


class StreamTransformer(ABC):
    """Changes a stream before it reaches a sink.

    >>> class Text(StreamTransformer):
    ...     def apply(self, ds):
    ...         return ds.map(str)
    >>> isinstance(Text(), StreamTransformer)
    True
    """

    @abstractmethod
    def apply(self, ds: DataStream) -> DataStream:
        """Give the stream that the sink takes."""


class SupportsPreprocessing(ABC):
    """A sink that changes the stream before it takes it.

    >>> SupportsPreprocessing.__abstractmethods__
    frozenset({'get_transformer'})
    """

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """Give what changes the stream, None for nothing."""


def dead_letter_tag(output_tag: object) -> str:
    """Give the id of the tag that a program names for records that cannot be read."""
    if not isinstance(output_tag, OutputTag):
        raise TypeMismatchError("set_dead_letter_output takes an OutputTag", seen=output_tag)
    return output_tag.tag_id


def prepared_for(sink: object, stream: DataStream) -> tuple[DataStream, StagedSink]:
    """Give the stream that the sink takes, and the sink as the graph has it; `DataStream.sink_to` calls it."""
    if isinstance(sink, SupportsPreprocessing) and (transformer := sink.get_transformer()) is not None:
        stream = transformer.apply(stream)
    definition = sink.definition_for(stream.transformation.output_type) if isinstance(sink, Sink) else sink
    if not isinstance(definition, SinkDefinition):
        raise TypeMismatchError(
            "sink_to takes a sink of headrace.datastream.connectors",
            seen=sink,
            expected="a Sink",
            remedy="a SinkFunction goes to add_sink(); Java sinks cannot run",
        )
    steps = ("Writer", "Committer") if definition.commits() else ("Writer",)
    return stream, StagedSink(definition, stream.transformation.output_type, steps)
