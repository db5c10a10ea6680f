"""Sort the entries of new keyed state into files by key group, on their way into a savepoint.

Decides when to move entries from memory to disk. The files are deltas of an artificial subtask, so that reading them as one
chain merges all entries, and later ones override earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace.state.delta import OperatorState, SubtaskState
from headrace.state.files import StateFile, StateHeader, write_state_file
from headrace.state.key_groups import key_group
from headrace.state.tombstone import StateDelta
from headrace.state_processor.chains import Chain

SPILLED = "spilled"
"""The operator id under which entries are stored until their operator is known."""
_JOB = "state-processor"
_ENTRIES = 100_000  # at most this many are in memory


def spilled(
    directory: str, number: int, name: str, entries: Iterable[tuple[Any, tuple[Any, Any]]], groups: int
) -> Chain:
    """Store all `(key, (entry key, value))` of a state below `directory`.

    `number` is unique there; `groups` is the number of key groups.
    """
    files: list[StateFile] = []
    vertex = str(number)

    def flush(delta: StateDelta) -> None:
        header = StateHeader(_JOB, vertex, 0, len(files), "0")
        files.append(write_state_file(directory, header, SubtaskState({SPILLED: OperatorState({name: delta})})))

    delta: StateDelta = {}
    held = 0
    for key, entry in entries:
        delta.setdefault(key_group(key, groups), []).append(entry)
        held += 1
        if held == _ENTRIES:
            flush(delta)
            delta, held = {}, 0
    if delta:
        flush(delta)
    return Chain(directory, _JOB, vertex, 0, tuple(files))
