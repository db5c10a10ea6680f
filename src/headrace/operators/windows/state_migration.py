"""Conversion of window state between the form of the fast operators and that of the general one.

Fast operators keep open windows in memory, so state that may be larger than memory needs the general operator. When a job
continues with the other backend, the operator converts the state once as it opens. Keys and windows are in memory
meanwhile; contents go to disk as they are read.
"""

from __future__ import annotations

from typing import Any

from headrace.operators.context import OperatorContext
from headrace.state.keyed_backend import KeyedBackend
from headrace.state.table import Table
from headrace.windows.window_types import TimeWindow

CONTENTS, SETS = "_window_contents", "_window_set"
ALIGNED, SESSIONS = "_aligned_windows", "_sessions"
TRIGGER_STATE, WINDOW_STATE = "_trigger/", "_window/"
"""Prefixes of the names of states of triggers, and of a window function's `window_state()`."""
WINDOW_SIZE = "window_size"
"""The name of the fact with the size of aligned windows: their table has only the starts."""


_ROOM = 256
"""Number of entries after which the backend may take some out of memory."""


def is_per_window(name: str) -> bool:
    """Return whether a state of a window operator has an entry per key and window, not per key.

    >>> is_per_window(CONTENTS), is_per_window("_trigger/count"), is_per_window(SESSIONS)
    (True, True, False)
    """
    return name in (CONTENTS, ALIGNED) or name.startswith((TRIGGER_STATE, WINDOW_STATE))


def _has(context: OperatorContext, name: str) -> bool:
    return name in context.keyed_state.state_kinds()


def _put(table: Table, entry: Any, value: Any) -> None:
    table.data[entry] = value
    table.dirty.add(entry)


def _empty(table: Table, backend: KeyedBackend) -> None:
    for count, entry in enumerate(list(table.data), 1):
        del table.data[entry]
        table.dirty.add(entry)
        if count % _ROOM == 0:
            backend.make_room()


def take_over_as_general(context: OperatorContext, size: int | None) -> None:
    """Convert the state of the fast operators to contents and timers; ``size`` is that of aligned windows."""
    backend, timers = context.keyed_state, context.event_timers
    found: list[tuple[int, Any, TimeWindow]] = []
    contents = backend.table(CONTENTS, namespaced=True)
    if _has(context, ALIGNED) and size is not None:
        aligned = backend.table(ALIGNED, namespaced=True)
        for count, ((key, start), (number, kept)) in enumerate(aligned.data.items(), 1):
            window = TimeWindow(start, start + size)
            _put(contents, (key, window), kept)
            found.append((number, key, window))
            if count % _ROOM == 0:
                backend.make_room()
        _empty(aligned, backend)
    if _has(context, SESSIONS):
        sessions, sets = backend.table(SESSIONS), backend.table(SETS)
        for key, open_sessions in sessions.data.items():
            windows = {}
            for start, end, number, kept in open_sessions:
                window = TimeWindow(start, end)
                windows[window] = window
                _put(contents, (key, window), kept)
                found.append((number, key, window))
            _put(sets, key, windows)
        _empty(sessions, backend)
    found.sort(key=lambda entry: entry[0])
    for _, key, window in found:
        timers.register(window.max_timestamp(), key, window)


def take_over_as_aligned(context: OperatorContext) -> None:
    """Convert the state of the general operator to aligned windows, and delete its timers."""
    if not _has(context, CONTENTS):
        return
    contents = context.keyed_state.table(CONTENTS, namespaced=True)
    aligned = context.keyed_state.table(ALIGNED, namespaced=True)
    numbers: dict[int, int] = {}
    for _, key, window in _timers_in_order(context):
        if (key, window) in contents.data:
            number = numbers[window.start] = numbers.get(window.start, -1) + 1
            _put(aligned, (key, window.start), (number, contents.data[key, window]))
    _empty(contents, context.keyed_state)


def take_over_as_sessions(context: OperatorContext) -> None:
    """Convert the state of the general operator to sessions, and delete its timers."""
    if not _has(context, SETS):
        return
    contents = context.keyed_state.table(CONTENTS, namespaced=True)
    sets, sessions = context.keyed_state.table(SETS), context.keyed_state.table(SESSIONS)
    order = {(key, window): number for number, (_, key, window) in enumerate(_timers_in_order(context))}
    for key, windows in sets.data.items():
        open_sessions = [
            [window.start, window.end, order.get((key, window), 0), contents.data[key, place]]
            for window, place in sorted(windows.items())
        ]
        _put(sessions, key, open_sessions)
    _empty(sets, context.keyed_state)
    _empty(contents, context.keyed_state)


def _timers_in_order(context: OperatorContext) -> list[tuple[int, Any, Any]]:
    """Remove all event-time timers and return them in the order of their registration."""
    snapshot = context.event_timers.snapshot_full()
    numbered = [entry for entries in snapshot.values() for entry in entries]
    numbered.sort(key=lambda entry: entry[1])
    for (time, key, window), _ in numbered:
        context.event_timers.delete(time, key, window)
    return [timer for timer, _ in numbered]
