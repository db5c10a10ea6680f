"""Public base classes of sources and sinks: what `from_source` and `sink_to` take.

Each wraps a definition (`headrace.connectors.base.source.Source` or `.sink.Sink`), which the runtime uses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.compatibility.no_jvm_object import NoJvmObject
from headrace.connectors.base.source import Source as SourceDefinition
from headrace.errors import TypeMismatchError
from headrace.types.typeinfo import TypeInformation

__all__ = ["DeliveryGuarantee", "Sink", "Source", "StreamTransformer", "SupportsPreprocessing"]


class Source(NoJvmObject):
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
        """Return the definition that the runtime reads."""
        return self._definition


class Sink(NoJvmObject):
    """Base of the sinks that `DataStream.sink_to` takes.

    >>> from headrace.datastream.connectors.file_system import FileSink
    >>> issubclass(FileSink, Sink)
    True
    """

    def __init__(self, sink: Any) -> None:
        """Keep the definition of the sink, a `headrace.connectors.base.sink.Sink`."""
        self._sink = sink

    def get_definition(self) -> Any:
        """Return the definition that the runtime writes with."""
        return self._sink

    def definition_for(self, type_info: TypeInformation | None) -> Any:
        """Return the definition for elements of a type."""
        return self.get_definition()


class DeliveryGuarantee(Enum):
    """How often a record can arrive in the external system when the job fails and recovers.

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
    def apply(self, ds: Any) -> Any:
        """Return the DataStream that the sink takes, made from the DataStream `ds`."""


class SupportsPreprocessing(ABC):
    """A sink that changes the stream before it takes it.

    >>> SupportsPreprocessing.__abstractmethods__
    frozenset({'get_transformer'})
    """

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """Return what changes the stream, None for nothing."""


def dead_letter_tag(output_tag: object) -> str:
    """Return the id of the tag that a program names for records that cannot be read."""
    if not isinstance(output_tag, OutputTag):
        raise TypeMismatchError("set_dead_letter_output takes an OutputTag", seen=output_tag)
    return output_tag.tag_id
