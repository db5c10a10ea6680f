"""New keyed state on its way into a savepoint: entries of any order, gathered into files sorted by key group.

Decides when memory is left for disk. The files are deltas of a subtask that never was, so that reading them as one chain
brings all entries together again, later ones over earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace.state.delta import OperatorState, SubtaskState
from headrace.state.files import StateFile, StateHeader, write_state_file
from headrace.state.key_groups import GroupCache
from headrace.state.tombstone import StateDelta
from headrace.state_processor.chains import Chain

__all__ = ["SPILLED", "spilled"]

SPILLED = "spilled"
"""The operator id under which entries are filed until it is known where they go."""
_JOB = "state-processor"
_ENTRIES = 100_000  # as many are in memory at most


def spilled(
    directory: str, number: int, name: str, entries: Iterable[tuple[Any, tuple[Any, Any]]], groups: int
) -> Chain:
    """Files all `(key, (entry key, value))` of a state below `directory`.

    `number` is unique there; `groups` is the number of key groups.
    """
    group_of = GroupCache(groups)
    files: list[StateFile] = []
    vertex = str(number)

    def flush(delta: StateDelta) -> None:
        header = StateHeader(_JOB, vertex, 0, len(files), "0")
        files.append(write_state_file(directory, header, SubtaskState({SPILLED: OperatorState({name: delta})})))

    delta: StateDelta = {}
    held = 0
    for key, entry in entries:
        delta.setdefault(group_of[key], []).append(entry)
        held += 1
        if held == _ENTRIES:
            flush(delta)
            delta, held = {}, 0
    if delta:
        flush(delta)
    return Chain(directory, _JOB, vertex, 0, tuple(files))
