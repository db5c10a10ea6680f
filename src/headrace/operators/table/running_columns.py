"""Running aggregates over columns: each row gets the value of its key after it was added.

Decides how COUNT, SUM, MIN and MAX run along a batch: rows are put together by key with a stable sort, each key continues
from its accumulator, and the results go back to the places of their rows. Accumulators are numpy arrays with one slot per
key; as state they have the form that the functions have row by row.
"""

from __future__ import annotations

from typing import Any

from headrace.graph.table_specs import AggregateSpec
from headrace.operators.table.batches import numpy, pyarrow

_KINDS = ("COUNT", "SUM", "MIN", "MAX")
_LIMIT = 1 << 62
_RADIX = 1 << 16  # numpy sorts keys of 16 bits by radix, several times faster


def can_run(call: AggregateSpec) -> bool:
    """Return whether a call can run over columns with the same results as row by row."""
    form = call.columns
    if form is None or form.kind not in _KINDS or call.distinct or len(call.arguments) > 1:
        return False
    return form.kind == "COUNT" or form.type.startswith("int")


class Runs:
    """The rows of a batch by slot: `order` puts them together, runs of equal slots follow each other."""

    def __init__(self, codes: Any, slots: Any) -> None:
        """Take the code of each row's key within the batch, and the slot of each code."""
        np = numpy()
        self.slots = slots
        count = len(slots)
        self.counts = np.bincount(codes, minlength=count)
        self.order = np.argsort(codes.astype(np.uint16) if count <= _RADIX else codes, kind="stable")
        self.ends = np.cumsum(self.counts)
        self.starts = self.ends - self.counts

    def spread(self, values: Any) -> Any:
        """Return a value of each run for all of its rows."""
        return numpy().repeat(values, self.counts)

    def back(self, values: Any) -> Any:
        """Return values in the order of the batch."""
        result = numpy().empty_like(values)
        result[self.order] = values
        return result

    def sums(self, values: Any, before: Any) -> Any:
        """Return the running sums of values that are in the order of the runs; each run starts from `before`."""
        np = numpy()
        with np.errstate(over="ignore"):
            totals = np.cumsum(values, dtype=np.int64)
            return totals + self.spread(before - totals[self.starts] + values[self.starts])

    def greatest(self, values: Any) -> Any:
        """Return the running maximum of each run."""
        np = numpy()
        low = int(values.min())
        span = int(values.max()) - low + 1
        if span * len(self.slots) >= _LIMIT:  # too wide for one number that has the run, too: use ranks
            distinct, ranks = np.unique(values, return_inverse=True)
            return distinct[self.greatest(ranks)]
        bases = self.spread(np.arange(len(self.slots), dtype=np.int64) * span)
        return np.maximum.accumulate(values - low + bases) - bases + low


class RunningCall:
    """One aggregate, with its accumulators: a number and, except for COUNT, whether there was a value."""

    def __init__(self, call: AggregateSpec) -> None:
        np = numpy()
        assert call.columns is not None
        self._call, self._kind = call, call.columns.kind
        self._type = np.dtype(call.columns.type)
        self._numbers = np.zeros(0, dtype=np.int64)
        self._seen = np.zeros(0, dtype=bool)

    def grow(self, size: int) -> None:
        """Make room for more slots."""
        np = numpy()
        more = size - len(self._numbers)
        self._numbers = np.concatenate([self._numbers, np.zeros(more, dtype=np.int64)])
        self._seen = np.concatenate([self._seen, np.zeros(more, dtype=bool)])

    def load(self, slot: int, accumulator: Any) -> None:
        """Set the accumulator of a slot from its form in state."""
        self._seen[slot] = accumulator is not None
        self._numbers[slot] = accumulator or 0

    def stored(self, slot: int) -> Any:
        """Return the accumulator of a slot in its form in state."""
        return int(self._numbers[slot]) if self._kind == "COUNT" or self._seen[slot] else None

    def run(self, batch: Any, runs: Runs) -> Any:
        """Add the rows of a batch. Return the result of each row, as an array of pyarrow."""
        np = numpy()
        values, valid = self._values(batch)
        values = None if values is None else values[runs.order]
        valid = None if valid is None else valid[runs.order]
        if self._kind == "COUNT":
            ones = np.ones(len(runs.order), dtype=np.int64) if valid is None else valid.astype(np.int64)
            return pyarrow().array(runs.back(self._advance(runs, runs.sums(ones, self._numbers[runs.slots]))))
        seen = None
        if valid is not None:
            before = self._seen[runs.slots]
            seen = runs.sums(valid.astype(np.int64), before.astype(np.int64)) > 0
            self._seen[runs.slots] = seen[runs.ends - 1]
        running = self._running(values, valid, runs)
        self._advance(runs, running)
        if seen is None:
            self._seen[runs.slots] = True
            return pyarrow().array(runs.back(running.astype(self._type)))
        return pyarrow().array(runs.back(running.astype(self._type)), mask=~runs.back(seen))

    def _advance(self, runs: Runs, running: Any) -> Any:
        self._numbers[runs.slots] = running[runs.ends - 1].astype(self._type)
        return running

    def _running(self, values: Any, valid: Any, runs: Runs) -> Any:
        np = numpy()
        values = values.astype(np.int64)
        if self._kind == "SUM":
            if valid is not None:
                values[~valid] = 0
            running = runs.sums(values, self._numbers[runs.slots])
            return running if self._type == np.int64 else running.astype(self._type).astype(np.int64)
        sign = 1 if self._kind == "MAX" else -1
        values *= sign
        known = values[valid] if valid is not None else values
        held = self._numbers[runs.slots] * sign
        before = self._seen_before
        least = min(int(known.min()) if len(known) else 0, int(held[before].min()) if before.any() else _LIMIT)
        if valid is not None:
            values[~valid] = least
        values[runs.starts] = np.maximum(values[runs.starts], np.where(before, held, least))
        return runs.greatest(values) * sign

    _seen_before: Any = None

    def remember(self, runs: Runs) -> None:
        """Note which slots had a value before the batch."""
        self._seen_before = self._seen[runs.slots]

    def _values(self, batch: Any) -> tuple[Any, Any]:
        """Return the values as numbers, and where they count; None if they all do."""
        np, call = numpy(), self._call
        values = valid = None
        if call.arguments:
            column = batch.columns[call.arguments[0]]
            if column.null_count:
                valid = column.is_valid().to_numpy(zero_copy_only=False)
                column = column.fill_null(0) if self._kind != "COUNT" else column
            if self._kind != "COUNT":
                values = column.to_numpy(zero_copy_only=False)
        if call.filter is not None:
            chosen = batch.columns[call.filter].fill_null(False).to_numpy(zero_copy_only=False)
            valid = chosen if valid is None else np.logical_and(valid, chosen)
        return values, valid
