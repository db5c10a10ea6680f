"""GROUP BY without windows on columns: the changes of `group_aggregate`, computed for a whole batch.

Rows are sorted by key, which keeps their order within a key. The accumulators of the keys of the batch are loaded from
state, running aggregates give the result after each row, and the result before it is that of the row before it in the same
group. The changes are emitted in the order of the input.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import INSERT, UPDATE_AFTER, UPDATE_BEFORE, GroupAggregate
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.batches import SMALL, TableColumns, has_columns, numpy, pyarrow
from headrace.operators.table.column_aggregates import ColumnAggregates, can_use_columns, in_any_order
from headrace.operators.table.group_aggregate import GroupAggregateOperator, Rows
from headrace.operators.table.key_slots import can_be_encoded, encoded, keys_of_columns
from headrace.types.column_run import as_columns

_FEW = 1 << 16


class ColumnGroupOperator(GroupAggregateOperator):
    """Groups whose aggregates have forms for columns, over input without retractions."""

    def __init__(self, spec: GroupAggregate) -> None:
        super().__init__(spec)
        self._fields = ColumnAggregates(spec.calls)
        self._codec = TableColumns(spec.output_type, spec.emits_kinds)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        run = as_columns(values)
        if run is None or len(run) < SMALL:
            super().process_batch(values, timestamps, keys)
        elif self.spec.batch or self.spec.mini_batch:
            out = self.guarded(self._merge, run.columns)
            if not self.spec.batch:
                self.output.emit(out, None)
        else:
            self.output.emit(self.guarded(self._changes, run.columns), None)

    # -- one change per group -------------------------------------------------------------------------------------

    def _merge(self, batch: Any) -> Rows:
        """Add the rows of a batch to their groups. Return the changes, one per group."""
        codes, distinct = self._encoded(batch)
        keys = keys_of_columns(distinct)
        arrays = self._fields.create(len(keys))
        self._fields.add(arrays, codes, batch)
        aggregates, get, put, out = self.aggregates, self.state.get, self.state.put, Rows()
        for key, added in zip(keys, self._fields.entries(arrays)):
            entry = get(key)
            first = entry is None
            before = () if first or self.spec.batch else aggregates.results(entry)
            if first:
                entry = added[:-1]
            else:
                aggregates.merge(entry, added)
            put(key, entry)
            if not self.spec.batch:
                after = aggregates.results(entry)
                columns = (key,) if len(self.spec.keys) == 1 else key
                if first:
                    self.change(out, INSERT, columns, after)
                elif before != after:
                    self.update(out, columns, before, after)
        return out

    # -- one change after the other -------------------------------------------------------------------------------

    def _changes(self, batch: Any) -> Any:
        np = numpy()
        codes, distinct = self._encoded(batch)
        keys = keys_of_columns(distinct)
        known, base = self._loaded(keys)
        order = np.argsort(codes.astype(np.uint16) if len(keys) <= _FEW else codes, kind="stable")
        groups = codes[order]
        first = np.ones(len(groups), dtype=bool)
        first[1:] = groups[1:] != groups[:-1]
        after = self._fields.running(base, groups, first, order, batch)
        before = []
        for array, own in zip(after, base):
            shifted = np.empty_like(array)
            shifted[1:] = array[:-1]
            before.append(np.where(first, own[groups], shifted))
        self._store(keys, groups, np.append(first[1:], True), after)
        return self._emitted(batch, order, first & ~known[groups], before, after)

    def _encoded(self, batch: Any) -> tuple[Any, list[Any]]:
        return encoded([batch.columns[column] for column in self.spec.keys], batch.num_rows)

    def _loaded(self, keys: list[Any]) -> tuple[Any, list[Any]]:
        """Return which keys have a group, and the fields of all groups."""
        np = numpy()
        found = [self.state.get(key) for key in keys]
        base = self._fields.create(len(keys))
        places = [i for i, entry in enumerate(found) if entry is not None]
        if places:
            self._fields.load(base, places, [[*found[i], 1] for i in places])
        return np.array([entry is not None for entry in found]), base

    def _store(self, keys: list[Any], groups: Any, last: Any, after: list[Any]) -> None:
        entries = self._fields.entries([array[last] for array in after])
        put = self.state.put
        for group, entry in zip(groups[last].tolist(), entries):
            put(keys[group], entry[:-1])

    def _emitted(self, batch: Any, order: Any, inserts: Any, before: list[Any], after: list[Any]) -> Any:
        """Return the changes in the order of the input."""
        np, pa = numpy(), pyarrow()
        olds, news = self._fields.values(before), self._fields.values(after)
        changed = inserts.copy()
        for (old, old_null), (new, new_null) in zip(olds, news):
            differs = old != new
            if old_null is not None or new_null is not None:
                nulls = [np.zeros(len(order), dtype=bool) if each is None else each for each in (old_null, new_null)]
                differs = np.where(nulls[0] | nulls[1], nulls[0] != nulls[1], differs)
            changed |= differs
        spec = self.spec
        updates = changed & ~inserts
        if not spec.emits_kinds:
            changed, updates = inserts, np.zeros_like(inserts)
        place = np.empty_like(order)  # of each row of the batch, in the sorted arrays
        place[order] = np.arange(len(order))
        old_rows = updates[place] if spec.update_before else np.zeros(len(order), dtype=bool)
        new_rows = changed[place]
        rows = np.repeat(np.arange(len(order)), old_rows.astype(np.int8) + new_rows)
        is_old = np.zeros(len(rows), dtype=bool)
        is_old[np.cumsum(old_rows.astype(np.int64) + new_rows)[old_rows] - 2] = True
        chosen = pa.array(np.where(is_old, 0, len(order)) + place[rows])
        columns = [batch.columns[column].take(pa.array(rows)) for column in spec.keys]
        for (old, old_null), (new, new_null) in zip(olds, news):
            columns.append(pa.concat_arrays([pa.array(old, mask=old_null), pa.array(new, mask=new_null)]).take(chosen))
        if spec.emits_kinds:
            kinds = np.where(is_old, UPDATE_BEFORE, np.where(inserts[place[rows]], INSERT, UPDATE_AFTER))
            columns.append(pa.array(kinds.astype(np.int8)))
        return self._codec.of_arrays(columns)


def _create(spec: GroupAggregate) -> GroupAggregateOperator:
    if spec.kinds or spec.ttl or not spec.types or spec.output_type is None or not has_columns():
        return GroupAggregateOperator(spec)
    if not spec.calls or not can_use_columns(spec.calls) or not in_any_order(spec.calls):
        return GroupAggregateOperator(spec)
    encodable = all(can_be_encoded(spec.types[0].fields[column].data_type) for column in spec.keys)
    return ColumnGroupOperator(spec) if encodable else GroupAggregateOperator(spec)


OPERATORS = {GroupAggregate: _create}
