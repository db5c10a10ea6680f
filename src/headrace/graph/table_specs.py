"""Specs of the operators of tables, as frozen data. The planner makes them; `headrace.operators.table` runs them.

Rows are tuples. Where an input is marked `kinds`, each row has one more element at its end: the kind of the change (0 +I,
1 -U, 2 +U, 3 -D). Where `emits_kinds`, so do the results. `columns` are numbers of columns. Times of rows are columns
with microseconds; sizes and bounds are milliseconds.

The classes of `Protocol`s here are made by `headrace.table`; operators know nothing else of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from headrace.graph.specs import OperatorSpec

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(4)
"""The kinds of changes."""


class Program(Protocol):
    """Projections and a filter over rows or columns; picklable."""

    def rows(self, rows: list[tuple[Any, ...]], kinds: bool = False) -> list[tuple[Any, ...]]:
        """Return the results for the rows that pass the filter. With `kinds`, the last element is carried over."""
        ...

    def columns(self, batch: Any, kinds: bool = False) -> Any:
        """Return the same for a record batch."""
        ...

    def at_watermark(self, timestamp: int) -> None:
        """Note the current watermark in milliseconds: expressions may ask for it."""
        ...


class Condition(Protocol):
    """A condition of a join; picklable."""

    def pair(self, left: tuple[Any, ...], right: tuple[Any, ...]) -> bool:
        """Return whether a pair of rows (without kinds) meets the condition; null counts as false."""
        ...


class RowFunction(Protocol):
    """Computes one value from a row, such as a watermark in microseconds; picklable."""

    def value(self, row: tuple[Any, ...]) -> Any:
        """Return the value for a row."""
        ...

    def column(self, batch: Any) -> Any:
        """Return the values for a record batch, as an array."""
        ...


class Measures(Protocol):
    """Computes the measures of a match; picklable."""

    def row(self, match: dict[str, list[tuple[Any, ...]]]) -> tuple[Any, ...]:
        """Return the values for the rows of each pattern variable."""
        ...


class Accumulation(Protocol):
    """The running form of an aggregate function: see `headrace.table.functions.definition.Accumulation`."""

    can_retract: bool

    def create(self) -> Any: ...
    def add(self, accumulator: Any, *arguments: Any) -> Any: ...
    def retract(self, accumulator: Any, *arguments: Any) -> Any: ...
    def merge(self, accumulator: Any, other: Any) -> Any: ...
    def result(self, accumulator: Any) -> Any: ...


@dataclass(frozen=True)
class ColumnAggregate:
    """An aggregate that operators can compute over columns of numbers, with the accumulators of its `Accumulation`.

    `kind`: COUNT (accumulator: int), SUM, MIN, MAX (a number or None), AVG (sum and count). `type` is numpy's name of the
    type of the sum or extreme; integers wrap around.
    """

    kind: str
    type: str = "int64"


@dataclass(frozen=True)
class AggregateSpec:
    """One aggregate of a list: the running form and the columns it reads."""

    accumulation: Accumulation
    arguments: tuple[int, ...]
    filter: int | None = None
    """A BOOLEAN column; only rows where it is true count."""
    distinct: bool = False
    order_by: tuple[SortOrder, ...] = ()
    columns: ColumnAggregate | None = None
    """How to compute it over whole columns, if that is possible."""
    name: str = ""
    """The name of the function, such as RANK: OVER computes some functions from the position of a row."""


@dataclass(frozen=True)
class SortOrder:
    """A column to sort by."""

    column: int
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class TimeWindow:
    """TUMBLE, HOP, CUMULATE or SESSION; milliseconds. For SESSION, `size` is the gap."""

    kind: str
    size: int
    slide: int = 0
    offset: int = 0


@dataclass(frozen=True)
class TableKey:
    """The key of a row, for the exchange and for state: one column's value, a tuple of several, or () for none."""

    columns: tuple[int, ...]

    def __call__(self, row: tuple[Any, ...]) -> Any:
        """Return the key of a row.

        >>> TableKey((1,))((7, "a")), TableKey((1, 0))((7, "a")), TableKey(())((7, "a"))
        ('a', ('a', 7), ())
        """
        columns = self.columns
        return row[columns[0]] if len(columns) == 1 else tuple([row[column] for column in columns])


@dataclass(frozen=True)
class TableSpec(OperatorSpec):
    """Base of the specs of tables. `headrace.operators.table.factory` makes their operators."""

    types: tuple[Any, ...] = field(default=(), kw_only=True)
    """The row type of each input (without the kind), where the operator works on columns or encodes state."""
    output_type: Any = field(default=None, kw_only=True)
    """The row type of the results (without the kind)."""
    title: str = field(default="", kw_only=True)

    def create_operator(self) -> Any:
        """Return the running operator."""
        from importlib import import_module  # operators are above this package

        return import_module("headrace.operators.table.factory").create(self)


# -- one input, no state ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Calc(TableSpec):
    """Filter and project."""

    program: Program
    kinds: bool = False
    label = "Calc"


@dataclass(frozen=True)
class AssignWatermarks(TableSpec):
    """Watermarks from the rows: the greatest value of `watermark` so far, at most one per batch and interval."""

    time: int
    watermark: RowFunction
    idle_timeout: int | None = None
    kinds: bool = False
    label = "WatermarkAssigner"


@dataclass(frozen=True)
class Expand(TableSpec):
    """GROUPING SETS: each row once per projection."""

    programs: tuple[Program, ...]
    kinds: bool = False
    label = "Expand"


@dataclass(frozen=True)
class Correlate(TableSpec):
    """Each row with the rows of a table function: `function(row)` returns them. LEFT keeps rows without results."""

    function: Callable[[tuple[Any, ...]], Iterable[tuple[Any, ...]]]
    width: int
    """The number of columns that the function returns."""
    left_outer: bool = False
    condition: Condition | None = None
    kinds: bool = False
    label = "Correlate"


@dataclass(frozen=True)
class DropUpdateBefore(TableSpec):
    """Leaves out -U rows, for a consumer that needs only upserts."""

    label = "DropUpdateBefore"


@dataclass(frozen=True)
class WindowTable(TableSpec):
    """A window table function that is not merged into an aggregation: adds window_start, window_end and window_time."""

    window: TimeWindow
    time: int
    event_time: bool = True
    partition_by: tuple[int, ...] = ()
    """For SESSION, whose windows are per key: the input is partitioned by it."""
    kinds: bool = False
    time_zone: str = "UTC"
    """For rowtimes with time zone: windows are aligned to local time, and start and end are local."""
    local: bool = True
    """Whether the rowtime is TIMESTAMP (already local)."""
    label = "WindowTableFunction"


# -- aggregation --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GroupAggregate(TableSpec):
    """GROUP BY without windows. Result: the key columns, then the aggregates.

    A group without rows is deleted; without keys there is one row even of no input (in batch mode, or once a row came).
    With `mini_batch`, results are emitted once per batch and key. `distinct_only` (no aggregates) is SELECT DISTINCT.
    """

    keys: tuple[int, ...]
    calls: tuple[AggregateSpec, ...]
    kinds: bool = False
    emits_kinds: bool = True
    update_before: bool = True
    mini_batch: bool = False
    ttl: int = 0
    batch: bool = False
    """Emit final results at the end of the input, insert-only."""
    label = "GroupAggregate"


@dataclass(frozen=True)
class WindowAggregate(TableSpec):
    """Aggregates per key and window, emitted when the watermark (or clock) passes the end.

    Result: the keys, the aggregates, then the `properties`: "start", "end", "rowtime", "proctime" (internal timestamps).
    `attached`: the columns (start, end) of windows that the input already has; then rows are grouped by them and nothing is
    assigned. With `local`, this operator stands before the exchange and emits partial accumulators.
    """

    window: TimeWindow
    time: int
    keys: tuple[int, ...]
    calls: tuple[AggregateSpec, ...]
    properties: tuple[str, ...] = ("start", "end")
    event_time: bool = True
    attached: tuple[int, int] | None = None
    kinds: bool = False
    time_zone: str = "UTC"
    local: bool = True
    """Whether the rowtime is TIMESTAMP (already local); else windows are aligned in `time_zone`."""
    batch: bool = False
    by_rows: bool = False
    """Windows of the Table API that count rows: `size` and `slide` are numbers of rows."""
    early_fire: int = 0
    late_fire: int = 0
    allowed_lateness: int = 0
    label = "WindowAggregate"


@dataclass(frozen=True)
class LocalWindowAggregate(TableSpec):
    """The part of a `WindowAggregate` that stands before the exchange, where `final.calls` can merge."""

    final: WindowAggregate
    label = "LocalWindowAggregate"


@dataclass(frozen=True)
class GlobalWindowAggregate(TableSpec):
    """The part of a `WindowAggregate` behind the exchange: it takes the partial results of `LocalWindowAggregate`."""

    final: WindowAggregate
    label = "GlobalWindowAggregate"


@dataclass(frozen=True)
class OverFrame:
    """The frame of OVER: None is unbounded, 0 the current row, negative preceding; rows or milliseconds."""

    rows: bool
    start: int | None
    end: int | None = 0


@dataclass(frozen=True)
class OverAggregate(TableSpec):
    """Aggregates over the rows before each row. Result: the input's columns, then the aggregates.

    `time` is the rowtime or proctime column that ORDER BY names, None if rows are ordered by other columns (`order_by`,
    batch mode and Flink's non-time OVER).
    """

    keys: tuple[int, ...]
    time: int | None
    frame: OverFrame
    calls: tuple[AggregateSpec, ...]
    event_time: bool = True
    order_by: tuple[SortOrder, ...] = ()
    kinds: bool = False
    ttl: int = 0
    batch: bool = False
    label = "OverAggregate"


# -- changelogs ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ChangelogNormalize(TableSpec):
    """Turns upserts (and deletes by key) into a full changelog, per key."""

    keys: tuple[int, ...]
    update_before: bool = True
    ttl: int = 0
    condition: Program | None = None
    label = "ChangelogNormalize"


@dataclass(frozen=True)
class SinkMaterialize(TableSpec):
    """Orders changes by the sink's primary key, whose upsert key differs from that of the query (Flink's materializer)."""

    keys: tuple[int, ...]
    upsert_key: tuple[int, ...] | None
    ttl: int = 0
    label = "SinkMaterializer"


@dataclass(frozen=True)
class CheckNotNull(TableSpec):
    """Fails on (or drops) rows with nulls in NOT NULL columns of a sink; pads or trims CHAR and VARCHAR if asked."""

    columns: tuple[tuple[int, str], ...]
    drop: bool = False
    kinds: bool = False
    lengths: tuple[tuple[int, int, bool], ...] = ()
    """(column, length, whether to pad) for `table.exec.sink.type-length-enforcer=TRIM_PAD`."""
    label = "ConstraintEnforcer"


# -- between streams and tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FromStream(TableSpec):
    """Elements of a stream become rows: `convert` is called for each. Timestamps become the column `time`, if it is given."""

    convert: Any
    time: int | None = None
    label = "StreamToTable"


@dataclass(frozen=True)
class ToStream(TableSpec):
    """Rows become elements of a stream: `convert` is called for each. The column `time` is their timestamp, if it is given."""

    convert: Any
    time: int | None = None
    label = "TableToStream"
