"""OVER in batch mode: all rows of a key are sorted when the input ends, then every row gets its values.

Any frame works here, including rows that follow, and so do functions that need to know how many rows there are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_specs import AggregateSpec, OverAggregate, SortOrder, TableKey
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.keyed import AS_INSERT, KeyedTableOperator, Row
from headrace.operators.table.ordering import sort_key
from headrace.operators.table.over_calls import OverCalls
from headrace.types import logical_types

_DAY = 86_400_000


class BatchOverOperator(KeyedTableOperator):
    """The operator of `OverAggregate` in batch mode."""

    def __init__(self, spec: OverAggregate) -> None:
        super().__init__()
        self._spec = spec
        self._selector = TableKey(spec.keys)
        self._order = spec.order_by or (() if spec.time is None else (SortOrder(spec.time),))

    def open(self) -> None:
        """Get the table: key -> rows."""
        self._table = self.context.keyed_state.table("rows")

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        data = self._table.data
        keys = self.keys_of(self._selector, values, keys)
        for row, key in zip(values, keys):
            rows = data.get(key)
            if rows is None:
                data[key] = [row]
            else:
                rows.append(row)
        self._table.dirty.update(keys)

    def process_watermark(self, timestamp: int) -> None:
        """Emit all rows at the end of the input, then forward the watermark."""
        if timestamp == MAX_WATERMARK:
            for key in list(self._table.keys()):
                rows = self._table.data.pop(key)
                self._table.dirty.add(key)
                try:
                    self.emit(over_rows(self._spec, self._order, rows))
                except Exception as error:
                    raise self.failure_for(error, rows[0]) from error
        super().process_watermark(timestamp)


def over_rows(spec: OverAggregate, order: tuple[SortOrder, ...], rows: list[Row]) -> list[Row]:
    """Return the rows of one key, sorted, each with the values of all calls."""
    mark: Row = ()
    if spec.kinds:
        rows, mark = [row[:-1] for row in rows], AS_INSERT
    key = sort_key(order)
    keyed = sorted([(key(row), i) for i, row in enumerate(rows)])
    rows, keys = [rows[i] for _, i in keyed], [k for k, _ in keyed]
    columns: list[list[Any]] = []
    plain = [call for call in spec.calls if call.name not in _RANKING]
    values = iter(zip(*_framed(spec, order, plain, rows, keys)) if plain else ())
    for call in spec.calls:
        ranking = _RANKING.get(call.name)
        columns.append(ranking(call, rows, keys) if ranking else list(next(values)))
    return [(*row, *more, *mark) for row, *more in zip(rows, *columns)]


def _framed(
    spec: OverAggregate, order: tuple[SortOrder, ...], plain: list[AggregateSpec], rows: list[Row], keys: list[Any]
) -> list[Row]:
    calls = OverCalls(plain, tuple(o.column for o in order))
    frames = _frames(spec, order, rows, keys)
    results: list[Row] = []
    accumulators, start, end = calls.create(), 0, 0
    for first, last in frames:
        if first < start or last < end or (first > start and not calls.can_retract) or first >= end:
            accumulators, start, end = calls.create(), first, first
        while start < first:
            calls.retract(accumulators, rows[start])
            start += 1
        while end < last:
            calls.add(accumulators, rows[end])
            end += 1
        results.append(calls.results(accumulators))
    return results


def _frames(
    spec: OverAggregate, order: tuple[SortOrder, ...], rows: list[Row], keys: list[Any]
) -> list[tuple[int, int]]:
    """Return for each row the first row of its frame and the one after the last."""
    n, frame = len(rows), spec.frame
    if frame.rows:
        starts = [0 if frame.start is None else min(max(i + frame.start, 0), n) for i in range(n)]
        ends = [n if frame.end is None else min(max(i + frame.end + 1, 0), n) for i in range(n)]
    else:
        starts = _range_bounds(spec, order, rows, keys, frame.start, bisect_left, 0)
        ends = _range_bounds(spec, order, rows, keys, frame.end, bisect_right, n)
    return [(start, max(start, end)) for start, end in zip(starts, ends)]


def _range_bounds(
    spec: OverAggregate, order: tuple[SortOrder, ...], rows: list[Row], keys: list[Any], bound: int | None,
    bisect: Callable[..., int], unbounded: int,
) -> list[int]:  # fmt: skip
    if bound is None:
        return [unbounded] * len(rows)
    if bound == 0:
        return [bisect(keys, key) for key in keys]
    by = order[0]
    offset = _offset(spec, by.column, -bound if by.descending else bound)
    key = sort_key((SortOrder(0, by.descending, by.nulls_first),))
    peers = bisect_left if bound < 0 else bisect_right  # null rows are at no distance from each other
    return [
        peers(keys, own) if row[by.column] is None else bisect(keys, key((row[by.column] + offset,)))
        for row, own in zip(rows, keys)
    ]


def _offset(spec: OverAggregate, column: int, bound: int) -> Any:
    """Return a bound in the unit of the column: those of times are given in milliseconds."""
    kind = spec.types[0].field_types()[column] if spec.types else None
    if column == spec.time or isinstance(kind, (logical_types.TimestampType, logical_types.LocalZonedTimestampType)):
        return bound * 1000
    return bound // _DAY if isinstance(kind, logical_types.DateType) else bound


# -- functions of the position ----------------------------------------------------------------------------------------


def _row_number(call: AggregateSpec, rows: list[Row], keys: list[Any]) -> list[Any]:
    return list(range(1, len(rows) + 1))


def _rank(call: AggregateSpec, rows: list[Row], keys: list[Any]) -> list[Any]:
    ranks: list[int] = []
    for i, key in enumerate(keys):
        ranks.append(ranks[-1] if i and key == keys[i - 1] else i + 1)
    return ranks


def _dense_rank(call: AggregateSpec, rows: list[Row], keys: list[Any]) -> list[Any]:
    ranks: list[int] = []
    for i, key in enumerate(keys):
        ranks.append(1 if not i else ranks[-1] + (key != keys[i - 1]))
    return ranks


def _percent_rank(call: AggregateSpec, rows: list[Row], keys: list[Any]) -> list[Any]:
    return [(rank - 1) / (len(rows) - 1) if len(rows) > 1 else 0.0 for rank in _rank(call, rows, keys)]


def _cume_dist(call: AggregateSpec, rows: list[Row], keys: list[Any]) -> list[Any]:
    return [bisect_right(keys, key) / len(rows) for key in keys]


def _ntile(call: AggregateSpec, rows: list[Row], keys: list[Any]) -> list[Any]:
    buckets = rows[0][call.arguments[0]]
    size, larger = divmod(len(rows), buckets)
    threshold = larger * (size + 1)
    return [1 + (i // (size + 1) if i < threshold else larger + (i - threshold) // size) for i in range(len(rows))]


def _lag(call: AggregateSpec, rows: list[Row], keys: list[Any], sign: int = -1) -> list[Any]:
    value, *more = call.arguments
    results = []
    for i, row in enumerate(rows):
        at = i + sign * (row[more[0]] if more else 1)
        found = rows[at][value] if 0 <= at < len(rows) else None
        results.append(row[more[1]] if found is None and len(more) > 1 else found)  # also instead of NULL, as in Flink
    return results


def _lead(call: AggregateSpec, rows: list[Row], keys: list[Any]) -> list[Any]:
    return _lag(call, rows, keys, 1)


_RANKING: dict[str, Callable[[AggregateSpec, list[Row], list[Any]], list[Any]]] = {
    "ROW_NUMBER": _row_number,
    "RANK": _rank,
    "DENSE_RANK": _dense_rank,
    "PERCENT_RANK": _percent_rank,
    "CUME_DIST": _cume_dist,
    "NTILE": _ntile,
    "LAG": _lag,
    "LEAD": _lead,
}
