"""Specs of the operators that join tables, as frozen data. See `table_specs` for the form of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headrace.graph.table_specs import Condition, TableSpec


@dataclass(frozen=True)
class JoinSide:
    """What is known of one input of a join."""

    keys: tuple[int, ...]
    width: int
    kinds: bool = False
    unique_key: tuple[int, ...] | None = None
    """Columns that identify a row of this side; the join key itself may contain them."""
    time: int | None = None
    ttl: int = 0
    null_safe: tuple[bool, ...] = ()
    """Per key: whether null equals null (IS NOT DISTINCT FROM)."""


@dataclass(frozen=True)
class RegularJoin(TableSpec):
    """A join of two changing tables. `kind`: INNER, LEFT, RIGHT, FULL, SEMI or ANTI."""

    kind: str
    left: JoinSide
    right: JoinSide
    condition: Condition | None = None
    emits_kinds: bool = True
    update_before: bool = True
    batch: bool = False
    label = "Join"


@dataclass(frozen=True)
class IntervalJoin(TableSpec):
    """left.time + lower <= right.time <= left.time + upper. `kind`: INNER, LEFT, RIGHT or FULL."""

    kind: str
    left: JoinSide
    right: JoinSide
    lower: int
    upper: int
    event_time: bool = True
    condition: Condition | None = None
    label = "IntervalJoin"


@dataclass(frozen=True)
class WindowJoin(TableSpec):
    """Rows of both sides with equal keys and equal windows, emitted when the window ends. All kinds of joins.

    `left_end` and `right_end` are the columns with the ends of the windows.
    """

    kind: str
    left: JoinSide
    right: JoinSide
    left_end: int
    right_end: int
    condition: Condition | None = None
    event_time: bool = True
    time_zone: str = "UTC"
    local: bool = True
    label = "WindowJoin"


@dataclass(frozen=True)
class TemporalJoin(TableSpec):
    """Each left row with the version of the right row that was valid at its time; event time (or the latest version)."""

    kind: str
    left: JoinSide
    right: JoinSide
    event_time: bool = True
    condition: Condition | None = None
    label = "TemporalJoin"


@dataclass(frozen=True)
class LookupJoin(TableSpec):
    """Each left row with the rows that `lookup(key values)` finds in an external system."""

    kind: str
    lookup: Any
    """Has `open()`, `close()` and `rows(key: tuple) -> list of rows`."""
    keys: tuple[Any, ...]
    """Per key of the lookup: a column of the left row, or a constant as `("constant", value)`."""
    width: int
    condition: Condition | None = None
    kinds: bool = False
    cache_rows: int = 0
    """How many keys are remembered with their rows; 0: none."""
    cache_ttl: int = 0
    """How long, in milliseconds; 0: for ever."""
    label = "LookupJoin"
