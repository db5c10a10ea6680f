"""Which columns of a relation are the start, end and time of a window: needed to find window aggregations and joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headrace.table.plan.logical import Expand, Rank
from headrace.table.plan.relations import (
    Aggregate,
    Correlate,
    Filter,
    Join,
    Over,
    Project,
    Relation,
    SetOperation,
    Window,
    WindowTable,
)
from headrace.table.plan.rex import InputRef, Rex
from headrace.types.logical_types import LocalZonedTimestampType, TimeAttribute


@dataclass(frozen=True)
class WindowColumns:
    """The columns with the window's start, end and time, as far as the relation has them."""

    window: Window
    event_time: bool
    local: bool
    """Whether the time of the rows is a TIMESTAMP, so that windows need no time zone."""
    start: frozenset[int] = frozenset()
    end: frozenset[int] = frozenset()
    time: frozenset[int] = frozenset()

    def moved(self, places: dict[int, list[int]]) -> WindowColumns | None:
        """Return the columns at other places; None if start or end are gone."""
        found = [
            frozenset(place for column in columns for place in places.get(column, ()))
            for columns in (self.start, self.end, self.time)
        ]
        if not found[0] or not found[1]:
            return None
        return replace(self, start=found[0], end=found[1], time=found[2])

    @property
    def columns(self) -> frozenset[int]:
        """Return all columns about the window."""
        return self.start | self.end | self.time

    def same_kind(self, other: WindowColumns) -> bool:
        """Return whether both are windows of the same sizes."""
        one, two = self.window, other.window
        return (one.kind, one.size, one.slide, one.offset) == (two.kind, two.size, two.slide, two.offset)


def attribute_of(relation: Relation, column: int) -> TimeAttribute | None:
    """Return which time attribute a column is."""
    return getattr(relation.row_type.fields[column].data_type, "time_attribute", None)


def window_columns(relation: Relation) -> WindowColumns | None:  # noqa: PLR0911 - one for each kind
    """Return the columns of a relation that are about windows; None if there are none."""
    match relation:
        case WindowTable(input=below, window=window):
            width = len(below.row_type)
            return WindowColumns(
                window,
                attribute_of(below, window.time) is not TimeAttribute.PROCTIME,
                is_local(below, window.time),
                frozenset((width,)),
                frozenset((width + 1,)),
                frozenset((width + 2,)),
            )
        case Project(input=below, expressions=expressions):
            found = window_columns(below)
            return None if found is None else found.moved(projected_places(expressions))
        case Filter(input=below) | Over(input=below) | Rank(input=below) | Correlate(left=below):
            return window_columns(below)
        case Expand(input=below, projections=projections):
            found = window_columns(below)
            kept = [place for place, each in enumerate(zip(*projections)) if len(set(each)) == 1]
            places = {column: [p for p in at if p in kept] for column, at in projected_places(projections[0]).items()}
            return None if found is None else found.moved(places)
        case Aggregate(input=below, groups=groups):
            found = window_columns(below)
            return None if found is None else found.moved({group: [place] for place, group in enumerate(groups)})
        case SetOperation(kind="UNION", left=left, right=right):
            one, other = window_columns(left), window_columns(right)
            if one is None or other is None or not one.same_kind(other):
                return None
            shared = replace(one, start=one.start & other.start, end=one.end & other.end, time=one.time & other.time)
            return shared if shared.start and shared.end else None
        case Join(left=left, right=right, kind=kind):
            return _of_join(relation, left, right, kind)
    return None


def _of_join(relation: Join, left: Relation, right: Relation, kind: str) -> WindowColumns | None:
    from headrace.table.plan.conversion.join_conditions import analysed

    one, other = window_columns(left), window_columns(right)
    if one is None or other is None:
        return None
    keys = analysed(relation)
    if not joins_windows(one, other, keys.left_keys, keys.right_keys):
        return None
    if kind in ("RIGHT", "FULL"):
        return None
    return one


def joins_windows(
    one: WindowColumns, other: WindowColumns, left_keys: Sequence[int], right_keys: Sequence[int]
) -> bool:
    """Return whether equal keys of a join compare the starts and the ends of windows."""
    pairs = list(zip(left_keys, right_keys))
    starts = any(left in one.start and right in other.start for left, right in pairs)
    return starts and any(left in one.end and right in other.end for left, right in pairs)


def projected_places(expressions: Sequence[Rex]) -> dict[int, list[int]]:
    """Return for each column of the input where a projection has it."""
    places: dict[int, list[int]] = {}
    for place, rex in enumerate(expressions):
        if isinstance(rex, InputRef):
            places.setdefault(rex.index, []).append(place)
    return places


def is_local(relation: Relation, column: int) -> bool:
    """Return whether a time column is a TIMESTAMP without time zone."""
    return not isinstance(relation.row_type.fields[column].data_type, LocalZonedTimestampType)
