"""Runs logical relations on rows in the most direct way, to check what queries mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from itertools import groupby
from typing import Any

from headrace.table.analysis.entries import context_of
from headrace.table.functions.definition import NOT_CONSTANT, Argument, CallSite
from headrace.table.plan import relations as r
from headrace.table.plan.rex import AggregateCall, Rex, SortKey
from headrace.table.programs import Scalar

Row = tuple[Any, ...]
Tables = dict[str, list[Row]]


def run(relation: r.Relation, tables: Tables) -> list[Row]:
    """Return the rows of a relation."""
    match relation:
        case r.Scan():
            return tables[relation.name[-1]]
        case r.Values():
            return list(relation.rows)
        case r.Project():
            values = [_value(each) for each in relation.expressions]
            return [tuple(value(row) for value in values) for row in run(relation.input, tables)]
        case r.Filter():
            condition = _value(relation.condition)
            return [row for row in run(relation.input, tables) if condition(row) is True]
        case r.Join():
            return _join(relation, run(relation.left, tables), run(relation.right, tables))
        case r.Aggregate():
            return _aggregate(relation, run(relation.input, tables))
        case r.SetOperation():
            return _set_operation(relation, run(relation.left, tables), run(relation.right, tables))
        case r.Sort():
            rows = _sorted(run(relation.input, tables), relation.keys)
            end = None if relation.limit is None else relation.offset + relation.limit
            return rows[relation.offset : end]
        case r.Over():
            return _row_numbers(relation, run(relation.input, tables))
        case r.Correlate():
            return _correlate(relation, run(relation.left, tables))
    raise NotImplementedError(type(relation).__name__)


def _value(rex: Rex) -> Callable[[Row], Any]:
    return Scalar(rex).value


def _join(relation: r.Join, left: list[Row], right: list[Row]) -> list[Row]:
    condition = _value(relation.condition)
    found: list[Row] = []
    matched: set[int] = set()
    for one in left:
        matches = [index for index, other in enumerate(right) if condition(one + other) is True]
        if relation.kind in ("SEMI", "ANTI"):
            if bool(matches) == (relation.kind == "SEMI"):
                found.append(one)
            continue
        matched.update(matches)
        found += [one + right[index] for index in matches]
        if not matches and relation.kind in ("LEFT", "FULL"):
            found.append(one + (None,) * len(relation.right.row_type))
    if relation.kind in ("RIGHT", "FULL"):
        missing = (None,) * len(relation.left.row_type)
        found += [missing + other for index, other in enumerate(right) if index not in matched]
    return found


def _aggregate(relation: r.Aggregate, rows: list[Row]) -> list[Row]:
    found: list[Row] = []
    for chosen in relation.grouping_sets or (relation.groups,):
        groups: dict[Row, list[Row]] = {} if chosen else {(): []}
        for row in rows:
            groups.setdefault(tuple(row[index] for index in chosen), []).append(row)
        bits = sum(1 << (len(relation.groups) - 1 - i) for i, g in enumerate(relation.groups) if g not in chosen)
        for key, members in groups.items():
            by_index = dict(zip(chosen, key, strict=True))
            keys = tuple(by_index.get(index) for index in relation.groups)
            marker = (bits,) if relation.grouping_sets else ()
            results = (_called(call, members, relation.input.row_type.field_types()) for call in relation.calls)
            found.append((*keys, *marker, *results))
    return found


def _called(call: AggregateCall, rows: Iterable[Row], types: list[Any]) -> Any:
    constants = call.constants + (NOT_CONSTANT,) * (len(call.arguments) - len(call.constants))
    arguments = tuple(Argument(types[i], value) for i, value in zip(call.arguments, constants, strict=True))
    accumulation = call.function.rows(CallSite(arguments, call.type))
    accumulator = accumulation.create()
    seen: set[Row] = set()
    for row in _sorted(list(rows), call.order_by):
        values = tuple(row[index] for index in call.arguments)
        if call.filter is not None and row[call.filter] is not True:
            continue
        if call.distinct and (values in seen or None in values):
            continue
        seen.add(values)
        accumulator = accumulation.add(accumulator, *values)
    return accumulation.result(accumulator)


def _set_operation(relation: r.SetOperation, left: list[Row], right: list[Row]) -> list[Row]:
    if relation.kind == "UNION":
        return left + right if relation.all else list(dict.fromkeys(left + right))
    keep = relation.kind == "INTERSECT"
    if not relation.all:
        return [row for row in dict.fromkeys(left) if (row in right) == keep]
    rest, found = list(right), []
    for row in left:
        present = row in rest
        if present:
            rest.remove(row)
        if present == keep:
            found.append(row)
    return found


def _sorted(rows: list[Row], keys: tuple[SortKey, ...]) -> list[Row]:
    def compare(one: Row, other: Row) -> int:
        for key in keys:
            a, b = one[key.index], other[key.index]
            if a == b:
                continue
            if a is None or b is None:
                return -1 if (a is None) == key.nulls_first else 1
            return -1 if (a < b) != key.descending else 1
        return 0

    return sorted(rows, key=cmp_to_key(compare))


def _row_numbers(relation: r.Over, rows: list[Row]) -> list[Row]:
    [window] = relation.windows
    assert [call.function.name for call in window.calls] == ["ROW_NUMBER"]

    def partition(row: Row) -> str:
        return repr([row[index] for index in window.partition_by])

    ordered = sorted(_sorted(rows, window.order_by), key=partition)
    return [(*row, number) for _, group in groupby(ordered, partition) for number, row in enumerate(group, 1)]


def _correlate(relation: r.Correlate, left: list[Row]) -> list[Row]:
    call = relation.right
    values = [_value(each) for each in call.arguments]
    site = CallSite(tuple(Argument(each.type) for each in call.arguments), call.row_type, context_of().session)
    rows_of = call.function.rows(site)
    condition = None if relation.condition is None else _value(relation.condition)
    found: list[Row] = []
    for row in left:
        rows = [row + tuple(each) for each in rows_of(*(value(row) for value in values))]
        rows = rows if condition is None else [each for each in rows if condition(each) is True]
        found += rows
        if not rows and relation.kind == "LEFT":
            found.append(row + (None,) * len(call.row_type))
    return found
