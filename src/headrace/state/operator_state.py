"""State that belongs to a subtask, not to a key: broadcast state, list state, union list state.

Decides how such state behaves, what is saved of it, and which subtask gets what with another parallelism, like Flink's
``RoundRobinOperatorStateRepartitioner``. Never writes files. Made by the task for each operator that has such state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from headrace.errors import StateError
from headrace.state.descriptors import ListStateDescriptor, MapStateDescriptor, StateDescriptor
from headrace.state.interfaces import BroadcastState, ListState, OperatorStateStore, ReadOnlyBroadcastState
from headrace.state.state_types import StateTypes


@dataclass(frozen=True)
class OperatorSnapshot:
    """The operator state of one subtask: contents by state name.

    >>> OperatorSnapshot(split={"offsets": [1, 2]}).split
    {'offsets': [1, 2]}
    """

    split: dict[str, list[Any]] = field(default_factory=dict)
    union: dict[str, list[Any]] = field(default_factory=dict)
    broadcast: dict[str, dict[Any, Any]] = field(default_factory=dict)


class _Changes:
    """Whether something was written since the last collection."""

    __slots__ = ("seen",)

    def __init__(self) -> None:
        self.seen = False


class ReadOnlyBroadcastView(ReadOnlyBroadcastState[Any, Any]):
    """The broadcast map without the methods that change it. It shows later changes of the map.

    >>> view = ReadOnlyBroadcastView("rules", {"a": 1})
    >>> view["a"], view.get("b"), "a" in view, list(view)
    (1, None, True, ['a'])
    """

    __slots__ = ("_entries", "_name")

    def __init__(self, name: str, entries: dict[Any, Any]) -> None:
        self._name = name
        self._entries = entries

    def get(self, key: Any) -> Any:
        return self._entries.get(key)

    def contains(self, key: Any) -> bool:
        return key in self._entries

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Iterate over the entries, oldest first."""
        return iter(self._entries.items())

    def keys(self) -> Iterator[Any]:
        return iter(self._entries)

    def values(self) -> Iterator[Any]:
        return iter(self._entries.values())

    def is_empty(self) -> bool:
        return not self._entries

    def clear(self) -> None:
        """Refuse: the keyed side must not change broadcast state."""
        raise StateError(
            f"The broadcast state {self._name!r} is read-only here", remedy="change it in process_broadcast_element"
        )


class HeapBroadcastState(ReadOnlyBroadcastView, BroadcastState[Any, Any]):
    """The broadcast map of a subtask, in memory.

    >>> state = HeapBroadcastState("rules", {})
    >>> state["a"] = 1
    >>> state.put_all({"b": 2})
    >>> del state["a"]
    >>> list(state.items())
    [('b', 2)]
    """

    __slots__ = ("_changes",)

    def __init__(self, name: str, entries: dict[Any, Any], changes: _Changes | None = None) -> None:
        super().__init__(name, entries)
        self._changes = changes or _Changes()

    def read_only(self) -> ReadOnlyBroadcastView:
        """Return the view for the keyed side."""
        return ReadOnlyBroadcastView(self._name, self._entries)

    def put(self, key: Any, value: Any) -> None:
        self._entries[key] = value
        self._changes.seen = True

    def put_all(self, dict_value: Mapping[Any, Any] | Iterable[tuple[Any, Any]]) -> None:
        self._entries.update(dict_value)
        self._changes.seen = True

    def remove(self, key: Any) -> None:
        self._entries.pop(key, None)
        self._changes.seen = True

    def clear(self) -> None:
        self._entries.clear()
        self._changes.seen = True


class HeapOperatorListState(ListState[Any]):
    """A list of the subtask, whose elements are the units of redistribution.

    >>> state = HeapOperatorListState([])
    >>> state.add_all([1, 2])
    >>> state.add(3)
    >>> list(state)
    [1, 2, 3]
    """

    __slots__ = ("_changes", "_elements")

    def __init__(self, elements: list[Any], changes: _Changes | None = None) -> None:
        self._elements = elements
        self._changes = changes or _Changes()

    def get(self) -> list[Any]:
        return self._elements[:]

    def add(self, value: Any) -> None:
        self._elements.append(value)
        self._changes.seen = True

    def add_all(self, values: Iterable[Any]) -> None:
        self._elements.extend(values)
        self._changes.seen = True

    def update(self, values: Iterable[Any]) -> None:
        self._elements[:] = list(values)
        self._changes.seen = True

    def clear(self) -> None:
        self._elements.clear()
        self._changes.seen = True


class OperatorStateBackend(OperatorStateStore):
    """The operator state of one operator's subtask.

    >>> backend = OperatorStateBackend()
    >>> backend.get_broadcast_state(MapStateDescriptor("rules", None, None)).put("a", 1)
    >>> backend.collect_changed().broadcast
    {'rules': {'a': 1}}
    >>> backend.collect_changed() is None
    True
    """

    def __init__(self) -> None:
        self._contents = OperatorSnapshot()
        self._changes = _Changes()
        self._asked_for: set[str] = set()
        self._restored: set[str] = set()
        self.types = StateTypes()
        """The declared types of the states that programs ask for."""

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> HeapBroadcastState:
        self._check(state_descriptor, "broadcast")
        name = state_descriptor.name
        return HeapBroadcastState(name, self._contents.broadcast.setdefault(name, {}), self._changes)

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> HeapOperatorListState:
        self._check(state_descriptor, "split")
        return HeapOperatorListState(self._contents.split.setdefault(state_descriptor.name, []), self._changes)

    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> HeapOperatorListState:
        self._check(state_descriptor, "union")
        return HeapOperatorListState(self._contents.union.setdefault(state_descriptor.name, []), self._changes)

    def has_list_state(self, name: str) -> bool:
        """Return whether there is a list state of that name, asked for or restored."""
        return name in self._contents.split

    def state_kinds(self) -> dict[str, str]:
        """Return the kind of every state by name.

        >>> backend = OperatorStateBackend()
        >>> _ = backend.get_list_state(ListStateDescriptor("offsets", None))
        >>> backend.state_kinds()
        {'offsets': 'operator ListState'}
        """
        contents = self._contents
        kinds = dict.fromkeys(contents.split, "operator ListState")
        kinds |= dict.fromkeys(contents.union, "operator UnionListState")
        return kinds | dict.fromkeys(contents.broadcast, "BroadcastState")

    def asked_for(self) -> dict[str, str]:
        """Return the kinds of the states that were asked for since the start, not only restored."""
        return {name: kind for name, kind in self.state_kinds().items() if name in self._asked_for}

    def restored_kinds(self) -> dict[str, str]:
        return {name: kind for name, kind in self.state_kinds().items() if name in self._restored}

    def collect_changed(self) -> OperatorSnapshot | None:
        """Return a snapshot if anything was written since the last call, else ``None``."""
        if not self._changes.seen:
            return None
        self._changes.seen = False
        return self.snapshot()

    def snapshot(self) -> OperatorSnapshot:
        """Return a copy of all lists and maps (their elements are not copied)."""
        contents = self._contents
        return OperatorSnapshot(
            split={name: elements[:] for name, elements in contents.split.items()},
            union={name: elements[:] for name, elements in contents.union.items()},
            broadcast={name: dict(entries) for name, entries in contents.broadcast.items()},
        )

    def restore(self, snapshot: OperatorSnapshot) -> None:
        """Replace everything with the snapshot. States returned earlier stay valid and show the restored contents."""
        for mine, restored in ((self._contents.split, snapshot.split), (self._contents.union, snapshot.union)):
            for elements in mine.values():
                elements.clear()
            for name, elements in restored.items():
                mine.setdefault(name, []).extend(elements)
        for entries in self._contents.broadcast.values():
            entries.clear()
        for name, entries in snapshot.broadcast.items():
            self._contents.broadcast.setdefault(name, {}).update(entries)
        self._changes.seen = False
        self._restored.update(snapshot.split, snapshot.union, snapshot.broadcast)

    def _check(self, descriptor: StateDescriptor, mode: str) -> None:
        if descriptor.ttl_config is not None and descriptor.ttl_config.is_enabled():
            raise StateError(
                f"Operator state cannot have a time to live (state {descriptor.name!r})",
                remedy="remove enable_time_to_live from the descriptor",
            )
        for other in ("split", "union", "broadcast"):
            if other != mode and descriptor.name in getattr(self._contents, other):
                raise StateError(
                    f"The state {descriptor.name!r} is a {_NAMES[other]} and cannot be used as a {_NAMES[mode]}",
                    remedy="give each state of an operator its own name",
                )
        self.types.declare(descriptor.name, descriptor.type_info)
        self._asked_for.add(descriptor.name)


_NAMES = {"split": "list state", "union": "union list state", "broadcast": "broadcast state"}


def split_evenly(elements: Sequence[Any], parallelism: int, start: int = 0) -> tuple[list[list[Any]], int]:
    """Divide a list into one run per subtask. Return the runs and the subtask with which the next list should begin.

    Runs differ in length by at most one. The longer ones go to the subtasks from ``start`` on, so that many short
    lists do not all end up on the first subtask.

    >>> split_evenly([1, 2, 3, 4, 5], 3)
    ([[1, 2], [3, 4], [5]], 2)
    >>> split_evenly(["a"], 3, start=2)
    ([[], [], ['a']], 0)
    """
    base, longer = divmod(len(elements), parallelism)
    runs: list[list[Any]] = [[] for _ in range(parallelism)]
    position = 0
    for turn in range(parallelism):
        length = base + (turn < longer)
        runs[(start + turn) % parallelism] = list(elements[position : position + length])
        position += length
    return runs, (start + longer) % parallelism


def _names(parts: Iterable[dict[str, Any]]) -> list[str]:
    return sorted(set(chain.from_iterable(parts)))


def redistribute(snapshots: Sequence[OperatorSnapshot], parallelism: int) -> list[OperatorSnapshot]:
    """Return the operator state of each new subtask, from that of all old ones in the order of their subtasks.

    1. List states: with the same parallelism every subtask keeps its own; else the lists of all subtasks, one after
       the other, are split evenly.
    2. Union list states: every subtask gets the lists of all.
    3. Broadcast states: new subtask ``i`` gets that of old subtask ``i`` modulo their number.

    >>> old = [OperatorSnapshot(split={"o": [1, 2, 3]}, union={"u": ["x"]}), OperatorSnapshot(union={"u": ["y"]})]
    >>> for new in redistribute(old, 3):
    ...     print(new.split, new.union)
    {'o': [1]} {'u': ['x', 'y']}
    {'o': [2]} {'u': ['x', 'y']}
    {'o': [3]} {'u': ['x', 'y']}
    """
    result = [OperatorSnapshot() for _ in range(parallelism)]
    # 1
    if len(snapshots) == parallelism:
        for new, old in zip(result, snapshots, strict=True):
            new.split.update({name: list(elements) for name, elements in old.split.items()})
    else:
        start = 0
        for name in _names(snapshot.split for snapshot in snapshots):
            elements = list(chain.from_iterable(snapshot.split.get(name, ()) for snapshot in snapshots))
            runs, start = split_evenly(elements, parallelism, start)
            for new, run in zip(result, runs, strict=True):
                new.split[name] = run
    # 2
    for name in _names(snapshot.union for snapshot in snapshots):
        for new in result:
            new.union[name] = list(chain.from_iterable(snapshot.union.get(name, ()) for snapshot in snapshots))
    # 3
    if snapshots:
        for subtask, new in enumerate(result):
            old = snapshots[subtask % len(snapshots)]
            new.broadcast.update({name: dict(entries) for name, entries in old.broadcast.items()})
    return result
