"""Inner interval join in event time on columns: the fast form of `interval_join`, with the same results.

A batch is paired with the rows of the other side at once. At the end of an epoch, its new rows are written to a table as
serialised batches, one per key group and side, which are removed when the watermark has passed all their rows. The key of
such an entry is any key of the group. State that may not fit into memory stays with the row form, and so do times and keys
that `IntervalRows` cannot hold; each form reads what the other one wrote.
"""

from __future__ import annotations

from itertools import pairwise
from operator import itemgetter
from typing import Any, cast

from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.errors import TypeMismatchError
from headrace.graph.table_join_specs import IntervalJoin
from headrace.operators.output import Values
from headrace.operators.table.batches import TableColumns, is_columnar, numpy, pyarrow
from headrace.operators.table.interval_join import ROWS, IntervalJoinOperator, new_sides
from headrace.operators.table.interval_rows import LONG_AGO, NEVER, Found, IntervalRows, OutOfRangeError, joined
from headrace.operators.table.key_columns import key_groups
from headrace.operators.table.key_slots import KeySlots, can_be_encoded, encoded, keys_of_columns
from headrace.types.column_run import as_columns

_MANY_KEYS = 4096
_MANY_ENTRIES = 4096
"""With more than this, and twice as many as there were then, all rows are written again in few entries."""


def runs_on_columns(spec: IntervalJoin) -> bool:
    """Return whether the spec fits this operator."""
    if spec.kind != "INNER" or not spec.event_time or len(spec.types) != 2 or spec.output_type is None:
        return False
    if spec.condition is not None and not hasattr(spec.condition, "columns"):
        return False
    kinds = [row_type.field_types() for row_type in spec.types]
    keys = [kinds[i][column] for i, side in enumerate((spec.left, spec.right)) for column in side.keys]
    same = [spec.types[0].fields[c].data_type.not_null() for c in spec.left.keys] == [
        spec.types[1].fields[c].data_type.not_null() for c in spec.right.keys
    ]
    return same and bool(keys) and all(map(can_be_encoded, keys)) and all(map(is_columnar, [*kinds[0], *kinds[1]]))


class ColumnIntervalJoinOperator(IntervalJoinOperator):
    """The operator of `IntervalJoin` for columns."""

    takes_columns = True

    def __init__(self, spec: IntervalJoin) -> None:
        super().__init__(spec)
        self._codecs = [TableColumns(row_type) for row_type in spec.types]
        self._out = TableColumns(spec.output_type)
        left, right = spec.lower, spec.upper
        self._interval = ((left, right), (-right, -left))

    def open(self) -> None:
        """Load the rows."""
        super().open()
        state = self.context.keyed_state
        self._saved = state.table("runs", namespaced=True)
        self._next, self._least = 0, 0
        self._in_rows = state.large
        self._sides: list[IntervalRows] = []
        saved = self._saved_batches()
        if self._in_rows:
            self._use_rows(saved)
            return
        filed = list(map(self._table.data.__getitem__, self._table.keys()))
        try:
            self._load(saved)
            for side in self._sides:
                side.take_new()  # they are in the table already
            self._load([[self._codecs[own].batch(sides[own][ROWS]) for sides in filed] for own in (0, 1)])
        except OutOfRangeError:
            self._use_rows(saved)
            return
        self._forget(self._table)
        while self._timers.pop_due(MAX_WATERMARK) is not None:
            pass

    def _load(self, batches: list[list[Any]]) -> None:
        for own, parts in enumerate(batches):
            batch = joined(parts) if parts else None
            if batch is None or not batch.num_rows:
                continue
            slots, times = self._placed(own, batch)
            side = self._sides[own]
            codes = side.codes(slots, times)
            order = numpy().argsort(codes, kind="stable")
            side.add(codes[order], batch.take(pyarrow().array(order)))
            self._plan_all(own, slots)

    def _placed(self, own: int, batch: Any) -> tuple[Any, Any]:
        """Return the slot of the key and the time in milliseconds of each row."""
        side = (self._spec.left, self._spec.right)[own]
        column = batch.columns[cast("int", side.time)]
        if column.null_count:
            raise TypeMismatchError("The rowtime of a row is null", seen=None, expected="a timestamp")
        times = column.to_numpy() // 1000
        if not self._sides:
            self._slots = KeySlots([self._spec.types[0].fields[key].data_type for key in self._spec.left.keys])
            self._sides = [IntervalRows(int(times[0])), IntervalRows(int(times[0]))]
        codes, distinct = encoded([batch.columns[column] for column in side.keys], batch.num_rows)
        slots = self._slots.of(distinct)[codes]
        for each in self._sides:
            each.grow(len(self._slots))
        return slots, times

    # -- rows -----------------------------------------------------------------------------------------------------

    def _run(self, own: int, values: Values, keys: list[Any] | None) -> None:
        run = as_columns(values)
        if not self._in_rows:
            batch = self.guarded(self._codecs[own].batch, values) if run is None else run.columns
            if not batch.num_rows or self.guarded(self._add, own, batch):
                return
            self._use_rows([list(side.all()) for side in self._sides])
        super()._run(own, values if run is None else run.rows(), keys if run is None else None)

    def _use_rows(self, batches: list[list[Any]]) -> None:
        """Continue with the row form, which gets the rows."""
        self._in_rows = True
        self._sides = []
        self._forget(self._saved)
        data = self._table.data
        for own, parts in enumerate(batches):
            for rows in map(self._codecs[own].rows, parts):
                keys = self.keys_of(self._selectors[own], rows, None)
                for row, key in zip(rows, keys):
                    sides = data.get(key)
                    if sides is None:
                        sides = data[key] = new_sides()
                    self._keep(own, sides[own], key, row[cast("int", self._columns[own])] // 1000, row, False)
                    data[key] = sides
                self._table.dirty.update(keys)

    def _add(self, own: int, batch: Any) -> bool:
        """Pair a batch with the other side and keep it. Return whether that is possible; otherwise nothing has changed."""
        np = numpy()
        now, reach = self.watermark, self._reach[own]
        slots, times = self._placed(own, batch)
        mine, other = self._sides[own], self._sides[1 - own]
        order = np.argsort(mine.codes(slots, times), kind="stable")
        kept = order if (times + reach > now).all() else order[times[order] + reach > now]
        try:
            mine.add(mine.codes(slots[kept], times[kept]), batch.take(pyarrow().array(kept)))
        except OutOfRangeError:
            return False
        expired = min(max(self._expired(1 - own, now), LONG_AGO), NEVER)
        able = times + self._interval[own][1] > expired
        for strict in self._strict[own]:
            if batch.columns[strict].null_count:
                able &= batch.columns[strict].is_valid().to_numpy(zero_copy_only=False)
        asking = order if able.all() else order[able[order]]
        self._pair(own, batch, other, slots, times, asking, expired)
        other.remove(slots, expired)
        self._set_timers(own, mine, slots, times, now)
        return True

    def _pair(
        self, own: int, batch: Any, other: IntervalRows, slots: Any, times: Any, asking: Any, expired: int
    ) -> None:
        """Emit the rows with their partners, in the order of the rows and then of the partners' times."""
        np, pa = numpy(), pyarrow()
        low, high = self._interval[own]
        wanted, when = slots[asking], times[asking]
        found = other.between(wanted, when + low, when + high)
        if not found:
            return
        rows = np.concatenate([asking[part.asked] for part in found])
        met = np.concatenate([part.times for part in found])
        order = np.argsort(rows, kind="stable") if len(found) == 1 else np.lexsort((met, rows))
        if int(met.min()) <= expired:  # rows that are about to go: the first row of the key removes them
            _, first = np.unique(slots, return_index=True)
            is_first = np.zeros(len(slots), dtype=bool)
            is_first[first] = True
            order = order[((met > expired) | is_first[rows])[order]]
        mine = batch.take(pa.array(rows[order]))
        theirs = _taken(found).take(pa.array(order))
        pair = [mine, theirs] if own == 0 else [theirs, mine]
        result = self._out.of_arrays([*pair[0].columns, *pair[1].columns])
        condition: Any = self._spec.condition
        if condition is not None:
            result = self._out.of(condition.columns(result.columns))
        self.output.emit(cast("Values", result), None)

    def _set_timers(self, own: int, mine: IntervalRows, slots: Any, times: Any, now: int) -> None:
        """Set the timer of each slot without one, by its first row that is kept."""
        new = numpy().flatnonzero((mine.timers[slots] == NEVER) & (times + self._reach[own] > now))[::-1]
        mine.timers[slots[new]] = times[new] + self._lifetime(own)

    # -- removal --------------------------------------------------------------------------------------------------

    def _fire(self, limit: int) -> None:
        if self._in_rows:
            super()._fire(limit)
            return
        for own, side in enumerate(self._sides):
            due = numpy().flatnonzero(side.timers <= min(limit, NEVER - 1))
            if len(due):
                side.remove(due, min(max(self._expired(own, limit), LONG_AGO), NEVER - 1))
                self._plan_all(own, due)
                if (side.timers == NEVER).all():
                    side.clear()

    def _plan_all(self, own: int, slots: Any) -> None:
        """Set the timers of slots by their first rows."""
        side = self._sides[own]
        first = side.first_times(slots)
        side.timers[slots] = numpy().where(first == NEVER, NEVER, first + self._lifetime(own))

    def _lifetime(self, own: int) -> int:
        return self._reach[own] + self._slack + 1

    # -- state ----------------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        """Write the new rows to the table, and remove entries whose rows are all gone."""
        if self._in_rows or not self._sides:
            return
        saved, now = self._saved, self.watermark
        many = len(saved.data) > _MANY_ENTRIES + 2 * self._least
        passed = [key for key, (until, _) in saved.data.items() if many or until <= now]
        for key in passed:
            del saved.data[key]
        saved.dirty.update(passed)
        for own, side in enumerate(self._sides):
            new = side.take_new()
            batches = list(side.all()) if many else new
            if batches:
                self._save(own, joined(batches))
        if many:
            self._least = len(saved.data)
        if len(self._slots) > _MANY_KEYS:
            self._forget_keys()

    def _save(self, own: int, batch: Any) -> None:
        np, pa = numpy(), pyarrow()
        side = (self._spec.left, self._spec.right)[own]
        keys = [batch.columns[column] for column in side.keys]
        groups = key_groups(keys, batch.num_rows, self.context.keyed_state.max_parallelism)
        order = np.argsort(groups, kind="stable")
        groups = groups[order]
        batch = batch.take(pa.array(order))
        firsts = np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))
        times = batch.columns[cast("int", side.time)].to_numpy() // 1000
        until = (np.maximum.reduceat(times, firsts) + self._lifetime(own)).tolist()
        names = keys_of_columns([batch.columns[column].take(pa.array(firsts)) for column in side.keys])
        data, dirty = self._saved.data, self._saved.dirty
        for key, time, (start, end) in zip(names, until, pairwise([*firsts.tolist(), batch.num_rows])):
            entry = key, (own, self._next)
            data[entry] = (time, batch.slice(start, end - start).serialize().to_pybytes())
            dirty.add(entry)
        self._next += 1

    def _saved_batches(self) -> list[list[Any]]:
        """Return the batches in the table, of each side, in the order in which they were written."""
        result: list[list[Any]] = [[], []]
        pa = pyarrow("pyarrow.ipc")
        for entry in sorted(self._saved.keys(), key=itemgetter(1)):
            own, number = entry[1]
            self._next = max(self._next, number + 1)
            result[own].append(pa.read_record_batch(self._saved.data[entry][1], self._codecs[own].schema))
        return result

    def _forget(self, table: Any) -> None:
        keys = list(table.keys())
        for key in keys:
            del table.data[key]
        table.dirty.update(keys)

    def _forget_keys(self) -> None:
        """Renumber the keys if most of them have no rows any more."""
        left, right = self._sides
        used = numpy().flatnonzero((left.timers < NEVER) | (right.timers < NEVER))
        if 2 * len(used) < len(self._slots):
            for side in self._sides:
                side.renumber(used)
            self._slots.compact(used)


def _taken(found: list[Found]) -> Any:
    return joined([part.batch.take(pyarrow().array(part.places)) for part in found])
