"""Timers that may not fit into memory: the next ones in memory, later ones on disk.

Decides which timers are on disk: when there are too many in memory, the later ones move. All timers on disk come after the
*horizon*, the first of them, so an earlier timer need not be searched there. When memory has no timer before the horizon
any more, the next run of timers is read.

On disk a timer is stored twice: by itself (``timer -> sequence number``, as in the state files), and by time in an index.
Two former subtasks may have used the same sequence number. To order their timers, numbers in memory are
``sequence << 16 | suffix``: the key group for restored timers, the greatest suffix for those registered here.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Iterator, Mapping
from heapq import heappop, heappush
from itertools import chain, islice
from operator import itemgetter
from typing import Any

from headrace.state.disk_file import DiskFile
from headrace.state.disk_store import DiskStore
from headrace.state.timers import Timer, TimerQueue
from headrace.state.tombstone import TOMBSTONE, StateDelta

_INDEX = struct.Struct(">HQQ")
_PREFIX = struct.Struct(">H")
_OFFSET = 1 << 63
_LAST = (1 << 64) - 1
_STEP = 1 << 16
_OWN = _STEP - 1
_REFILL = 4096
_ORDER = itemgetter(0, 1)
_SMALL_HEAP = 64
_POPS = 1024  # timers between two calls that may make room


class DiskTimerQueue(TimerQueue):
    """The timers of an operator's subtask in one time domain; ``limit`` is the greatest number in memory."""

    __slots__ = ("_between", "_file", "_horizon", "_index", "_on_disk", "_popped", "_store", "limit")

    def __init__(
        self,
        group_of: Callable[[Any], int],
        store: DiskStore,
        file: DiskFile,
        index: int,
        limit: int,
        between: Callable[[], None] | None = None,
    ) -> None:
        """Take the store, the file of the timers themselves, and the number of the index in the store.

        ``between`` is called from time to time between two timers, when nothing holds state.
        """
        super().__init__(group_of)
        self._store = store
        self._file = file
        self._index = index
        self._sequence = _OWN
        self._horizon: tuple[int, int] | None = None
        self._on_disk = 0
        self.limit = limit
        self._between = between
        self._popped = 0

    def __len__(self) -> int:
        return len(self._live) + self._on_disk

    # -- registering ----------------------------------------------------------------------------------------------

    def register(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        timer = (timestamp, key, namespace)
        if self._number(timer) is not None:
            return
        number = self._sequence
        self._sequence = number + _STEP
        self._live[timer] = number
        heappush(self._heap, (timestamp, number, timer))
        self._added.append(timer)

    def delete(self, timestamp: int, key: Any, namespace: Any = None) -> None:
        timer = (timestamp, key, namespace)
        if timer in self._live:
            super().delete(timestamp, key, namespace)
            return
        number = self._number(timer)
        if number is not None:
            self._unfile([(timer, number)])
            if self._horizon == (timestamp, number):
                self._horizon = self._first_on_disk()
            if number < self._mark:
                self._removed.add(timer)

    def _number(self, timer: Timer) -> int | None:
        number = self._live.get(timer)
        if number is None and self._horizon is not None and timer[0] >= self._horizon[0]:
            number = self._file.get(timer, None)
        return number

    # -- firing ---------------------------------------------------------------------------------------------------

    def next_timestamp(self) -> int | None:
        first = super().next_timestamp()
        if self._horizon is None:
            return first
        return self._horizon[0] if first is None else min(first, self._horizon[0])

    def pop_due(self, limit: int) -> Timer | None:
        self._popped += 1
        if self._popped % _POPS == 0 and self._between is not None:
            self._between()
        if len(self._heap) > _SMALL_HEAP and self._heap[0][0] <= limit and len(self._heap) * 8 > len(self._ordered):
            self._sort_in()
        while True:
            heap, ordered, live = self._heap, self._ordered, self._live
            from_heap = bool(heap) and not (ordered and ordered[-1] < heap[0])
            item = heap[0] if from_heap else ordered[-1] if ordered else None
            horizon = self._horizon
            if horizon is not None and horizon[0] <= limit and (item is None or (item[0], item[1]) > horizon):
                self._refill()
                continue
            if item is None or item[0] > limit:
                return None
            if from_heap:
                heappop(heap)
            else:
                ordered.pop()
            _, number, timer = item
            if live.get(timer) == number:
                del live[timer]
                if number < self._mark:
                    self._removed.add(timer)
                return timer

    # -- between memory and disk ----------------------------------------------------------------------------------

    def make_room(self) -> None:
        """Move the later timers to disk if there are too many in memory."""
        if len(self._live) <= self.limit:
            return
        in_order = sorted(((timer[0], number, timer) for timer, number in self._live.items()), key=_ORDER)
        kept = in_order[: self.limit // 2]
        self._live = {timer: number for _, number, timer in kept}
        self._heap.clear()
        self._ordered[:] = reversed(kept)
        self._file_away((timer, number) for _, number, timer in in_order[len(kept) :])

    def _file_away(self, timers: Any) -> None:
        for run in iter(lambda: list(islice(timers, _REFILL)), []):
            self._file.put(run)
            index = [(self._at(timer[0], number), pickle.dumps(timer, protocol=5)) for timer, number in run]
            self._store.write(index, ())
            self._on_disk += len(run)
            first = min((timer[0], number) for timer, number in run)
            self._horizon = first if self._horizon is None else min(self._horizon, first)

    def _unfile(self, timers: list[tuple[Timer, int]]) -> None:
        self._file.put([(timer, TOMBSTONE) for timer, _ in timers])
        self._store.write((), [self._at(timer[0], number) for timer, number in timers])
        self._on_disk -= len(timers)
        if self._on_disk == 0:
            self._horizon = None

    def _refill(self) -> None:
        prefix = _PREFIX.pack(self._index)
        found = list(islice(self._store.scan(prefix), _REFILL + 1))
        run: list[tuple[Timer, int]] = []
        for where, data in found[:_REFILL]:
            timer: Timer = pickle.loads(data)  # noqa: S301 - written by this process
            run.append((timer, _INDEX.unpack(where)[2]))
        self._live.update(run)
        for timer, number in run:
            heappush(self._heap, (timer[0], number, timer))
        if len(found) > _REFILL:
            self._horizon = _place(found[-1][0])
        self._unfile(run)

    def _first_on_disk(self) -> tuple[int, int] | None:
        first = next(iter(self._store.scan(_PREFIX.pack(self._index))), None)
        return None if first is None else _place(first[0])

    def _at(self, time: int, number: int) -> bytes:
        # Flink's times have 64 bits. Greater ones are never reached and come last, in any order.
        return _INDEX.pack(self._index, min(max(time + _OFFSET, 0), _LAST), number)

    # -- saving ---------------------------------------------------------------------------------------------------

    def collect_delta(self) -> StateDelta:
        changed: dict[Timer, Any] = {timer: TOMBSTONE for timer in self._removed if self._number(timer) is None}
        for timer in self._added:
            number = self._number(timer)
            if number is not None:
                changed[timer] = number >> 16
        self._added.clear()
        self._removed.clear()
        self._mark = self._sequence
        return self._by_group(list(changed.items()))

    def snapshot_full(self) -> StateDelta:
        """Return all timers by key group; those on disk are read while the snapshot is used."""
        held = self._by_group([(timer, number >> 16) for timer, number in self._live.items()])
        return _TimerSnapshot(held, self._file)  # type: ignore[return-value]  # read like a dict

    def apply(self, delta: StateDelta, key_groups: range) -> None:
        for group, entries in delta.items():
            if group not in key_groups:
                continue
            added: list[tuple[Timer, int]] = []
            for timer, sequence in entries:
                number = self._number(timer)
                if number is not None and self._live.pop(timer, None) is None:
                    self._unfile([(timer, number)])
                if sequence is not TOMBSTONE:
                    added.append((timer, sequence << 16 | group))
                    self._sequence = max(self._sequence, (sequence + 1) * _STEP + _OWN)
            self._file_away(iter(added))
        self._mark = self._sequence

    def _sort_in(self) -> None:
        # Timers read from disk have small numbers: unlike with timers in memory only, numbers must be compared too.
        self._ordered += self._heap
        self._ordered.sort(key=_ORDER, reverse=True)
        self._heap.clear()


class _TimerSnapshot(Mapping[int, Iterator[tuple[Timer, int]]]):
    """Key group -> timers, those in memory and then those on disk."""

    def __init__(self, held: StateDelta, file: DiskFile) -> None:
        self._held = held
        self._file = file
        self._groups = sorted({*held, *file.groups()})

    def __getitem__(self, group: int) -> Iterator[tuple[Timer, int]]:
        stored = ((timer, number >> 16) for _, found in self._file.scan(group) for timer, number in found)
        return chain(self._held.get(group, ()), stored)

    def __iter__(self) -> Iterator[int]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)


def _place(where: bytes) -> tuple[int, int]:
    """Return the time and the number in a key of the index."""
    _, time, number = _INDEX.unpack(where)
    return time - _OFFSET, number
