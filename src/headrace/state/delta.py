"""The state that a subtask saves at the end of an epoch, and how the files of several epochs become one state.

Decides the shape of a subtask's state, and that later files win. Never reads or writes: ``headrace.state.files`` does.
Used by the task (which fills it) and by the restore.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from headrace.state.tombstone import TOMBSTONE, KeyedDelta, StateDelta

__all__ = ["OperatorState", "SubtaskState", "fold"]


@dataclass
class OperatorState:
    """The saved state of one operator.

    ``keyed`` holds state name -> key group -> entries (``TOMBSTONE`` as a value deletes). ``plain`` holds anything else
    by name (operator state, kinds of states, watermarks of channels); a name in a later file replaces the earlier
    value as a whole, and a name that is missing there keeps it.

    >>> OperatorState(plain={"watermark": 5}).plain
    {'watermark': 5}
    """

    keyed: KeyedDelta = field(default_factory=dict)
    plain: dict[str, Any] = field(default_factory=dict)


@dataclass
class SubtaskState:
    """The saved state of one subtask: that of its operators by uid.

    >>> SubtaskState({"count": OperatorState()}).operators["count"].keyed
    {}
    """

    operators: dict[str, OperatorState] = field(default_factory=dict)


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
    """Return the state after all of ``states``, oldest first: later entries win, tombstones delete.

    >>> old = SubtaskState({"count": OperatorState({"n": {7: [("a", 1), ("b", 2)]}})})
    >>> new = SubtaskState({"count": OperatorState({"n": {7: [("a", TOMBSTONE), ("b", 3)]}})})
    >>> fold([old, new]).operators["count"].keyed
    {'n': {7: [('b', 3)]}}
    """
    folding: dict[str, _Folding] = {}
    for state in states:
        for uid, operator in state.operators.items():
            folding.setdefault(uid, _Folding()).take(operator)
    return SubtaskState({uid: operator.result() for uid, operator in folding.items()})
