"""HybridSource: sources one after the other; the names are those of `pyflink.datastream.connectors.hybrid_source`."""

from __future__ import annotations

from headrace.connectors.base.definitions import Source
from headrace.connectors.hybrid.source import Hybrid
from headrace.errors import TypeMismatchError

__all__ = ["HybridSource", "HybridSourceBuilder"]


class HybridSource(Source):
    """Reads a bounded source to its end, then the next one; the last may be unbounded.

    >>> from headrace.datastream.connectors.number_seq import NumberSequenceSource
    >>> source = HybridSource.builder(NumberSequenceSource(1, 3)).add_source(NumberSequenceSource(4, 6)).build()
    >>> isinstance(source, Source)
    True
    """

    @staticmethod
    def builder(first_source: Source) -> HybridSourceBuilder:
        """Start with the source that is read first."""
        return HybridSourceBuilder(first_source)


class HybridSourceBuilder:
    """Collects the sources in their order.

    >>> from headrace.datastream.connectors.number_seq import NumberSequenceSource
    >>> type(HybridSource.builder(NumberSequenceSource(1, 3)).build()).__name__
    'HybridSource'
    """

    def __init__(self, first_source: Source) -> None:
        """Programs call `HybridSource.builder`."""
        self._sources = [_checked(first_source)]

    def add_source(self, source: Source) -> HybridSourceBuilder:
        """Read this source when the one before it has come to its end."""
        self._sources.append(_checked(source))
        return self

    def build(self) -> HybridSource:
        """Make the source."""
        return HybridSource(Hybrid([source.get_definition() for source in self._sources]))


def _checked(given: object) -> Source:
    if not isinstance(given, Source):
        raise TypeMismatchError(
            "A HybridSource is made of sources", seen=given, expected="a source of headrace.datastream.connectors"
        )
    return given
