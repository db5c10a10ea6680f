"""OVER from the first row to the current one in processing time, on columns.

Decides which slot a key has. During an epoch only the arrays of `running_columns` change; at its end the accumulators of
changed keys are written to the table of the row form, so that either form can continue. State that may not fit into memory
stays with the row form.
"""

from __future__ import annotations

from typing import Any, cast

from headrace.graph.table_specs import OverAggregate
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.batches import TableColumns, numpy, pyarrow
from headrace.operators.table.over_processing_time import ProcessingTimeOverOperator
from headrace.operators.table.running_columns import RunningCall, Runs, can_run
from headrace.types import logical_types as t
from headrace.types.column_run import as_columns

_KEY_TYPES = (
    t.BooleanType, t.TinyIntType, t.SmallIntType, t.IntType, t.BigIntType, t.CharType, t.VarCharType, t.DateType,
    t.TimeType, t.TimestampType, t.LocalZonedTimestampType,
)  # fmt: skip


def runs_on_columns(spec: OverAggregate) -> bool:
    """Return whether the spec fits this operator, with the same results as the row form."""
    if not spec.types or spec.output_type is None or spec.ttl or spec.kinds or not spec.calls or not spec.keys:
        return False
    kinds = spec.types[0].field_types()
    return all(isinstance(kinds[column], _KEY_TYPES) for column in spec.keys) and all(map(can_run, spec.calls))


class ColumnOverOperator(ProcessingTimeOverOperator):
    """The operator of `OverAggregate` for columns."""

    takes_columns = True

    def __init__(self, spec: OverAggregate) -> None:
        super().__init__(spec)
        self._taken = TableColumns(spec.types[0])
        self._given = TableColumns(spec.output_type)

    def open(self) -> None:
        """Load the accumulators, unless they stay in the table."""
        super().open()
        self._in_rows = self.backend.large
        if self._in_rows:
            return
        self._table = self.backend.table("memory", kind="ValueState")
        self._slots: dict[Any, int] = {}
        self._keys: list[Any] = []
        self._calls = [RunningCall(call) for call in self.spec.calls]
        self._room = 0
        self._touched = numpy().zeros(0, dtype=bool)
        for slot, (key, accumulators) in enumerate(self._table.data.items()):
            self._slots[key] = slot
            self._keys.append(key)
            self._grow()
            for call, accumulator in zip(self._calls, accumulators):
                call.load(slot, accumulator)

    def _grow(self) -> None:
        if len(self._keys) > self._room:
            self._room = max(1024, 2 * len(self._keys))
            self._touched = numpy().concatenate(
                [self._touched, numpy().zeros(self._room - len(self._touched), dtype=bool)]
            )
            for call in self._calls:
                call.grow(self._room)

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        run = as_columns(values)
        if self._in_rows:
            super().process_batch(values if run is None else run.rows(), timestamps, keys)
            return
        batch = self._taken.batch(values) if run is None else run.columns
        try:
            runs = self._runs(batch)
            results = []
            for call in self._calls:
                call.remember(runs)
                results.append(call.run(batch, runs))
        except Exception as error:
            raise self.failure_for(error, None) from error
        self.emit(cast("Values", self._given.of_arrays([*batch.columns, *results])))

    def _runs(self, batch: Any) -> Runs:
        """Return the rows of a batch by slot. Keys that are new get one."""
        np = numpy()
        columns = [batch.columns[column].dictionary_encode(null_encoding="encode") for column in self.spec.keys]
        codes = columns[0].indices.to_numpy()
        if len(columns) == 1:
            keys = columns[0].dictionary.to_pylist()
        else:
            for column in columns[1:]:
                codes = codes.astype(np.int64) * len(column.dictionary) + column.indices.to_numpy()
                _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
            chosen = pyarrow().array(first)
            keys = list(zip(*[column.take(chosen).to_pylist() for column in columns]))
        slots, known = self._slots, self._keys
        found = [slots.get(key, -1) for key in keys]
        if -1 in found:
            for i, slot in enumerate(found):
                if slot < 0:
                    found[i] = slots[keys[i]] = len(known)
                    known.append(keys[i])
            self._grow()
        numbers = np.array(found, dtype=np.int64)
        self._touched[numbers] = True
        return Runs(codes, numbers)

    def end_epoch(self) -> None:
        """Write the accumulators of changed keys to the table."""
        if self._in_rows:
            return
        data, dirty, keys = self._table.data, self._table.dirty, self._keys
        for slot in numpy().flatnonzero(self._touched).tolist():
            key = keys[slot]
            data[key] = [call.stored(slot) for call in self._calls]
            dirty.add(key)
        self._touched[:] = False
