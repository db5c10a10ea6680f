"""Aggregates over SESSION windows on columns: rows of a batch are joined into sessions first, which then join those of keys.

A batch with rows that may be late is processed row by row: whether such a row is late depends on the rows before it.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import WindowAggregate
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.batches import SMALL, numpy
from headrace.operators.table.column_aggregates import ColumnAggregates
from headrace.operators.table.key_slots import encoded, keys_of_columns
from headrace.operators.table.session_aggregate import SessionOperator
from headrace.types.column_run import as_columns

_FEW = 1 << 16


class ColumnSessionOperator(SessionOperator):
    """Sessions whose aggregates have forms for columns."""

    def __init__(self, spec: WindowAggregate) -> None:
        super().__init__(spec)
        self._fields = ColumnAggregates(spec.calls)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        run = as_columns(values)
        if run is not None and len(run) >= SMALL and self.spec.event_time:
            column = run.columns.columns[self.spec.time]
            if not column.null_count:
                times = self.zone.local_column(column.to_numpy() // 1000)
                if self.zone.epoch(int(times.min()) + self.gap - 1) > self.progress():
                    self.guarded(self._add, run.columns, times)
                    return
        super().process_batch(values, timestamps, keys)

    def _add(self, batch: Any, times: Any) -> None:
        np = numpy()
        codes, distinct = encoded([batch.columns[column] for column in self.spec.keys], batch.num_rows)
        count = len(distinct[0]) if distinct else 1
        order = np.argsort(times, kind="stable")
        own = codes[order]
        order = order[np.argsort(own.astype(np.uint16) if count <= _FEW else own, kind="stable")]  # 16 bits: radix sort
        own, times = codes[order], times[order]
        first = np.ones(len(own), dtype=bool)
        np.logical_or(own[1:] != own[:-1], np.diff(times) > self.gap, out=first[1:])
        groups = np.empty(len(own), dtype=np.int64)
        groups[order] = np.cumsum(first) - 1
        begins = np.flatnonzero(first)
        lasts = np.append(begins[1:], len(own)) - 1
        arrays = self._fields.create(len(begins))
        self._fields.add(arrays, groups, batch)
        keys = keys_of_columns(distinct)
        self._join(
            [keys[code] for code in own[begins].tolist()],
            times[begins].tolist(),
            (times[lasts] + self.gap).tolist(),
            self._fields.entries(arrays),
        )
        self.touched.update(keys)

    def _join(self, keys: list[Any], starts: list[int], ends: list[int], entries: list[list[Any]]) -> None:
        live, merge = self.live, self.aggregates.merge
        for key, start, end, entry in zip(keys, starts, ends, entries):
            sessions = live.get(key)
            if sessions is None:
                session: list[Any] = [start, end, entry]
                live[key] = [session]
                self.push(key, session)
                continue
            if len(sessions) == 1 and sessions[0][0] <= end and sessions[0][1] >= start:
                session = sessions[0]
                session[0], session[1] = min(session[0], start), max(session[1], end)
            else:
                found = self.session(key, start, end)
                assert found is not None  # no row of the batch is late
                session = found
            merge(session[2], entry)
            session[2][-1] += entry[-1]
