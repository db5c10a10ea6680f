"""Logical relations: what a query means, before it is decided how it runs.

The analyser and the Table API build them. `row_type` has the names and types of the columns; time attributes are part of
the types. Rules of `headrace.table.plan.rules` rewrite relations, `physical` chooses operators for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.table.plan.rex import AggregateCall, Frame, Rex, SortKey
from headrace.types.logical_types import RowType


@dataclass(frozen=True)
class Relation:
    """Rows of a type."""

    row_type: RowType

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """Return the relations that this one reads."""
        found = (getattr(self, name, None) for name in ("input", "left", "right"))
        return tuple(each for each in found if isinstance(each, Relation))


@dataclass(frozen=True)
class Scan(Relation):
    """A table of a catalog with its physical and metadata columns.

    `table` is the resolved `headrace.table.catalogs` table; `options` are those of an OPTIONS hint.
    """

    name: tuple[str, ...]
    table: Any = field(compare=False)
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Values(Relation):
    """Constant rows, in internal form."""

    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Project(Relation):
    """One column per expression. Expressions may contain `OverCall` until rules extract them."""

    input: Relation
    expressions: tuple[Rex, ...]


@dataclass(frozen=True)
class Filter(Relation):
    """The rows for which a condition is true. It may contain `Subquery` until rules turn these into joins."""

    input: Relation
    condition: Rex


@dataclass(frozen=True)
class WatermarkAssigner(Relation):
    """Event time: the column `time` becomes a rowtime attribute, `watermark` computes the watermark from a row."""

    input: Relation
    time: int
    watermark: Rex


@dataclass(frozen=True)
class Window:
    """A window over time. Sizes are in milliseconds. `kind`: TUMBLE, HOP, CUMULATE or SESSION.

    `size` is the (maximum) size, or the gap of a session; `slide` that of HOP or the step of CUMULATE. For windows of rows of
    the Table API (`by_rows`), sizes count rows.
    """

    kind: str
    time: int
    size: int
    slide: int = 0
    offset: int = 0
    partition_by: tuple[int, ...] = ()
    by_rows: bool = False


@dataclass(frozen=True)
class WindowTable(Relation):
    """A window table function: the input's columns, then window_start, window_end and window_time."""

    input: Relation
    window: Window


@dataclass(frozen=True)
class Aggregate(Relation):
    """GROUP BY: the group columns, then one column per call. Without groups there is always exactly one row.

    With `grouping_sets` (each a subset of `groups`), a row of the input counts once per set; columns outside of the set
    are null, and a column `$e` after the groups holds the set's number (Flink's expand id: bits of the absent columns).
    """

    input: Relation
    groups: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    grouping_sets: tuple[tuple[int, ...], ...] = ()
    hints: tuple[Any, ...] = ()
    """A pair `("STATE_TTL", (milliseconds,))`, or nothing."""


@dataclass(frozen=True)
class GroupWindowAggregate(Relation):
    """GROUP BY with a legacy group window (TUMBLE(ts, INTERVAL ...) in GROUP BY, or `window()` of the Table API).

    Columns: the groups, the calls, then the `properties`: start, end, rowtime, proctime.
    """

    input: Relation
    window: Window
    groups: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    properties: tuple[str, ...] = ()


@dataclass(frozen=True)
class OverWindow:
    """Calls that share partition, order and frame."""

    partition_by: tuple[int, ...]
    order_by: tuple[SortKey, ...]
    frame: Frame
    calls: tuple[AggregateCall, ...]


@dataclass(frozen=True)
class Over(Relation):
    """The input's columns, then the calls of each window in turn."""

    input: Relation
    windows: tuple[OverWindow, ...]


@dataclass(frozen=True)
class Join(Relation):
    """Two relations. `kind`: INNER, LEFT, RIGHT, FULL, SEMI or ANTI (these have the columns of the left side only)."""

    left: Relation
    right: Relation
    kind: str
    condition: Rex
    hints: tuple[Any, ...] = ()


@dataclass(frozen=True)
class TemporalJoin(Relation):
    """`left JOIN right FOR SYSTEM_TIME AS OF left.time ON condition`: the version of a row that was valid at a time.

    `kind`: INNER or LEFT. `time` is an expression over the left columns; with a processing time, the right side is looked
    up in the external system.
    """

    left: Relation
    right: Relation
    kind: str
    time: Rex
    condition: Rex
    hints: tuple[Any, ...] = ()


@dataclass(frozen=True)
class TableFunctionCall(Relation):
    """The rows that a table function returns for a row of the left side of a `Correlate` (or for no row).

    `function` has `rows(site)` like a scalar function, whose callable returns an iterable of row tuples; UNNEST is the
    function of that name. Arguments are expressions over the left columns.
    """

    function: Any
    arguments: tuple[Rex, ...]


@dataclass(frozen=True)
class Correlate(Relation):
    """Every row of the left side with the rows that a table function returns for it. `kind`: INNER or LEFT.

    `condition` is over left and right columns, like that of a join.
    """

    left: Relation
    right: TableFunctionCall
    kind: str
    condition: Rex | None = None


@dataclass(frozen=True)
class SetOperation(Relation):
    """UNION, INTERSECT or EXCEPT; without `all`, rows are distinct."""

    left: Relation
    right: Relation
    kind: str
    all: bool


@dataclass(frozen=True)
class Sort(Relation):
    """ORDER BY, OFFSET and LIMIT."""

    input: Relation
    keys: tuple[SortKey, ...]
    offset: int = 0
    limit: int | None = None


@dataclass(frozen=True)
class Match(Relation):
    """MATCH_RECOGNIZE. `pattern` is that of the syntax tree; expressions refer to rows by `PatternRef`s of the analyser."""

    input: Relation
    partition_by: tuple[int, ...]
    order_by: tuple[SortKey, ...]
    pattern: tuple[object, ...]
    definitions: tuple[tuple[str, Rex], ...]
    measures: tuple[tuple[str, Rex], ...]
    after_match: tuple[str, ...]
    within: int | None = None
    all_rows: bool = False
    subsets: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Sink(Relation):
    """INSERT INTO a table of a catalog; `row_type` is that of the table's columns that are written."""

    input: Relation
    name: tuple[str, ...]
    table: Any = field(compare=False)
    overwrite: bool = False
    static_partition: tuple[tuple[str, Any], ...] = ()
    options: tuple[tuple[str, str], ...] = field(default=())
