"""GROUP BY without windows, by Flink's rules for changes.

1. The first row of a group emits +I. Each further row emits -U with the old and +U with the new result, unless the result is
   the same (with a time to live, it is emitted even then: an operator that keeps it must learn that it is alive).
2. A retraction of the last row emits -D and removes the group. A retraction for an unknown group is ignored.
3. With `mini_batch`, the rows of a run are added first, and each changed group emits once.
4. In batch mode, all groups are emitted at the end of the input; without keys, one row even if there was no input.
"""

from __future__ import annotations

from typing import Any

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.graph.table_specs import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE, GroupAggregate
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.aggregates import Aggregates
from headrace.operators.table.base import TableOperator, keys_of, rows_of
from headrace.operators.table.group_state import GroupState
from headrace.state.opaque_key import unwrap_key

Rows = list[tuple[Any, ...]]


class GroupAggregateOperator(TableOperator):
    """Accumulators by key. An entry of state is the list of accumulators; with retractions, the number of rows follows."""

    takes_columns = True

    def __init__(self, spec: GroupAggregate) -> None:
        super().__init__()
        self.spec = spec
        self.aggregates = Aggregates(spec.calls, inside=False)
        self.emits = bool(spec.emits_kinds)

    def open(self) -> None:
        self.state = GroupState(self.context, self.spec.ttl, self.aggregates.maps)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        self._process_rows(rows_of(values), keys)

    def _process_rows(self, rows: Rows, keys: list[Any] | None) -> None:
        if keys is None:
            keys = keys_of(rows, self.spec.keys)
        if self.spec.batch:
            self.by_group(rows, keys)
        elif self.spec.mini_batch:
            self.output.emit(self.by_group(rows, keys), None)
        else:
            self.output.emit(self._exact(rows, keys), None)

    # -- one change after the other -------------------------------------------------------------------------------

    def _exact(self, rows: Rows, keys: list[Any]) -> Rows:
        spec, aggregates, seen, backend = self.spec, self.aggregates, self.state.seen, self.context.keyed_state
        kinds, always, get, put = spec.kinds, spec.ttl > 0, self.state.get, self.state.put
        known: dict[Any, tuple[Any, ...]] = {}  # the results after the last change of each group in this run
        out: Rows = []
        records = iter(rows)
        try:
            for row, key in zip(records, keys):
                entry = get(key)
                retracts = kinds and row[-1] in (UPDATE_BEFORE, DELETE)
                first = entry is None
                if first:
                    if retracts:
                        continue
                    entry = self._create()
                    before: tuple[Any, ...] = ()
                else:
                    found = known.get(key)
                    before = aggregates.results(entry) if found is None or always else found
                if seen is not None:
                    backend.key = key
                if retracts:
                    aggregates.retract(entry, row, seen)
                else:
                    aggregates.add(entry, row, seen)
                if kinds:
                    entry[-1] += -1 if retracts else 1
                    if entry[-1] == 0:
                        self.state.remove(key)
                        known.pop(key, None)
                        if not first:
                            self.change(out, DELETE, self._key(row), before)
                        continue
                put(key, entry)
                after = known[key] = aggregates.results(entry)
                if first:
                    self.change(out, INSERT, self._key(row), after)
                elif always or before != after:
                    self.update(out, self._key(row), before, after)
        except Exception as error:
            raise self.failure(error, rows, records) from error
        return out

    # -- one change per group -------------------------------------------------------------------------------------

    def by_group(self, rows: Rows, keys: list[Any]) -> Rows:
        """Add the rows of each group. Return the changes, one per group."""
        groups: dict[Any, Rows] = {}
        for row, key in zip(rows, keys):
            group = groups.get(key)
            if group is None:
                groups[key] = [row]
            else:
                group.append(row)
        out: Rows = []
        for key, group in groups.items():
            try:
                self._change_group(out, key, group)
            except Exception as error:
                raise self.failure_for(error, group[0]) from error
        return out

    def _change_group(self, out: Rows, key: Any, rows: Rows) -> None:
        aggregates, seen, kinds = self.aggregates, self.state.seen, self.spec.kinds
        entry = self.state.get(key)
        first = entry is None
        before: tuple[Any, ...] = ()
        if first:
            while kinds and rows and rows[0][-1] in (UPDATE_BEFORE, DELETE):  # nothing to retract from
                rows = rows[1:]
            if not rows:
                return
            entry = self._create()
        elif not self.spec.batch:
            before = aggregates.results(entry)
        self.context.keyed_state.key = key
        for row in rows:
            retracts = kinds and row[-1] in (UPDATE_BEFORE, DELETE)
            if retracts:
                aggregates.retract(entry, row, seen)
            else:
                aggregates.add(entry, row, seen)
            if kinds:
                entry[-1] += -1 if retracts else 1
        if kinds and entry[-1] == 0:
            self.state.remove(key)
            if not first and not self.spec.batch:
                self.change(out, DELETE, self._key(rows[0]), before)
            return
        self.state.put(key, entry)
        if self.spec.batch:
            return
        after = aggregates.results(entry)
        if first:
            self.change(out, INSERT, self._key(rows[0]), after)
        elif before != after:
            self.update(out, self._key(rows[0]), before, after)

    # -- results --------------------------------------------------------------------------------------------------

    def _create(self) -> list[Any]:
        entry = self.aggregates.create()
        if self.spec.kinds:
            entry.append(0)
        return entry

    def _key(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple([row[column] for column in self.spec.keys])

    def update(self, out: Rows, key: tuple[Any, ...], before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
        """Append an update of a group."""
        if self.spec.update_before:
            self.change(out, UPDATE_BEFORE, key, before)
        self.change(out, UPDATE_AFTER, key, after)

    def change(self, out: Rows, kind: int, key: tuple[Any, ...], results: tuple[Any, ...]) -> None:
        """Append a change of a group."""
        if self.emits:
            out.append((*key, *results, kind))
        elif kind == INSERT:
            out.append((*key, *results))

    # -- the end of a batch ---------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        """In batch mode, emit all groups at the end."""
        if self.spec.batch and timestamp == MAX_WATERMARK and self.watermark < MAX_WATERMARK:
            self.output.emit(self._final(), None)
        super().process_watermark(timestamp)

    def _final(self) -> Rows:
        aggregates, width = self.aggregates, len(self.spec.keys)
        end = (INSERT,) if self.emits else ()
        out: Rows = []
        for filed, entry in self.state.entries():
            key = unwrap_key(filed)
            out.append((*((key,) if width == 1 else key), *aggregates.results(entry), *end))
            self.state.remove(filed)
        if not out and not width:
            out.append((*aggregates.results(aggregates.create()), *end))
        return out
