"""Specs of the operators that rank, deduplicate, sort and match rows, as frozen data. See `table_specs` for the form of rows."""

from __future__ import annotations

from dataclasses import dataclass

from headrace.graph.cep_pattern import PatternData
from headrace.graph.table_specs import Measures, SortOrder, TableSpec


@dataclass(frozen=True)
class Rank(TableSpec):
    """Top N: the rows with rank `start` to `end` per key. `function`: ROW_NUMBER, RANK or DENSE_RANK.

    `rank_column`: whether the rank (BIGINT) is the last column of the result. `end_column`: a column with the last rank.
    `upsert_key`: columns that identify a row within its key, if the input is updated by upserts.
    """

    keys: tuple[int, ...]
    order_by: tuple[SortOrder, ...]
    start: int
    end: int | None
    rank_column: bool
    function: str = "ROW_NUMBER"
    end_column: int | None = None
    kinds: bool = False
    update_before: bool = True
    upsert_key: tuple[int, ...] | None = None
    ttl: int = 0
    batch: bool = False
    label = "Rank"


@dataclass(frozen=True)
class Deduplicate(TableSpec):
    """The first or last row per key by a time attribute. Keep-first in event time emits when the watermark passes."""

    keys: tuple[int, ...]
    time: int | None
    event_time: bool
    keep_last: bool
    kinds: bool = False
    update_before: bool = True
    emits_kinds: bool = True
    ttl: int = 0
    label = "Deduplicate"


@dataclass(frozen=True)
class WindowRank(TableSpec):
    """Top N (or deduplication: N is 1) per key and window; insert-only, emitted when the window ends.

    `window_end` is the column with the end of the window.
    """

    keys: tuple[int, ...]
    window_end: int
    order_by: tuple[SortOrder, ...]
    start: int
    end: int
    rank_column: bool
    event_time: bool = True
    time_zone: str = "UTC"
    local: bool = True
    label = "WindowRank"


@dataclass(frozen=True)
class TemporalSort(TableSpec):
    """ORDER BY a time attribute first: rows are emitted in order when the watermark (or clock) passes."""

    time: int
    order_by: tuple[SortOrder, ...]
    event_time: bool = True
    label = "TemporalSort"


@dataclass(frozen=True)
class Sort(TableSpec):
    """ORDER BY, OFFSET, LIMIT at the end of a bounded input; streaming top-N of all rows is `Rank` without keys."""

    order_by: tuple[SortOrder, ...]
    offset: int = 0
    limit: int | None = None
    kinds: bool = False
    label = "Sort"


@dataclass(frozen=True)
class Limit(TableSpec):
    """The first rows that arrive. In streaming mode over changes, use `Rank` without order."""

    offset: int
    limit: int | None
    label = "Limit"


@dataclass(frozen=True)
class Match(TableSpec):
    """MATCH_RECOGNIZE with one row per match. Result: the columns of `keys`, then the measures.

    `pattern` is one of `headrace.cep`; its conditions get rows. `order_by` has the columns of ORDER BY behind the time.
    """

    keys: tuple[int, ...]
    time: int
    pattern: PatternData
    measures: Measures
    order_by: tuple[SortOrder, ...] = ()
    event_time: bool = True
    label = "Match"
