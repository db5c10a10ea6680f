"""An operator of a savepoint that is being written: its kept state and its new state.

Decides which chain each state is read from, and how operator state is distributed, and when new
entries move from memory to disk. Used by `SavepointWriter`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from headrace.state.file_format import OperatorState, SubtaskState
from headrace.state.files import StateFile, StateHeader, write_state_file
from headrace.state.key_groups import key_group, key_group_range
from headrace.state.operator_state import OperatorSnapshot, split_evenly
from headrace.state.tombstone import StateDelta
from headrace.state_processor.chains import Chain, GroupStream
from headrace.state_processor.keyed_layout import KeyedLayout


@dataclass
class OperatorDraft:
    """The states of one operator by name. Timers are states too."""

    id: str
    uid: str | None
    name: str
    max_parallelism: int
    parallelism: int = 1
    kinds: dict[str, str] = field(default_factory=dict)
    """The kinds of keyed and operator state, like in a manifest."""
    old_id: str = ""
    """The operator's id in the old files."""
    old: list[Chain] = field(default_factory=list)
    dropped: set[str] = field(default_factory=set)
    """Old states that are removed or replaced."""
    added: dict[str, Chain] = field(default_factory=dict)
    added_kinds: dict[str, str] = field(default_factory=dict)
    added_types: dict[str, str] = field(default_factory=dict)
    """Types of keyed states that are new, or transformed into another type."""
    changes: dict[str, list[tuple[KeyedLayout, Callable[..., Any]]]] = field(default_factory=dict)
    operator_state: OperatorSnapshot = field(default_factory=OperatorSnapshot)
    """New operator state of all subtasks together."""

    def drop(self, name: str) -> None:
        """Drop a state of any kind."""
        self.dropped.add(name)
        new = self.operator_state
        tables: tuple[dict[str, Any], ...] = (self.kinds, self.added, self.added_kinds, self.added_types, self.changes)
        for table in (*tables, new.split, new.union, new.broadcast):
            table.pop(name, None)

    def subtask(self, number: int) -> OperatorState:
        """Return the state of a subtask. Its keyed state is read while it is written."""
        old = next((chain for chain in self.old if chain.subtask == number), None)
        plain = {} if old is None else old.plain(self.old_id)
        keyed: dict[str, Any] = {}
        every = range(self.max_parallelism)
        mine = key_group_range(number, self.max_parallelism, self.parallelism)
        if old is not None:
            for name in old.states(self.old_id) - self.dropped:
                keyed[name] = GroupStream(every, self._changed(name, old, every))
        for name, chain in self.added.items():
            keyed[name] = GroupStream(mine, self._changed(name, chain, mine))
        return OperatorState(
            keyed,
            {
                "facts": plain.get("facts", {}),
                "kinds": self._kept(plain, "kinds") | self.added_kinds,
                "types": self._kept(plain, "types") | self.added_types,
                "operator_types": self._kept(plain, "operator_types"),
                "operator_state": self._operator_state(number, plain.get("operator_state") or OperatorSnapshot()),
            },
        )

    def _kept(self, plain: dict[str, Any], what: str) -> dict[str, str]:
        """Return what the old files record about the kept states. Earlier versions recorded no types."""
        return {name: text for name, text in plain.get(what, {}).items() if name not in self.dropped}

    def _changed(self, name: str, chain: Chain, groups: range) -> Iterator[tuple[int, Any]]:
        own_id = SPILLED if name in self.added else self.old_id
        for group, entries in chain.groups(own_id, name, groups):
            for layout, function in self.changes.get(name, ()):
                entries = list(layout.changed(entries, function))
            yield group, entries

    def _operator_state(self, number: int, old: OperatorSnapshot) -> OperatorSnapshot:
        new, dropped = self.operator_state, self.dropped
        return OperatorSnapshot(
            split={n: e for n, e in old.split.items() if n not in dropped}
            | {n: split_evenly(elements, self.parallelism)[0][number] for n, elements in new.split.items()},
            union={n: e for n, e in old.union.items() if n not in dropped}
            | {n: elements if number == 0 else [] for n, elements in new.union.items()},
            broadcast={n: e for n, e in old.broadcast.items() if n not in dropped} | new.broadcast,
        )


SPILLED = "spilled"
"""The operator id under which entries are stored until their operator is known."""
_JOB = "state-processor"
_ENTRIES = 100_000  # at most this many are in memory


def spilled(
    directory: str, number: int, name: str, entries: Iterable[tuple[Any, tuple[Any, Any]]], groups: int
) -> Chain:
    """Sort all `(key, (entry key, value))` of a state by key group into files below `directory`.

    The files are deltas of an artificial subtask: read as one chain, later entries override earlier ones.

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
