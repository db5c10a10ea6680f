"""Read open windows, whether the general operator, the one of aligned windows, or the one of sessions stored them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headrace.operators.windows.state_migration import ALIGNED, CONTENTS, SESSIONS, SETS, WINDOW_SIZE
from headrace.state.opaque_key import unwrap_key
from headrace.state_processor.chains import Chain, GroupStream
from headrace.state_processor.records import OperatorInfo
from headrace.windows.window_types import TimeWindow

TABLES = (CONTENTS, ALIGNED, SESSIONS)
"""The states with the contents of windows."""


def open_windows(chain: Chain, operator: OperatorInfo) -> Iterator[tuple[Any, Any, Any]]:
    """Yield (key, window, contents) of all open windows of a subtask."""
    size = chain.plain(operator.id)["facts"].get(WINDOW_SIZE, 0)
    merged = GroupStream(range(operator.max_parallelism), chain.groups(operator.id, SETS))
    for group, entries in chain.groups(operator.id, CONTENTS):
        # Contents stay where they are when their window grows.
        grown = {(key, place): window for key, set_ in merged[group] for window, place in set_.items()}
        for (key, place), contents in entries:
            yield unwrap_key(key), grown.get((key, place), place), contents
    for _, entries in chain.groups(operator.id, ALIGNED):
        for (key, start), (_, contents) in entries:
            yield unwrap_key(key), TimeWindow(start, start + size), contents
    for _, entries in chain.groups(operator.id, SESSIONS):
        for key, sessions in entries:
            for start, end, _, contents in sessions:
                yield unwrap_key(key), TimeWindow(start, end), contents
