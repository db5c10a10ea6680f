"""Aggregates over SESSION windows: per key, rows whose distance is at most the gap belong together.

A key has a list of its open sessions, mostly one. A session that grows keeps its place in the heap of ends and is checked
again when its former end has passed. Within an epoch only the lists change; at its end those of changed keys are put into
the keyed table.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

from headrace.graph.table_specs import WindowAggregate
from headrace.operators.output import Timestamps, Values
from headrace.operators.table.base import keys_of, rows_of
from headrace.operators.table.window_base import RETRACTIONS, Row, WindowOperator

SESSIONS = "sessions"
_Session = list[Any]
"""[start, end, entry]; the entry of a session that was merged into another, or removed, is None."""
_Due = tuple[int, int, Any, _Session]
"""(end when it was pushed, number, key, session)"""


class SessionOperator(WindowOperator):
    """Open sessions by key; an entry is [*accumulators, number of rows]."""

    def __init__(self, spec: WindowAggregate) -> None:
        super().__init__(spec)
        self.gap = spec.window.size
        self.live: dict[Any, list[_Session]] = {}
        self._ends: list[_Due] = []
        self._number = 0
        self.touched: set[Any] = set()

    def open(self) -> None:
        """Load the sessions of the table."""
        self._table = self.context.keyed_state.table(SESSIONS)
        for key, sessions in self._table.data.items():
            self.live[key] = sessions
            for session in sessions:
                self._number += 1
                self._ends.append((session[1], self._number, key, session))
        heapify(self._ends)

    # -- rows -----------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        rows = rows_of(values)
        if keys is None:
            keys = keys_of(rows, self.spec.keys)
        add, retract, kinds, gap, live, late = (
            self.aggregates.add, self.aggregates.retract, self.spec.kinds, self.gap, self.live, 0,
        )  # fmt: skip
        records = iter(rows)
        try:
            for row, key, time in zip(records, keys, self.times(rows)):
                sessions = live.get(key)
                if sessions is not None and len(sessions) == 1 and sessions[0][0] <= time <= sessions[0][1]:
                    session = sessions[0]
                    session[1] = max(session[1], time + gap)
                else:
                    found = self.session(key, time, time + gap)
                    if found is None:
                        late += 1
                        continue
                    session = found
                entry = session[2]
                if kinds and row[-1] in RETRACTIONS:
                    retract(entry, row)
                    entry[-1] -= 1
                else:
                    add(entry, row)
                    entry[-1] += 1
        except Exception as error:
            raise self.failure(error, rows, records) from error
        self.touched.update(keys)
        self.drop_late(late)

    def session(self, key: Any, time: int, end: int) -> _Session | None:
        """Return the session that rows of a time belong to, merged from those that they connect; None if they are late."""
        sessions = self.live.get(key)
        near = [each for each in sessions or () if each[0] <= end and each[1] >= time]
        if not near:
            if self.zone.epoch(end - 1) <= self.progress():
                return None
            session: _Session = [time, end, [*self.aggregates.create(), 0]]
            self.live.setdefault(key, []).append(session)
            self.push(key, session)
            return session
        first, *others = near
        assert sessions is not None
        for other in others:
            first[0], first[1] = min(first[0], other[0]), max(first[1], other[1])
            self.aggregates.merge(first[2], other[2])
            first[2][-1] += other[2][-1]
            other[2] = None
            sessions.remove(other)
        first[0], first[1] = min(first[0], time), max(first[1], end)
        return first

    def push(self, key: Any, session: _Session) -> None:
        """Note when a session ends."""
        self._number += 1
        heappush(self._ends, (session[1], self._number, key, session))

    # -- time -----------------------------------------------------------------------------------------------------

    def next_end(self) -> int | None:
        return self.zone.epoch(self._ends[0][0] - 1) if self._ends else None

    def fire(self, progress: int) -> None:
        epoch, ends = self.zone.epoch, self._ends
        due: list[tuple[int, int, Any, _Session]] = []
        while ends and epoch(ends[0][0] - 1) <= progress:
            _, _, key, session = heappop(ends)
            if session[2] is None:
                continue
            if epoch(session[1] - 1) <= progress:
                due.append((session[1], session[0], key, session))
            else:
                self.push(key, session)
        due.sort(key=lambda each: each[:2])
        out: list[Row] = []
        for end, start, key, session in due:
            entry, session[2] = session[2], None
            sessions = self.live[key]
            if len(sessions) == 1:
                del self.live[key]
            else:
                sessions.remove(session)
            self.touched.add(key)
            out += self.result(key, entry, start, end)
        self.output.emit(out, None)

    def result(self, key: Any, entry: list[Any], start: int, end: int) -> list[Row]:
        """Return the rows that a session emits."""
        if not entry[-1]:
            return []
        return [(*self.key_columns(key), *self.aggregates.results(entry), *self.properties(start, end))]

    # -- state ----------------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        """Put changed sessions into the table."""
        data, dirty, live = self._table.data, self._table.dirty, self.live
        for key in self.touched:
            sessions = live.get(key)
            if sessions is not None:
                data[key] = sessions
                dirty.add(key)
            elif key in data:
                del data[key]
                dirty.add(key)
        self.touched.clear()
