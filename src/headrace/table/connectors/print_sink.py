"""The connector `print`: writes every change to the standard output of the program, in Flink's form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headrace.graph.specs import PrintSink
from headrace.table.connectors.base import ConnectorContext, TableFactory, TableSink, no_overwrite
from headrace.table.connectors.options import Option, Options, boolean, integer
from headrace.table.connectors.sinks import AnyChangesSink
from headrace.table.row_texts import JavaRows
from headrace.types.typeinfo import Types

if TYPE_CHECKING:
    from headrace.datastream import DataStream


class PrintFactory(TableFactory):
    """Makes sinks that print."""

    identifier = "print"
    options = (
        Option("connector", required=True),
        Option("print-identifier"),
        Option("standard-error", boolean, False),
        Option("sink.parallelism", integer),
    )

    def sink(
        self, context: ConnectorContext, overwrite: bool = False, static_partition: Mapping[str, Any] | None = None
    ) -> TableSink:
        """Return a sink that prints every row with its kind."""
        del static_partition
        no_overwrite(self.identifier, overwrite)
        options = Options(context.options, self.options, f"the table {context.label}")
        row_type = context.row_type

        def write(stream: DataStream, kinds: bool, name: str) -> Any:
            texts = stream.map(JavaRows(row_type, kinds), Types.STRING())
            spec = PrintSink(options["print-identifier"], options["standard-error"], Types.STRING())
            sink = texts.sink_operator(spec, name)
            parallelism = options["sink.parallelism"]
            if parallelism is not None:
                sink.set_parallelism(parallelism)
            return sink

        return AnyChangesSink(write)


FACTORY = PrintFactory()
