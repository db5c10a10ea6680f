"""The connector `blackhole`: takes all rows and drops them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_writer import EpochEnd, SinkWriter, WriterContext
from headrace.graph.specs import StagedSink
from headrace.table.connectors.base import ConnectorContext, TableFactory, TableSink
from headrace.table.connectors.options import Option, Options
from headrace.table.connectors.sinks import AnyChangesSink

if TYPE_CHECKING:
    from headrace.datastream import DataStream


class _Nothing(SinkWriter):
    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        """Drop the rows."""

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        """Stage nothing."""
        return []


class Blackhole(Sink):
    """A sink that drops everything.

    >>> Blackhole().takes_columns
    True
    """

    @property
    def takes_columns(self) -> bool:
        """Return True: columns are dropped as they are."""
        return True

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        """Return a writer that does nothing."""
        return _Nothing()


class BlackholeFactory(TableFactory):
    """Makes sinks that drop everything."""

    identifier = "blackhole"
    options = (Option("connector", required=True),)

    def sink(
        self, context: ConnectorContext, overwrite: bool = False, static_partition: Mapping[str, Any] | None = None
    ) -> TableSink:
        """Return a sink that drops every row."""
        del overwrite, static_partition
        Options(context.options, self.options, f"the table {context.label}")

        def write(stream: DataStream, kinds: bool, name: str) -> Any:
            del kinds
            return stream.sink_operator(StagedSink(Blackhole()), name)

        return AnyChangesSink(write)


FACTORY = BlackholeFactory()
