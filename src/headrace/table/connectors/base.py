"""What a connector of tables is: a factory that makes sources and sinks from the options of a table.

The planner calls `CatalogTable.source` and `CatalogTable.sink`, which find the factory. Records between sources, operators
and sinks are rows in internal form (`headrace.table.functions.definition`); on streams that are not insert-only each has
its kind (0 +I, 1 -U, 2 +U, 3 -D) as one more element at the end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from headrace.table.changelog_mode import ChangelogMode
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.types.logical_types import DataType, RowType

if TYPE_CHECKING:
    from headrace.datastream import DataStream, StreamExecutionEnvironment
    from headrace.table.connectors.options import Option


@dataclass(frozen=True)
class ConnectorContext:
    """What a factory knows of the table. `row_type` has the columns to produce or to take, in this order."""

    name: tuple[str, ...]
    row_type: RowType
    options: Mapping[str, str]
    metadata: tuple[tuple[int, str], ...] = ()
    """Which columns of `row_type` are metadata, and their keys."""
    partition_keys: tuple[str, ...] = ()
    primary_key: tuple[str, ...] = ()
    batch: bool = False
    time_zone: str = "UTC"
    settings: Mapping[str, str] = field(default_factory=dict)
    """The options of the session."""

    @property
    def label(self) -> str:
        """The name of the table for messages."""
        return ".".join(self.name)


class TableSource(ABC):
    """Reads a table."""

    changelog_mode: ChangelogMode = ChangelogMode.insert_only()
    bounded: bool = True
    watermarks: bool = False
    """Whether the stream already has watermarks, which SOURCE_WATERMARK() uses."""

    @abstractmethod
    def stream(self, env: StreamExecutionEnvironment, name: str) -> DataStream:
        """Return the rows in internal form, with kinds if the changelog mode is not insert-only."""

    def projected(self, columns: tuple[int, ...]) -> TableSource | None:
        """Return a source of some columns only, in this order; None if it cannot skip columns."""
        del columns
        return None


class TableSink(ABC):
    """Writes a table."""

    @abstractmethod
    def changelog_mode(self, requested: ChangelogMode) -> ChangelogMode:
        """Return the kinds that the sink takes, given those that the query makes."""

    @abstractmethod
    def consume(self, stream: DataStream, name: str) -> Any:
        """Write the rows; they have kinds if the mode that was agreed on is not insert-only. Return the sink."""

    overwrites: bool = False
    """Whether the sink was made for INSERT OVERWRITE."""


class TableFactory(ABC):
    """Makes the sources and sinks of one connector. `options` are those that a table may have."""

    identifier: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    metadata: ClassVar[Mapping[str, DataType]] = {}
    """Metadata that columns may read, with their types."""

    def source(self, context: ConnectorContext) -> TableSource:
        """Return the source of a table."""
        raise SqlValidationError(
            f"Connector '{self.identifier}' can only be used as a sink. It cannot be used as a source.",
            seen=f"the table {context.label}",
        )

    def sink(
        self, context: ConnectorContext, overwrite: bool = False, static_partition: Mapping[str, Any] | None = None
    ) -> TableSink:
        """Return the sink of a table. Values of `static_partition` are in internal form."""
        del overwrite, static_partition
        raise SqlValidationError(
            f"Connector '{self.identifier}' can only be used as a source. It cannot be used as a sink.",
            seen=f"the table {context.label}",
        )


class LookupSource(ABC):
    """A source whose rows can be looked up by key; `TableSource`s that can be joined FOR SYSTEM_TIME AS OF have it too."""

    @abstractmethod
    def lookup(self, columns: tuple[int, ...]) -> Any:
        """Return a picklable callable of the key's values that returns a list of rows."""


def no_overwrite(identifier: str, overwrite: bool) -> None:
    """Refuse INSERT OVERWRITE for a connector that cannot do it."""
    if overwrite:
        raise SqlNotSupportedError(
            f"INSERT OVERWRITE requires a sink that can replace data, which '{identifier}' cannot",
            remedy="use INSERT INTO",
        )
