"""Inner interval join in event time on columns: the fast form of `interval_join`, with the same results and state.

A batch is paired with the rows of the other side at once. The rows of keys that changed are written to the table of the
row form at the end of an epoch, with their timers, so that either form can continue. State that may not fit into memory
stays with the row form, and so do times and keys that `IntervalRows` cannot hold.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, cast

from headrace.errors import TypeMismatchError
from headrace.graph.table_specs import IntervalJoin
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.batches import TableColumns, is_columnar, numpy, pyarrow
from headrace.operators.table.interval_join import IntervalJoinOperator
from headrace.operators.table.interval_rows import LONG_AGO, MOST_SLOTS, NEVER, Found, IntervalRows, OutOfRangeError, joined
from headrace.operators.table.key_slots import KeySlots, can_be_encoded, encoded
from headrace.types.column_run import as_columns

_MOST_UNUSED = 4096


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
        """Load the rows, unless they stay in the table."""
        super().open()
        self._in_rows = self.context.keyed_state.large
        self._sides: list[IntervalRows] = []
        if self._in_rows or not self._table.data:
            return
        entries = list(self._table.data.values())
        times = [time for sides in entries for side in sides for time in side[0]]
        try:
            self._load(list(self._table.data), entries, times[0] if times else 0)
        except OutOfRangeError:
            self._in_rows = True

    def _start(self, origin: int) -> None:
        np = numpy()
        types = self._spec.types[0].fields
        self._slots = KeySlots([types[column].data_type for column in self._spec.left.keys])
        self._sides = [IntervalRows(origin), IntervalRows(origin)]
        self._touched = np.zeros(0, dtype=bool)
        self._filed: dict[Any, tuple[int | None, int | None]] = {}
        """The timers of the keys that are in the table."""

    def _load(self, keys: list[Any], entries: list[Any], origin: int) -> None:
        np = numpy()
        self._start(origin)
        slots = np.array([self._slots.of_key(key) for key in keys], dtype=np.int64)
        self._grow()
        for own, side in enumerate(self._sides):
            parts = [entry[own] for entry in entries]
            side.timers[slots] = [NEVER if part[3] is None else part[3] for part in parts]
            times = np.array([time for part in parts for time in part[0]], dtype=np.int64)
            codes = side.codes(np.repeat(slots, [len(part[0]) for part in parts]), times)
            order = np.argsort(codes, kind="stable")
            batch = self._codecs[own].batch([row for part in parts for row in part[1]])
            side.add(codes[order], batch.take(pyarrow().array(order)))
        self._filed = {key: (entry[0][3], entry[1][3]) for key, entry in zip(keys, entries)}

    def _grow(self) -> None:
        np = numpy()
        for side in self._sides:
            side.grow(len(self._slots))
        more = len(self._sides[0].timers) - len(self._touched)
        self._touched = np.concatenate((self._touched, np.zeros(more, dtype=bool)))

    # -- rows -----------------------------------------------------------------------------------------------------

    def _run(self, own: int, values: Values, keys: list[Any] | None) -> None:
        run = as_columns(values)
        if not self._in_rows:
            batch = self.guarded(self._codecs[own].batch, values) if run is None else run.columns
            if not batch.num_rows or self.guarded(self._add, own, batch):
                return
            self._use_rows()
        super()._run(own, values if run is None else run.rows(), keys if run is None else None)

    def _use_rows(self) -> None:
        """Continue with the row form."""
        self.end_epoch()
        self._in_rows = True
        self._sides = []

    def _add(self, own: int, batch: Any) -> bool:
        """Pair a batch with the other side and keep it. Return whether that is possible; otherwise nothing has changed."""
        np = numpy()
        spec, now, reach = self._spec, self.watermark, self._reach[own]
        side = (spec.left, spec.right)[own]
        column = batch.columns[cast("int", side.time)]
        if column.null_count:
            raise TypeMismatchError("The rowtime of a row is null", seen=None, expected="a timestamp")
        times = column.to_numpy() // 1000
        if not self._sides:
            self._start(int(times[0]))
        key_columns = [batch.columns[column] for column in side.keys]
        codes, distinct = encoded(key_columns, batch.num_rows)
        slots = self._slots.of(distinct)[codes]
        self._grow()
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
        self._touched[slots] = True
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
        if self._spec.condition is not None:
            result = self._out.of(self._spec.condition.columns(result.columns))
        self.output.emit(cast("Values", result), None)

    def _set_timers(self, own: int, mine: IntervalRows, slots: Any, times: Any, now: int) -> None:
        """Set the timer of each slot without one, by its first row that is kept."""
        new = numpy().flatnonzero((mine.timers[slots] == NEVER) & (times + self._reach[own] > now))[::-1]
        mine.timers[slots[new]] = times[new] + (self._reach[own] + self._slack + 1)

    # -- removal --------------------------------------------------------------------------------------------------

    def _fire(self, limit: int) -> None:
        if self._in_rows:
            super()._fire(limit)
            return
        np = numpy()
        for own, side in enumerate(self._sides):
            due = np.flatnonzero(side.timers <= min(limit, NEVER - 1))
            if len(due):
                side.remove(due, min(max(self._expired(own, limit), LONG_AGO), NEVER - 1))
                first = side.first_times(due)
                side.timers[due] = np.where(first == NEVER, NEVER, first + (self._reach[own] + self._slack + 1))
                self._touched[due] = True
                if (side.timers == NEVER).all():
                    side.clear()
        if self._sides and len(self._slots) > _MOST_UNUSED:
            self._forget_keys()

    def _forget_keys(self) -> None:
        """Renumber the keys if most of them have no rows any more."""
        used = numpy().flatnonzero(self._live() | self._touched)
        if 2 * len(used) < len(self._slots) or len(self._slots) >= MOST_SLOTS // 2:
            self._touched = self._touched[used]
            for side in self._sides:
                side.renumber(used)
            self._slots.compact(used)

    def _live(self) -> Any:
        return (self._sides[0].timers < NEVER) | (self._sides[1].timers < NEVER)

    # -- state ----------------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        """Write the rows and timers of keys that changed to the table."""
        if self._in_rows or not self._sides:
            return
        np = numpy()
        places = np.flatnonzero(self._touched)
        if not len(places):
            return
        changed = self._touched.copy()
        self._touched[:] = False
        timers = [
            [None if time == NEVER else time for time in side.timers[places].tolist()] for side in self._sides
        ]
        rows = [self._rows_of(own, changed, places) for own in (0, 1)]
        data, dirty, filed = self._table.data, self._table.dirty, self._filed
        for number, key in enumerate(self._slots.keys(places)):
            planned = (timers[0][number], timers[1][number])
            before = filed.pop(key, (None, None))
            for own in (0, 1):
                if before[own] != planned[own]:
                    if before[own] is not None:
                        self._timers.delete(before[own], key, own)
                    if planned[own] is not None:
                        self._timers.register(planned[own], key, own)
            if planned != (None, None):
                filed[key] = planned
                data[key] = [[*rows[own][number], [], planned[own]] for own in (0, 1)]
                dirty.add(key)
            elif key in data:
                del data[key]
                dirty.add(key)

    def _rows_of(self, own: int, changed: Any, places: Any) -> list[tuple[list[int], list[Any]]]:
        """Return the times and rows of each changed slot."""
        np = numpy()
        kept = self._sides[own].of(changed)
        if kept is None:
            return [([], []) for _ in places]
        slots, times, batch = kept
        listed, rows = times.tolist(), self._codecs[own].rows(batch)
        bounds = np.searchsorted(slots, places).tolist()
        return [(listed[a:b], rows[a:b]) for a, b in pairwise([*bounds, len(listed)])]


def _taken(found: list[Found]) -> Any:
    return joined([part.batch.take(pyarrow().array(part.places)) for part in found])
