"""The files of several epochs as one state, in memory: what a restore must be equal to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace.state.file_format import OperatorState, SubtaskState
from headrace.state.files import read_state_file, since_last_base
from headrace.state.tombstone import TOMBSTONE, StateDelta


class _Folding:
    """One operator while files are folded into it: entries as dicts."""

    def __init__(self) -> None:
        self.keyed: dict[str, dict[int, dict[Any, Any]]] = {}
        self.plain: dict[str, Any] = {}

    def take(self, later: OperatorState) -> None:
        self.plain.update(later.plain)
        for name, by_group in later.keyed.items():
            groups = self.keyed.setdefault(name, {})
            for group, entries in by_group.items():
                present = groups.get(group)
                if present is None:
                    groups[group] = dict(entries)
                else:
                    present.update(entries)

    def result(self) -> OperatorState:
        keyed = {name: _without_tombstones(by_group) for name, by_group in self.keyed.items()}
        return OperatorState(
            keyed={name: by_group for name, by_group in keyed.items() if by_group},
            plain={name: value for name, value in self.plain.items() if value is not TOMBSTONE},
        )


def _without_tombstones(by_group: dict[int, dict[Any, Any]]) -> StateDelta:
    kept = {
        group: [entry for entry in entries.items() if entry[1] is not TOMBSTONE] for group, entries in by_group.items()
    }
    return {group: entries for group, entries in kept.items() if entries}


def fold(states: Iterable[SubtaskState]) -> SubtaskState:
    """Return the state after all of ``states``, oldest first: later entries win, tombstones delete."""
    folding: dict[str, _Folding] = {}
    for state in states:
        for uid, operator in state.operators.items():
            folding.setdefault(uid, _Folding()).take(operator)
    return SubtaskState({uid: operator.result() for uid, operator in folding.items()})


def read_chain(directory, state_files, expected, key_groups=None):
    """Read the files of one subtask, oldest first, into its state after the last one."""
    return fold(read_state_file(directory, file, expected, key_groups) for file in since_last_base(state_files))
