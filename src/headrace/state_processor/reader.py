"""Read a savepoint: its operators, and their state entry by entry."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headrace.checkpoint.manifests import files_by_owner, unpacked_positions
from headrace.checkpoint.model import Origin
from headrace.checkpoint.savepoints import find_origin
from headrace.common.time_domain import TimeDomain
from headrace.errors import StateError, shortened
from headrace.graph.stream_graph import id_of_uid
from headrace.operators.context import EVENT_TIMERS, PROCESSING_TIMERS
from headrace.operators.source import SplitPosition
from headrace.operators.windows.state_migration import ALIGNED, CONTENTS, SESSIONS, SETS, WINDOW_SIZE
from headrace.state import storage
from headrace.state.key_groups import key_group
from headrace.state.keyed_backend import TIMER_PREFIX
from headrace.state.opaque_key import filed_keys, unwrap_key
from headrace.state.operator_state import OperatorSnapshot
from headrace.state_processor.chains import Chain, GroupStream
from headrace.state_processor.keyed_layout import KeyedLayout, layout_of
from headrace.windows.window_types import TimeWindow


@dataclass(frozen=True)
class OperatorInfo:
    """An operator in a savepoint.

    >>> OperatorInfo("counter", "ab12", "Process", 2, 128, {"count": "ValueState"}).states
    {'count': 'ValueState'}
    """

    uid: str | None
    id: str
    name: str
    parallelism: int
    max_parallelism: int
    states: dict[str, str] = field(default_factory=dict)
    """The kind of each state by name. State that operators keep themselves has the kind `table`."""


@dataclass(frozen=True)
class Timer:
    """A timer of a key.

    >>> Timer(TimeDomain.EVENT_TIME, 1000, "a").timestamp
    1000
    """

    domain: TimeDomain
    timestamp: int
    key: Any
    namespace: Any = None
    """The window, if the timer belongs to a window's trigger."""


_DOMAINS = {TimeDomain.EVENT_TIME: EVENT_TIMERS, TimeDomain.PROCESSING_TIME: PROCESSING_TIMERS}


class SavepointReader:
    """Reads the state in a savepoint lazily, one key group at a time.

    Operators are named by their uid. An operator without a uid is named by its id, which `operators` returns.

    >>> import tempfile
    >>> from headrace.state_processor import SavepointWriter
    >>> folder = tempfile.TemporaryDirectory()
    >>> writer = SavepointWriter.new().with_keyed_state("counter", "count", "ValueState", [("a", 3)])
    >>> path = writer.write(folder.name + "/savepoint")
    >>> reader = SavepointReader.read(path)
    >>> [(operator.uid, operator.states) for operator in reader.operators()]
    [('counter', {'count': 'ValueState'})]
    >>> list(reader.keyed_state("counter", "count")), reader.get("counter", "count", "b") is None
    ([('a', 3)], True)
    >>> folder.cleanup()
    """

    def __init__(self, origin: Origin) -> None:
        """Use `read`."""
        self._origin = origin
        self._fetched: tempfile.TemporaryDirectory[str] | None = None
        layout = origin.manifest.facts.get("layout", {})
        states = origin.manifest.facts.get("states", {})
        self._vertices = {o: vertex for vertex, group in layout.items() for o in group["operators"]}
        self._operators = {
            o: OperatorInfo(facts["uid"], o, facts["name"], group["parallelism"], facts["max_parallelism"],
                            dict(states.get(o, {})))
            for group in layout.values()
            for o, facts in group["operators"].items()
        }  # fmt: skip

    @staticmethod
    def read(path: str, trust: bool = False) -> SavepointReader:
        """Open the savepoint at a path or URL. Raise if it is damaged.

        State may contain objects of a program's classes, and reading them runs code. So a savepoint without this user's
        signature is read only with `trust`.
        """
        return SavepointReader(find_origin(path, trust=trust))

    # -- facts ----------------------------------------------------------------------------------------------------

    @property
    def origin(self) -> Origin:
        """Return the manifest and the location of its files."""
        return self._origin

    @property
    def checkpoint_id(self) -> int:
        """Return the number of the checkpoint that the savepoint is a copy of."""
        return self._origin.manifest.epoch

    def operators(self) -> list[OperatorInfo]:
        """Return all operators of the job, with the kinds of their states by name."""
        return list(self._operators.values())

    def operator(self, uid: str) -> OperatorInfo:
        """Return the operator with this uid (or id)."""
        for operator_id in (id_of_uid(uid), uid):
            if operator_id in self._operators:
                return self._operators[operator_id]
        for operator in self._operators.values():  # its id was set with set_uid_hash
            if operator.uid == uid:
                return operator
        known = [operator.uid or operator.id for operator in self._operators.values()]
        raise StateError("The savepoint has no such operator", seen=uid, expected="one of " + ", ".join(known))

    def state_types(self, uid: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the declared types of an operator's keyed and operator states by name, as far as they were saved."""
        operator = self.operator(uid)
        keyed: dict[str, str] = {}
        of_subtask: dict[str, str] = {}
        for chain in self.chains(operator.id):
            plain = chain.plain(operator.id)
            keyed |= plain.get("types", {})
            of_subtask |= plain.get("operator_types", {})
        return keyed, of_subtask

    def source_positions(self) -> dict[str, list[SplitPosition]]:
        """Return the positions of the sources in their splits, by uid (or id)."""
        positions = unpacked_positions(self._origin.manifest)
        named = {o: operator.uid or o for o, operator in self._operators.items()}
        return {named.get(vertex, vertex): splits for vertex, splits in positions.items()}

    # -- keyed state ----------------------------------------------------------------------------------------------

    def keyed_state(self, uid: str, name: str) -> Iterator[tuple[Any, ...]]:
        """Iterate over a keyed state: ``(key, value)``, or ``(key, window, value)`` if it belongs to windows.

        The value of a list state is a list, that of a map state a dict, that of an aggregating state its accumulator.
        A state with a time to live may include expired values that have not been cleaned up.
        """
        layout, operator = self.keyed_layout(uid, name), self.operator(uid)
        return (
            row
            for chain in self.chains(operator.id)
            for _, entries in chain.groups(operator.id, name)
            for row in layout.rows(entries)
        )

    def get(self, uid: str, name: str, key: Any) -> Any:
        """Return the value of one key, None if it has none; a dict by window for state of windows."""
        layout, operator = self.keyed_layout(uid, name), self.operator(uid)
        hashable = filed_keys([key])[0]
        group = key_group(hashable, operator.max_parallelism)
        rows = [
            row
            for chain in self.chains(operator.id)
            for _, entries in chain.groups(operator.id, name, range(group, group + 1))
            for row in layout.rows(entries)
            if filed_keys([row[0]])[0] == hashable
        ]
        if layout.per_window:
            return {window: value for _, window, value in rows}
        return rows[0][1] if rows else None

    def window_contents(self, uid: str) -> Iterator[tuple[Any, Any, Any]]:
        """Iterate over the open windows of a window operator: ``(key, window, contents)``.

        Depending on the operation, the contents are a list of elements, the reduced value, or the accumulator.
        """
        operator = self.operator(uid)
        return (row for chain in self.chains(operator.id) for row in open_windows(chain, operator))

    def timers(self, uid: str) -> Iterator[Timer]:
        """Iterate over the timers of an operator. Window operators store some of theirs as open windows instead."""
        operator = self.operator(uid)
        for domain, queue in _DOMAINS.items():
            for chain in self.chains(operator.id):
                for _, entries in chain.groups(operator.id, TIMER_PREFIX + queue):
                    for (timestamp, key, namespace), _ in entries:
                        yield Timer(domain, timestamp, unwrap_key(key), namespace)

    def to_data_frame(self, spark: Any, uid: str, name: str, schema: Any = None) -> Any:
        """Return a keyed state as a Spark DataFrame with the columns `key`, (`window_start`, `window_end`,) `value`.

        For a table in which a window operator stores its windows, the rows are those of `window_contents`.

        Spark's tasks read the state, one for each subtask of the savepoint, so they must be able to access its path.
        `schema` is a schema of Spark; without it, it is inferred from the first rows.
        """
        from headrace.state_processor.data_frames import state_data_frame

        return state_data_frame(spark, self, uid, name, schema)

    # -- operator state -------------------------------------------------------------------------------------------

    def list_state(self, uid: str, name: str) -> list[Any]:
        """Return an operator list state: the elements of all subtasks in their order."""
        return [
            e for snapshot in self._snapshots(uid, name, "operator ListState") for e in snapshot.split.get(name, ())
        ]

    def union_list_state(self, uid: str, name: str) -> list[Any]:
        """Return a union list state: the elements of all subtasks in their order."""
        found = self._snapshots(uid, name, "operator UnionListState")
        return [element for snapshot in found for element in snapshot.union.get(name, ())]

    def broadcast_state(self, uid: str, name: str) -> dict[Any, Any]:
        """Return a broadcast state, which is the same in all subtasks."""
        found = self._snapshots(uid, name, "BroadcastState")
        return next((dict(snapshot.broadcast[name]) for snapshot in found if name in snapshot.broadcast), {})

    def _snapshots(self, uid: str, name: str, kind: str) -> list[OperatorSnapshot]:
        operator = self.operator(uid)
        if operator.states.get(name) != kind:
            raise _no_state(operator, name, kind)
        found = [chain.plain(operator.id).get("operator_state") for chain in self.chains(operator.id)]
        return [snapshot for snapshot in found if snapshot is not None]

    # -- files ----------------------------------------------------------------------------------------------------

    def keyed_layout(self, uid: str, name: str) -> KeyedLayout:
        """Return how a keyed state is stored."""
        operator = self.operator(uid)
        for chain in self.chains(operator.id):
            kind = chain.plain(operator.id).get("kinds", {}).get(name)
            if kind is not None:
                return layout_of(kind, name)
        raise _no_state(operator, name, "keyed state")

    form = keyed_layout  # its name in programs written before

    def chains(self, operator_id: str) -> list[Chain]:
        """Return the files with an operator's state, for each subtask."""
        vertex = self._vertices[operator_id]
        owned = files_by_owner(self._origin.manifest)
        directory, job_id = self._directory(), self._origin.manifest.job_id
        parallelism = self._operators[operator_id].parallelism
        return [
            Chain(directory, job_id, vertex, i, owned[vertex, i]) for i in range(parallelism) if (vertex, i) in owned
        ]

    def _directory(self) -> str:
        local = storage.local_path(self._origin.directory)
        if local is not None:
            return local
        if self._fetched is None:
            self._fetched = tempfile.TemporaryDirectory(prefix="headrace-savepoint-")
            for file in self._origin.manifest.files:
                storage.fetch(self._origin.directory, file.name, self._fetched.name)
        return self._fetched.name


def _no_state(operator: OperatorInfo, name: str, kind: str) -> StateError:
    return StateError(
        f"The operator has no such state: {name!r} ({kind})",
        operator_name=operator.name,
        uid=operator.uid,
        expected=f"one of {shortened(operator.states)}",
    )


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
