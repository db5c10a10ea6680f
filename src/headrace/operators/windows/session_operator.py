"""The fast operator for sessions of event time with one gap, the default trigger, no evictor and no allowed lateness.

A key has a list of its open sessions, mostly one. A session that grows keeps its place in the heap of ends and is checked
again when its former end has passed, so a record needs no timer. Sessions that are due at a watermark fire in the order of
their ends, then in the order of their last change: the order in which the general operator's timers would fire.

Working memory and state: within an epoch only the lists change. At its end those of changed keys are put into the keyed
table, so a session that opens and ends within one epoch never reaches it.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from operator import itemgetter
from typing import Any

from headrace.common.watermark_strategy import MIN_TIMESTAMP
from headrace.graph.specs import WindowOperation
from headrace.operators.output import Timestamps, Values
from headrace.operators.windows.firing import WindowFunctionOperator
from headrace.operators.windows.state_migration import SESSIONS, take_over_as_sessions
from headrace.windows.window_types import TimeWindow, in_flinks_order, time_reached

# A session: [start, end, number of its last change, contents]; the contents of a session that became part of another are _GONE.
_Session = list[Any]
_GONE = object()
_DUE_ORDER = itemgetter(0, 1)


class SessionWindowOperator(WindowFunctionOperator):
    """Sorted sessions per key."""

    def __init__(self, spec: WindowOperation) -> None:
        super().__init__(spec)
        self._gap: int = spec.assigner.gap
        self._live: dict[Any, list[_Session]] = {}
        self._ends: list[tuple[int, int, Any, _Session]] = []
        self._touched: set[Any] = set()
        self._changes = 0

    def open(self) -> None:
        """Load the sessions of the table."""
        super().open()
        take_over_as_sessions(self.context)
        self._table = self.context.keyed_state.table(SESSIONS)
        self._live = dict(self._table.data)
        everything = [(session, key) for key, sessions in self._live.items() for session in sessions]
        everything.sort(key=lambda entry: entry[0][2])
        for number, (session, key) in enumerate(everything):
            session[2] = number
            self._ends.append((session[1], number, key, session))
        heapify(self._ends)
        self._changes = len(everything)

    # -- elements -------------------------------------------------------------------------------------------------

    def process_batch(self, values: Values, timestamps: Timestamps, keys: list[Any] | None) -> None:
        assert keys is not None
        stamps = [MIN_TIMESTAMP] * len(values) if timestamps is None else timestamps
        gap, live, ends = self._gap, self._live, self._ends
        first, add = self.contents.first, self.contents.add
        number = self._changes
        late: list[int] = []
        records = iter(values)
        open_until = time_reached(self.watermark) + 1  # the earliest end of a session that has not ended
        try:
            for value, time, key in zip(records, stamps, keys):
                number += 1
                if time is None:
                    time = MIN_TIMESTAMP
                end = time + gap
                sessions = live.get(key)
                if sessions is not None and len(sessions) == 1:
                    session = sessions[0]
                    if session[0] <= time <= session[1]:  # the common case: later in the same session
                        session[3] = add(value, session[3])
                        if end > session[1]:
                            session[1] = end
                            session[2] = number
                        continue
                if sessions is None or all(s[0] > end or s[1] < time for s in sessions):
                    if end <= open_until:
                        late.append(number - self._changes - 1)
                        continue
                    session = [time, end, number, first(value)]
                    if sessions is None:
                        live[key] = [session]
                    else:
                        sessions.append(session)
                        sessions.sort(key=itemgetter(0))
                    heappush(ends, (end, number, key, session))
                else:
                    self._join(sessions, value, time, end, number)
        except Exception as error:
            raise self.failure(error, values, records) from error
        self._changes = number
        self._touched.update(keys)
        if late:
            self.late([values[i] for i in late], [stamps[i] for i in late])

    def _join(self, sessions: list[_Session], value: Any, time: int, end: int, number: int) -> None:
        """Merge the sessions that an element touches into one, with the contents in Flink's order."""
        touched = [s for s in sessions if s[0] <= end and s[1] >= time]
        if len(touched) > 1:
            windows = {TimeWindow(s[0], s[1]): s for s in touched}
            own = TimeWindow(time, end)
            ordered = in_flinks_order(sorted({*windows, own}))
            touched = [windows[window] for window in ordered if window in windows]
        kept = touched[0]
        bounds = kept[0], kept[1]
        for other in touched[1:]:
            kept[0] = min(kept[0], other[0])
            kept[1] = max(kept[1], other[1])
            kept[3] = self.contents.merge(kept[3], other[3])
            other[3] = _GONE
            sessions.remove(other)
        kept[0] = min(kept[0], time)
        kept[1] = max(kept[1], end)
        kept[3] = self.contents.add(value, kept[3])
        if (kept[0], kept[1]) != bounds:
            kept[2] = number

    # -- time -----------------------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        """Fire the sessions that have ended, then pass the watermark on."""
        self.watermark = timestamp
        ends, limit = self._ends, time_reached(timestamp) + 1
        due: list[tuple[int, int, Any, _Session]] = []
        while ends and ends[0][0] <= limit:
            _, _, key, session = heappop(ends)
            if session[3] is _GONE:
                continue
            entry = (session[1], session[2], key, session)
            if session[1] <= limit:
                due.append(entry)
            else:
                heappush(ends, entry)
        if due:
            self._fire_due(due)
        self.output.emit_watermark(timestamp)

    def _fire_due(self, due: list[tuple[int, int, Any, _Session]]) -> None:
        due.sort(key=_DUE_ORDER)
        live, touched, result = self._live, self._touched, self.contents.result
        single, fire, clears = self.contents.single, self.fire, self.clears
        for _, _, key, session in due:
            window = TimeWindow(session[0], session[1])
            sessions = live[key]
            if len(sessions) == 1:
                del live[key]
            else:
                sessions.remove(session)
            touched.add(key)
            fire(key, window, [result(session[3])] if single else session[3])
            if clears:
                self.clear_window(key, window)
        self.emit_results()

    # -- state ----------------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        """Put changed sessions into the table."""
        data, dirty, live = self._table.data, self._table.dirty, self._live
        for key in self._touched:
            sessions = live.get(key)
            if sessions is not None:
                data[key] = sessions
                dirty.add(key)
            elif key in data:
                del data[key]
                dirty.add(key)
        self._touched.clear()
