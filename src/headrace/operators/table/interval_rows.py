"""IntervalRows: the rows of one side of an interval join as columns, found by key and time with binary search.

Decides where rows are and which of them are gone. A run is a batch sorted by slot (the number of a key) and time; both
are in one integer, so that one search finds the rows of a key in an interval. A new batch is a run; runs of similar size
are merged, so that there are few and each row is moved a few times only.

Rows of a slot up to the time `gone` were removed. Rows that come later are never that old, so this is all there is to
know about a removal; gone rows leave their run when it is merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap
from typing import Any, NamedTuple

from headrace.operators.table.batches import numpy, pyarrow

_BITS = 41
_HALF = 1 << (_BITS - 1)
_MASK = (1 << _BITS) - 1
NEVER = 1 << 62
"""The time of a timer that is not set."""
LONG_AGO = -(1 << 62)
"""Nothing is gone."""
MOST_SLOTS = 1 << (62 - _BITS)


class OutOfRangeError(Exception):
    """Slots or times do not fit into one integer."""


class Found(NamedTuple):
    """Rows that were found in a run: the number of what was looked for, and the place of the row."""

    batch: Any
    asked: Any
    places: Any
    times: Any


class IntervalRows:
    """The rows of one side, and the time of the clean-up timer of each slot."""

    def __init__(self, origin: int) -> None:
        """`origin` is the middle of the range of times."""
        np = numpy()
        self._origin = origin - _HALF
        self._runs: list[tuple[Any, Any]] = []
        self._new: list[tuple[Any, Any]] = []
        self.timers = np.full(0, NEVER, dtype=np.int64)
        self.gone = np.full(0, LONG_AGO, dtype=np.int64)

    def grow(self, slots: int) -> None:
        """Make room for slots."""
        np = numpy()
        more = slots - len(self.timers)
        if more > 0:
            more += len(self.timers)
            self.timers = np.concatenate((self.timers, np.full(more, NEVER, dtype=np.int64)))
            self.gone = np.concatenate((self.gone, np.full(more, LONG_AGO, dtype=np.int64)))

    def codes(self, slots: Any, times: Any) -> Any:
        """Return slots and times as integers that sort by slot, then by time."""
        return (slots << _BITS) + (times - self._origin).clip(0, _MASK)

    def add(self, codes: Any, batch: Any) -> None:
        """Add rows, which are sorted by their codes and newer than all others."""
        if not len(codes):
            return
        fields = codes & _MASK
        if int(fields.min()) == 0 or int(fields.max()) == _MASK or int(codes[-1]) >> _BITS >= MOST_SLOTS:
            raise OutOfRangeError
        self._runs.append((codes, batch))
        self._new.append((codes, batch))
        while len(self._runs) > 1 and len(self._runs[-2][0]) <= 2 * len(self._runs[-1][0]):
            newer, older = self._runs.pop(), self._runs.pop()
            merged = _merged(self._left(*older), self._left(*newer))
            if len(merged[0]):
                self._runs.append(merged)

    def between(self, slots: Any, first: Any, last: Any) -> list[Found]:
        """Return the rows of each slot whose times are in an interval; those of one slot by time, then by arrival."""
        np = numpy()
        lowest, highest = self.codes(slots, first), self.codes(slots, last)
        result = []
        for codes, batch in self._runs:
            begin = np.searchsorted(codes, lowest, "left")
            counts = np.maximum(np.searchsorted(codes, highest, "right") - begin, 0)
            ends = np.cumsum(counts)
            total = int(ends[-1]) if len(ends) else 0
            if not total:
                continue
            asked = np.repeat(np.arange(len(slots)), counts)
            places = np.arange(total) + np.repeat(begin - ends + counts, counts)
            times = (codes[places] & _MASK) + self._origin
            left = times > self.gone[slots[asked]]
            if not left.all():
                asked, places, times = asked[left], places[left], times[left]
            if len(asked):
                result.append(Found(batch, asked, places, times))
        return result

    def remove(self, slots: Any, until: int) -> None:
        """Remove the rows of slots up to a time."""
        self.gone[slots] = numpy().maximum(self.gone[slots], until)

    def first_times(self, slots: Any) -> Any:
        """Return the time of the first row that is left of each slot, NEVER if there is none."""
        np = numpy()
        result = np.full(len(slots), NEVER, dtype=np.int64)
        wanted = self.codes(slots, self.gone[slots] + 1)
        for codes, _ in self._runs:
            places = np.searchsorted(codes, wanted)
            found = codes[np.minimum(places, len(codes) - 1)]
            times = np.where((places < len(codes)) & (found >> _BITS == slots), (found & _MASK) + self._origin, NEVER)
            np.minimum(result, times, out=result)
        return result

    def clear(self) -> None:
        """Forget all rows: they are all gone."""
        self._runs = []
        self._new = []

    def all(self) -> Iterator[Any]:
        """Iterate over the batches of all rows that are left."""
        return (batch for _, batch in starmap(self._left, self._runs) if batch.num_rows)

    def take_new(self) -> list[Any]:
        """Return the batches, without gone rows, that were added since the last call."""
        new, self._new = self._new, []
        return [batch for _, batch in starmap(self._left, new) if batch.num_rows]

    def renumber(self, used: Any) -> None:
        """Keep the slots of the sorted array `used`, which get the numbers 0, 1, ... There must be no new rows."""
        np = numpy()
        numbers = np.full(len(self.timers), -1, dtype=np.int64)
        numbers[used] = np.arange(len(used))
        runs = [self._left(*run) for run in self._runs]
        self._runs = [
            ((numbers[codes >> _BITS] << _BITS) + (codes & _MASK), batch) for codes, batch in runs if len(codes)
        ]
        self.timers, self.gone = self.timers[used], self.gone[used]

    def _left(self, codes: Any, batch: Any) -> tuple[Any, Any]:
        left = (codes & _MASK) + self._origin > self.gone[codes >> _BITS]
        return (codes, batch) if left.all() else (codes[left], batch.filter(pyarrow().array(left)))


def _merged(older: tuple[Any, Any], newer: tuple[Any, Any]) -> tuple[Any, Any]:
    np = numpy()
    codes = np.concatenate((older[0], newer[0]))
    order = np.argsort(codes, kind="stable")  # linear for two sorted parts
    return codes[order], joined([older[1], newer[1]]).take(pyarrow().array(order))


def joined(batches: list[Any]) -> Any:
    """Return the rows of several batches as one.

    >>> pa = pyarrow()
    >>> one, two = (pa.RecordBatch.from_arrays([pa.array([value])], names=["a"]) for value in (1, 2))
    >>> joined([one, two]).to_pydict()
    {'a': [1, 2]}
    """
    if len(batches) == 1:
        return batches[0]
    concat = pyarrow().concat_arrays
    arrays = [concat([batch.columns[i] for batch in batches]) for i in range(batches[0].num_columns)]
    return pyarrow().RecordBatch.from_arrays(arrays, schema=batches[0].schema)
