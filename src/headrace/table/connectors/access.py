"""TableAccess: how the planner reads and writes a table. It is the `source` of the analyser's `ResolvedTable`.

1. A table with options belongs to a connector: its factory makes the source or the sink.
2. A table of a stream, or of elements of the program, has its source already.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from headrace.table.connectors.base import ConnectorContext, TableSink, TableSource
from headrace.table.errors import SqlValidationError
from headrace.types.logical_types import RowType

Pairs = tuple[tuple[str, str], ...]


class TableAccess(ABC):
    """Makes the sources and sinks of one table. `table` is its `ResolvedTable`, `options` those of an OPTIONS hint."""

    @abstractmethod
    def source(
        self, table: Any, options: Pairs = (), *, batch: bool = False, settings: Mapping[str, str] | None = None
    ) -> TableSource:
        """Return a source of the columns of `table.schema.source_type`."""

    def sink(
        self,
        table: Any,
        options: Pairs = (),
        *,
        overwrite: bool = False,
        static_partition: Mapping[str, Any] | None = None,
        batch: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> TableSink:
        """Return a sink for the columns of `table.schema.sink_type`."""
        raise SqlValidationError(
            f"The table '{'.'.join(table.name)}' is made of a stream or of elements: it cannot be written to",
            remedy="create a table with a connector",
        )


class ConnectorAccess(TableAccess):
    """The access to a table with a connector."""

    def source(
        self, table: Any, options: Pairs = (), *, batch: bool = False, settings: Mapping[str, str] | None = None
    ) -> TableSource:
        """Return the source that the connector's factory makes."""
        from headrace.table.connectors.registry import factory_of

        context = _context(table, table.schema.source_type, table.schema.source_columns, options, batch, settings)
        factory = factory_of(context)
        for index, key in context.metadata:
            if key not in factory.metadata:
                raise SqlValidationError(
                    f"Invalid metadata key '{key}' in column '{context.row_type.fields[index].name}' of table "
                    f"'{context.label}'",
                    expected=_listed(factory.metadata) or f"no metadata: the connector '{factory.identifier}' has none",
                )
        return factory.source(context)

    def sink(
        self,
        table: Any,
        options: Pairs = (),
        *,
        overwrite: bool = False,
        static_partition: Mapping[str, Any] | None = None,
        batch: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> TableSink:
        """Return the sink that the connector's factory makes."""
        from headrace.table.connectors.registry import factory_of

        context = _context(table, table.schema.sink_type, table.schema.sink_columns, options, batch, settings)
        if context.metadata:
            _, key = context.metadata[0]
            raise SqlValidationError(
                f"Table '{context.label}' declares the persistable metadata column '{key}', but its connector writes none",
                remedy="declare the column as METADATA VIRTUAL",
            )
        return factory_of(context).sink(context, overwrite, static_partition)


class SourceAccess(TableAccess):
    """The access to a table whose source is known: a stream, or elements of the program."""

    def __init__(self, source: TableSource) -> None:
        """Keep the source."""
        self._source = source

    def source(
        self, table: Any, options: Pairs = (), *, batch: bool = False, settings: Mapping[str, str] | None = None
    ) -> TableSource:
        """Return the source."""
        if options:
            raise SqlValidationError(
                f"The table '{'.'.join(table.name)}' has no connector, so that hints cannot set options",
                seen=_listed(dict(options)),
            )
        return self._source


def _context(
    table: Any,
    row_type: RowType,
    columns: tuple[Any, ...],
    options: Pairs,
    batch: bool,
    settings: Mapping[str, str] | None,
) -> ConnectorContext:
    settings = settings or {}
    metadata = tuple(
        (index, column.metadata_key or column.name)
        for index, column in enumerate(columns)
        if column.kind.value == "metadata"
    )
    return ConnectorContext(
        name=table.name,
        row_type=row_type,
        options={**dict(table.options), **dict(options)},
        metadata=metadata,
        partition_keys=tuple(table.partitioned_by),
        primary_key=tuple(table.schema.primary_key),
        batch=batch,
        time_zone=settings.get("table.local-time-zone", "UTC"),
        settings=settings,
    )


def _listed(names: Any) -> str:
    return ", ".join(sorted(names))
