"""Columns that nothing reads are dropped as early as possible.

`pruned` returns a relation that has at least the wanted columns, and where each of them is. Inputs of operators with state
have exactly the columns that are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from headrace.table.plan.logical import Expand, Rank
from headrace.table.plan.relations import (
    Aggregate,
    Correlate,
    Filter,
    GroupWindowAggregate,
    Join,
    Over,
    Project,
    Relation,
    Scan,
    SetOperation,
    Sort,
    Values,
    WatermarkAssigner,
    WindowTable,
)
from headrace.table.plan.rex import InputRef, Rex, input_columns, shifted
from headrace.table.plan.rules.rewriting import call_columns, moved_call, moved_keys, project
from headrace.types.logical_types import RowType

Places = dict[int, int]
"""Where the columns of the original relation are in the new one."""


def prune(relation: Relation) -> Relation:
    """Return the relation with the same columns, without those below that are not needed."""
    found, places = pruned(relation, set(range(len(relation.row_type))))
    return _exactly(found, places, range(len(relation.row_type)), relation.row_type)


def pruned(relation: Relation, wanted: set[int]) -> tuple[Relation, Places]:
    """Return a relation with at least the wanted columns, and their places in it."""
    handler = _HANDLERS.get(type(relation))
    if handler is None:
        inputs: dict[str, Any] = {}
        for name in ("input", "left", "right"):
            below = getattr(relation, name, None)
            if isinstance(below, Relation):
                inputs[name] = prune(below)
        same = all(getattr(relation, name) is below for name, below in inputs.items())
        return (relation if same else replace(relation, **inputs)), {i: i for i in range(len(relation.row_type))}
    return handler(relation, wanted)


def _exactly(found: Relation, places: Places, columns: Iterable[int], names: RowType | None = None) -> Relation:
    """Return exactly some columns of the original relation."""
    chosen = [places[column] for column in columns]
    given = None if names is None else names.field_names()
    if chosen == list(range(len(found.row_type))) and given in (None, found.row_type.field_names()):
        return found
    return project(found, chosen, given)


def _narrow(relation: Relation, wanted: set[int]) -> tuple[Relation, Places]:
    """Return exactly the wanted columns in their order; one column if none is wanted."""
    columns = sorted(wanted) or [0]
    found, places = pruned(relation, set(columns))
    return _exactly(found, places, columns), {column: place for place, column in enumerate(columns)}


def _fields(relation: Relation, columns: Iterable[int]) -> RowType:
    return RowType(tuple(relation.row_type.fields[column] for column in columns), is_nullable=False)


def _values(relation: Values, wanted: set[int]) -> tuple[Relation, Places]:
    columns = sorted(wanted) or [0]
    if len(columns) == len(relation.row_type):
        return relation, {column: column for column in columns}
    rows = tuple(tuple(row[column] for column in columns) for row in relation.rows)
    return Values(_fields(relation, columns), rows), {column: place for place, column in enumerate(columns)}


def _project(relation: Project, wanted: set[int]) -> tuple[Relation, Places]:
    columns = sorted(wanted) or [0]
    expressions = [relation.expressions[column] for column in columns]
    below, places = pruned(relation.input, _used(expressions))
    if below is relation.input and len(columns) == len(relation.expressions):
        return relation, {column: column for column in columns}
    moved = tuple(shifted(rex, places) for rex in expressions)
    kept = Project(_fields(relation, columns), below, moved)
    return kept, {column: place for place, column in enumerate(columns)}


def _used(expressions: Iterable[Rex]) -> set[int]:
    return set().union(*(input_columns(rex) for rex in expressions))


def _filter(relation: Filter, wanted: set[int]) -> tuple[Relation, Places]:
    below, places = pruned(relation.input, wanted | input_columns(relation.condition))
    if below is relation.input:
        return relation, places
    return Filter(below.row_type, below, shifted(relation.condition, places)), places


def _watermark(relation: WatermarkAssigner, wanted: set[int]) -> tuple[Relation, Places]:
    needed = wanted | input_columns(relation.watermark) | {relation.time}
    below, places = pruned(relation.input, needed)
    if isinstance(below, Scan) and len(needed) < len(below.row_type):
        below, places = project(below, sorted(needed)), {column: place for place, column in enumerate(sorted(needed))}
    if below is relation.input:
        return relation, {column: column for column in range(len(relation.row_type))}
    fields = list(below.row_type.fields)
    fields[places[relation.time]] = relation.row_type.fields[relation.time]
    kind = RowType(tuple(fields), is_nullable=False)
    return WatermarkAssigner(kind, below, places[relation.time], shifted(relation.watermark, places)), places


def _window_table(relation: WindowTable, wanted: set[int]) -> tuple[Relation, Places]:
    window, width = relation.window, len(relation.input.row_type)
    needed = {column for column in wanted if column < width} | {window.time, *window.partition_by}
    below, places = _narrow(relation.input, needed)
    if len(below.row_type) == width:
        return replace(relation, input=below), {column: column for column in range(width + 3)}
    moved = replace(window, time=places[window.time], partition_by=tuple(places[c] for c in window.partition_by))
    added = relation.row_type.fields[width:]
    kind = RowType((*below.row_type.fields, *added), is_nullable=False)
    ends = {width + number: len(below.row_type) + number for number in range(len(added))}
    return WindowTable(kind, below, moved), places | ends


def _aggregate(relation: Aggregate, wanted: set[int]) -> tuple[Relation, Places]:
    count = len(relation.groups)
    calls = [call for place, call in enumerate(relation.calls) if place + count in wanted]
    kept = [*range(count), *(place + count for place in range(len(relation.calls)) if place + count in wanted)]
    if not calls and relation.calls and not relation.groups:
        calls, kept = [relation.calls[0]], [0]
    below, places = _narrow(relation.input, set(relation.groups).union(*map(call_columns, calls)))
    found = replace(
        relation,
        row_type=_fields(relation, kept),
        input=below,
        groups=tuple(places[group] for group in relation.groups),
        calls=tuple(moved_call(call, places) for call in calls),
    )
    return found, {column: place for place, column in enumerate(kept)}


def _group_window(relation: GroupWindowAggregate, wanted: set[int]) -> tuple[Relation, Places]:
    del wanted
    needed = {relation.window.time, *relation.groups}.union(*map(call_columns, relation.calls))
    below, places = _narrow(relation.input, needed)
    found = replace(
        relation,
        input=below,
        window=replace(relation.window, time=places[relation.window.time]),
        groups=tuple(places[group] for group in relation.groups),
        calls=tuple(moved_call(call, places) for call in relation.calls),
    )
    return found, {column: column for column in range(len(relation.row_type))}


def _over(relation: Over, wanted: set[int]) -> tuple[Relation, Places]:
    width = len(relation.input.row_type)
    needed = {column for column in wanted if column < width}
    for window in relation.windows:
        needed |= {*window.partition_by, *(key.index for key in window.order_by)}.union(
            *map(call_columns, window.calls)
        )
    below, places = _narrow(relation.input, needed)
    windows = tuple(
        replace(
            window,
            partition_by=tuple(places[column] for column in window.partition_by),
            order_by=moved_keys(window.order_by, places),
            calls=tuple(moved_call(call, places) for call in window.calls),
        )
        for window in relation.windows
    )
    added = relation.row_type.fields[width:]
    ends = {width + number: len(below.row_type) + number for number in range(len(added))}
    return Over(RowType((*below.row_type.fields, *added), is_nullable=False), below, windows), places | ends


def _rank(relation: Rank, wanted: set[int]) -> tuple[Relation, Places]:
    width = len(relation.input.row_type)
    with_rank = relation.with_rank and width in wanted
    needed = {column for column in wanted if column < width} | set(relation.partition_by)
    needed |= {key.index for key in relation.order_by}
    if relation.end_column is not None:
        needed.add(relation.end_column)
    below, places = _narrow(relation.input, needed)
    added = relation.row_type.fields[width:] if with_rank else ()
    found = replace(
        relation,
        row_type=RowType((*below.row_type.fields, *added), is_nullable=False),
        input=below,
        partition_by=tuple(places[column] for column in relation.partition_by),
        order_by=moved_keys(relation.order_by, places),
        end_column=None if relation.end_column is None else places[relation.end_column],
        with_rank=with_rank,
    )
    return found, places | {width: len(below.row_type)}


def _join(relation: Join, wanted: set[int]) -> tuple[Relation, Places]:
    width = len(relation.left.row_type)
    needed = wanted | input_columns(relation.condition)
    left, on_left = _narrow(relation.left, {column for column in needed if column < width})
    right, on_right = _narrow(relation.right, {column - width for column in needed if column >= width})
    if len(left.row_type) == width and len(right.row_type) == len(relation.right.row_type):
        whole = {column: column for column in range(len(relation.row_type))}
        return replace(relation, left=left, right=right), whole
    places = on_left | {width + column: len(left.row_type) + place for column, place in on_right.items()}
    semi = relation.kind in ("SEMI", "ANTI")
    kept = sorted(column for column in places if not semi or column < width)
    found = replace(
        relation,
        row_type=_fields(relation, kept),
        left=left,
        right=right,
        condition=shifted(relation.condition, places),
    )
    return found, places


def _correlate(relation: Correlate, wanted: set[int]) -> tuple[Relation, Places]:
    width, right = len(relation.left.row_type), len(relation.right.row_type)
    read = _used(relation.right.arguments)
    condition = relation.condition
    needed = wanted | read | (set() if condition is None else input_columns(condition))
    below, places = _narrow(relation.left, {column for column in needed if column < width})
    places = places | {width + number: len(below.row_type) + number for number in range(right)}
    arguments = tuple(shifted(rex, places) for rex in relation.right.arguments)
    found = replace(
        relation,
        row_type=RowType((*below.row_type.fields, *relation.row_type.fields[width:]), is_nullable=False),
        left=below,
        right=replace(relation.right, arguments=arguments),
        condition=None if condition is None else shifted(condition, places),
    )
    return found, places


def _union(relation: SetOperation, wanted: set[int]) -> tuple[Relation, Places]:
    columns = sorted(wanted) or [0]
    left, _ = _narrow(relation.left, set(columns))
    right, _ = _narrow(relation.right, set(columns))
    found = replace(relation, row_type=_fields(relation, columns), left=left, right=right)
    return found, {column: place for place, column in enumerate(columns)}


def _sort(relation: Sort, wanted: set[int]) -> tuple[Relation, Places]:
    below, places = _narrow(relation.input, wanted | {key.index for key in relation.keys})
    return replace(relation, row_type=below.row_type, input=below, keys=moved_keys(relation.keys, places)), places


def _expand(relation: Expand, wanted: set[int]) -> tuple[Relation, Places]:
    columns = sorted(wanted) or [0]
    chosen = [[projection[column] for column in columns] for projection in relation.projections]
    below, places = _narrow(relation.input, set().union(*(_used(each) for each in chosen)))
    projections = tuple(tuple(shifted(rex, places) for rex in each) for each in chosen)
    found = Expand(_fields(relation, columns), below, projections)
    return found, {column: place for place, column in enumerate(columns)}


_HANDLERS: dict[type[Relation], Callable[[Any, set[int]], tuple[Relation, Places]]] = {
    Values: _values,
    Project: _project,
    Filter: _filter,
    WatermarkAssigner: _watermark,
    WindowTable: _window_table,
    Aggregate: _aggregate,
    GroupWindowAggregate: _group_window,
    Over: _over,
    Rank: _rank,
    Join: _join,
    Correlate: _correlate,
    SetOperation: _union,
    Sort: _sort,
    Expand: _expand,
}


def is_identity(expressions: Sequence[Rex]) -> bool:
    """Return whether a projection returns its input as it is."""
    return all(isinstance(rex, InputRef) and rex.index == index for index, rex in enumerate(expressions))
