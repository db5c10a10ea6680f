"""Aggregates over TUMBLE, HOP and CUMULATE windows on columns: the fast form of `window_aggregate`, with the same state.

A slice has an array for each field of `column_aggregates`, indexed by the slot of the key. A batch is divided into groups
by slice and key; the fields of its groups are taken out of the arrays, changed and put back. A window adds up the arrays of
its slices. At the end of an epoch the entries that changed are put into the keyed table in the form of rows.
"""

from __future__ import annotations

from typing import Any

from headrace.errors import TypeMismatchError
from headrace.graph.table_specs import WindowAggregate
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.batches import TableColumns, numpy, pyarrow
from headrace.operators.table.column_aggregates import ColumnAggregates
from headrace.operators.table.key_slots import KeySlots, encoded
from headrace.operators.table.window_base import WindowOperator
from headrace.operators.table.windows import Given, Window, slicing
from headrace.types.column_run import as_columns

SLICES = "slices"
_SMALLEST = 64
_MOST_UNUSED = 4096


class _Slice:
    """The arrays of a slice: fields, which groups changed since the last epoch, and which are in the table."""

    __slots__ = ("arrays", "changed", "filed")

    def __init__(self, arrays: list[Any]) -> None:
        np = numpy()
        self.arrays = arrays
        self.changed = np.zeros(len(arrays[0]), dtype=bool)
        self.filed = np.zeros(len(arrays[0]), dtype=bool)


class ColumnWindowOperator(WindowOperator):
    """Slices by start."""

    def __init__(self, spec: WindowAggregate) -> None:
        super().__init__(spec)
        self._slicing = Given() if spec.attached else slicing(spec.window)
        self._fields = ColumnAggregates(spec.calls)
        row_type = spec.types[0]
        self._codec = TableColumns(row_type, spec.kinds)
        self._out = TableColumns(spec.output_type)
        self._slots = KeySlots([row_type.fields[column].data_type for column in spec.keys])
        self._live: dict[Any, _Slice] = {}
        self._windows: set[Window] = set()
        self._next: int | None = None

    def open(self) -> None:
        """Load the slices of the table."""
        self._table = self.context.keyed_state.table(SLICES, namespaced=True)
        restored: dict[Any, tuple[list[int], list[Any]]] = {}
        for (key, start), entry in self._table.data.items():
            slots, entries = restored.setdefault(start, ([], []))
            slots.append(self._slots.of_key(key))
            entries.append(entry)
        for start, (slots, entries) in restored.items():
            part = self._live[start] = _Slice(self._fields.create(max(len(self._slots), _SMALLEST)))
            self._windows.update(self._open_windows(start))
            self._fields.load(part.arrays, slots, entries)
            part.filed[slots] = True
        self._next = self._next_end()

    # -- rows -----------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        run = as_columns(values)
        batch = self.guarded(self._codec.batch, values) if run is None else run.columns
        self.guarded(self._add, batch)

    def _add(self, batch: Any) -> None:
        np = numpy()
        codes, distinct = encoded([batch.columns[column] for column in self.spec.keys], batch.num_rows)
        count = len(distinct[0]) if distinct else 1
        starts, numbers = self._slices(batch)
        groups = codes if len(starts) == 1 else numbers * count + codes
        if len(starts) * count > 4 * batch.num_rows + 1024:  # sparse: number the groups that there are
            present, groups = np.unique(groups, return_inverse=True)
        else:
            present = np.flatnonzero(np.bincount(groups, minlength=len(starts) * count))
            places = np.zeros(len(starts) * count, dtype=np.int64)
            places[present] = np.arange(len(present))
            groups = places[groups]
        slots = self._slots.of(distinct)[present % count]
        self._update(
            starts, np.searchsorted(present // count, np.arange(len(starts) + 1)).tolist(), slots, groups, batch
        )

    def _update(self, starts: list[Any], bounds: list[int], slots: Any, groups: Any, batch: Any) -> None:
        """Add the rows to their groups; those of slice i are `bounds[i]` to `bounds[i + 1]`."""
        arrays = self._fields.create(len(slots))
        parts: list[tuple[_Slice, int, int]] = []
        late: list[tuple[int, int]] = []
        for i, start in enumerate(starts):
            low, high = bounds[i], bounds[i + 1]
            part = self._slice(start) if low < high else None
            if part is not None:
                parts.append((part, low, high))
                for array, own in zip(arrays, part.arrays):
                    array[low:high] = own[slots[low:high]]
            elif low < high and self._slicing.windows(start):
                late.append((low, high))
        self.add_rows(arrays, groups, batch)
        for part, low, high in parts:
            mine = slots[low:high]
            for array, own in zip(arrays, part.arrays):
                own[mine] = array[low:high]
            part.changed[mine] = True
        if late:
            self.drop_late(int(sum(arrays[0][low:high].sum() for low, high in late)))

    def add_rows(self, arrays: list[Any], groups: Any, batch: Any) -> None:
        """Add the rows of a batch to the fields of their groups."""
        self._fields.add(arrays, groups, batch)

    def _slices(self, batch: Any) -> tuple[list[Any], Any]:
        """Return the slices from the first to the last one of a batch, and for each row the number of its slice."""
        np = numpy()
        if self.spec.attached is not None:
            return _given(*[batch.columns[column].to_numpy() for column in self.spec.attached])
        if not self.spec.event_time:
            now = self.zone.local(self.context.clock.now())
            return [self._slicing.slice_of(now)], None
        column = batch.columns[self.spec.time]
        if column.null_count:
            raise TypeMismatchError("The rowtime of a row is null", seen=None, expected="a timestamp")
        length, offset = self._slicing.length, self._slicing.offset
        if self.zone.plain:
            numbers = (column.to_numpy() - offset * 1000) // (length * 1000)
        else:
            numbers = (self.zone.local_column(column.to_numpy() // 1000) - offset) // length
        first, last = int(numbers.min()), int(numbers.max())
        if last - first >= 4 * batch.num_rows + 16:  # few rows in a long time
            found, numbers = np.unique(numbers, return_inverse=True)
            return (found * length + offset).tolist(), numbers
        return [number * length + offset for number in range(first, last + 1)], numbers - first

    def _slice(self, start: Any) -> _Slice | None:
        """Return a slice, large enough for all slots; None if it belongs to no window that can still fire."""
        part = self._live.get(start)
        if part is None:
            windows = self._open_windows(start)
            if not windows:
                return None
            self._windows.update(windows)
            self._next = self._next_end()
            part = self._live[start] = _Slice(self._fields.create(max(len(self._slots), _SMALLEST)))
        self._fit(part)
        return part

    def _fit(self, part: _Slice) -> None:
        size = len(part.changed)
        if len(self._slots) > size:
            np = numpy()
            size = max(2 * size, len(self._slots))
            part.arrays = self._fields.resized(part.arrays, size)
            part.changed = np.concatenate((part.changed, np.zeros(size - len(part.changed), dtype=bool)))
            part.filed = np.concatenate((part.filed, np.zeros(size - len(part.filed), dtype=bool)))

    # -- time -----------------------------------------------------------------------------------------------------

    def _open_windows(self, start: Any) -> list[Window]:
        epoch, progress = self.zone.epoch, self.progress()
        return [window for window in self._slicing.windows(start) if epoch(window[0] - 1) > progress]

    def _next_end(self) -> int | None:
        return self.zone.epoch(min(self._windows)[0] - 1) if self._windows else None

    def next_end(self) -> int | None:
        return self._next

    def fire(self, progress: int) -> None:
        if self._next is None or progress < self._next:
            return
        epoch = self.zone.epoch
        for window in sorted(window for window in self._windows if epoch(window[0] - 1) <= progress):
            self._windows.remove(window)
            self._emit(window)
            for start in self._slicing.slices(window):
                if start in self._live and self._slicing.windows(start)[-1] <= window:
                    self._remove(start)
        self._next = self._next_end()
        self._forget_keys()

    def _emit(self, window: Window) -> None:
        np, pa = numpy(), pyarrow()
        end, start = window
        slices = [self._live[each] for each in self._slicing.slices(window) if each in self._live]
        size = min(len(self._slots), max(len(part.changed) for part in slices))
        present = np.zeros(size, dtype=bool)
        for part in slices:
            self._fit(part)
            present |= part.arrays[0][:size] > 0
        places = np.flatnonzero(present)
        if len(places):
            fields = self._fields.merged([part.arrays for part in slices], places)
            described = [pa.array(np.full(len(places), value)) for value in self.properties(start, end)]
            columns = [*self._slots.columns(places), *self._fields.results(fields), *described]
            self.output.emit(self._out.of_arrays(columns), None)  # type: ignore[arg-type]

    def _remove(self, start: Any) -> None:
        part = self._live.pop(start)
        filed = numpy().flatnonzero(part.filed)
        if len(filed):
            data, dirty = self._table.data, self._table.dirty
            for key in self._slots.keys(filed):
                del data[key, start]
                dirty.add((key, start))

    def _forget_keys(self) -> None:
        """Renumber the keys if most of them are in no slice any more."""
        np = numpy()
        if len(self._slots) < _MOST_UNUSED and self._live:
            return
        used = np.zeros(len(self._slots), dtype=bool)
        for part in self._live.values():
            size = min(len(used), len(part.changed))
            used[:size] |= part.arrays[0][:size] > 0
        places = np.flatnonzero(used)
        if 2 * len(places) > len(used):
            return
        for part in self._live.values():
            self._fit(part)
            part.arrays = [array[places] for array in part.arrays]
            part.changed, part.filed = part.changed[places], part.filed[places]
        self._slots.compact(places)

    # -- state ----------------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        """Put changed entries into the table."""
        np = numpy()
        data, dirty = self._table.data, self._table.dirty
        for start, part in self._live.items():
            places = np.flatnonzero(part.changed)
            if not len(places):
                continue
            entries = self._fields.entries([array[places] for array in part.arrays])
            for key, entry in zip(self._slots.keys(places), entries):
                data[key, start] = entry
                dirty.add((key, start))
            part.filed[places] = True
            part.changed[:] = False


def _given(starts: Any, ends: Any) -> tuple[list[Window], Any]:
    """Return the distinct windows of rows, and for each row the number of its window."""
    np = numpy()
    found, numbers = np.unique(np.stack((ends, starts), axis=1), axis=0, return_inverse=True)
    return [(end // 1000, start // 1000) for end, start in found.tolist()], numbers.reshape(-1)
