"""The state files of one task: each epoch's changes are appended as a delta; from time to time a base replaces all files.

The files are authoritative, memory is only a cache: the next process that runs the task restores from the files that the
driver names. They contain keyed state by key group, operator state, and small facts such as watermarks.

A task can take over state from differently partitioned subtasks: of a savepoint, or from before a change of parallelism. It
receives keyed state and timers by key group, operator state by the rules of `headrace.state.operator_state`, and event time
such that it never runs ahead of any of the old subtasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from headrace.foundation.faultpoints import reach
from headrace.operators.context import OperatorContext
from headrace.state import storage
from headrace.state.file_format import OperatorState, SubtaskState
from headrace.state.files import StateFile, StateHeader, make_durable, read_parts, write_state_file
from headrace.state.keyed_backend import OWN_TABLE
from headrace.state.operator_state import OperatorSnapshot, redistribute
from headrace.worker.messages import Inheritance, OldSubtask, RestoredStates

_ACTIVE = {"idle": False, "timed_out": False}
"""Idle inputs report idleness again, because the downstream subtasks are new."""


def inherit(inheritance: Inheritance, contexts: dict[str, OperatorContext], directory: str) -> None:
    """Fill the states of a task's operators. `directory` receives copies of remote files."""
    groups = {i: c.keyed_state.key_groups for i, c in contexts.items()}
    first, last = min(g.start for g in groups.values()), max(g.stop for g in groups.values())
    found: dict[str, list[dict[str, Any]]] = {}
    for old in inheritance.subtasks:
        # Keyed state goes straight to its backend, because all of it may not fit into memory.
        plain: dict[str, dict[str, Any]] = {}
        for operator_id, part in _read(old, range(first, last), directory):
            plain.setdefault(operator_id, {}).update(part.plain)
            if operator_id in contexts:
                contexts[operator_id].keyed_state.apply_part(part.keyed, part.plain.get("kinds"))
                restore_types(contexts[operator_id], part.plain)
        for operator_id, values in plain.items():
            found.setdefault(operator_id, []).append(values)
    for operator_id, context in contexts.items():
        context.keyed_state.finish_restore()
        if operator_id in found:
            _fill(context, found[operator_id])


def restore_types(context: OperatorContext, plain: dict[str, Any]) -> None:
    """Pass the stored types of an operator's states to its backends, before the program declares them."""
    context.keyed_state.types.restore(plain.get("types"))
    context.operator_state.types.restore(plain.get("operator_types"))


def _read(old: OldSubtask, groups: range, directory: str) -> Iterator[tuple[str, OperatorState]]:
    local = storage.local_path(old.directory)
    if local is None:
        for file in old.files:
            storage.fetch(old.directory, file.name, directory)
        local = directory
    identity = {"job_id": old.job_id, "vertex_id": old.vertex, "subtask": old.subtask}
    # The driver checked that the job itself, or this user, wrote them.
    return read_parts(local, old.files, identity, groups, allowed_modules=None, trust_job_code=True)


def _fill(context: OperatorContext, states: list[dict[str, Any]]) -> None:
    task = context.task
    snapshots = [plain.get("operator_state") or OperatorSnapshot() for plain in states]
    context.operator_state.restore(redistribute(snapshots, task.parallelism)[task.subtask])
    facts = [plain["facts"] for plain in states]
    context.facts.update(merged_facts(facts, task.subtask, task.parallelism))


def merged_facts(facts: Sequence[dict[str, Any]], subtask: int, parallelism: int) -> dict[str, Any]:
    """Merge the `facts` of all old subtasks of an operator into those of a new subtask.

    >>> merged_facts([{"operator_watermark": 7}, {"operator_watermark": 5}], 0, 3)
    {'operator_watermark': 5}
    """
    merged: dict[str, Any] = {}
    for name in sorted({name for one in facts for name in one}):
        values = [one[name] for one in facts if name in one]
        if name in ("watermark", "operator_watermark"):
            merged[name] = min(values)
        elif name == "idle":
            merged[name] = False
        elif name == "ended":
            merged[name] = len(values) == len(facts) and all(values)
        elif name == "clock":
            merged[name] = max(values)
        elif name == "event_time":
            merged[name] = min(values, key=lambda v: v["watermark"]) | _ACTIVE
        elif name == "valve":
            merged[name] = _merged_valves(values)
        elif name == "accumulators":
            mine = [v for old, one in enumerate(facts) if old % parallelism == subtask and (v := one.get(name))]
            merged[name] = _merged_accumulators(mine)
        elif name.startswith("split:"):  # event time of a split; only one subtask had it
            merged[name] = values[-1] | _ACTIVE
        else:
            merged[name] = values[-1]
    return merged


def _merged_valves(valves: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a valve for new channels: all start at the slowest old subtask, and will report idleness and the end again."""
    return {
        "marks": {},
        "idle": set(),
        "ended": set(),
        "current": min(valve["current"] for valve in valves),
        "all_idle": False,
        "inputs": {},
    }


def _merged_accumulators(found: list[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for accumulators in found:
        for name, accumulator in accumulators.items():
            if name in merged:
                merged[name].merge(accumulator)
            else:
                merged[name] = accumulator.clone()
    return merged


_SMALL_BASE = 1_000_000
_MANY_DELTAS = 100


class StateLog:
    """Reads and writes the state of all operators of one task.

    It writes a base when the deltas since the last one are as large as it (so the total written is at most twice the
    changes), or too many.
    """

    def __init__(
        self, directory: str, job_id: str, vertex: str, subtask: int, contexts: dict[str, OperatorContext]
    ) -> None:
        self._directory = directory
        self._identity = {"job_id": job_id, "vertex_id": vertex, "subtask": subtask}
        self._contexts = contexts
        self._base_bytes = 0
        self._delta_bytes = 0
        self._deltas = 0
        self._begin_with_base = False
        self._volatile: list[str] = []
        """Files that no checkpoint made durable yet."""
        self._written_facts: dict[str, object] = {}

    def restore(self, files: tuple[StateFile, ...], store: str | None = None) -> None:
        """Load the named files in order: a base, if there is one, and the deltas after it."""
        if not files:
            return
        if store is not None:
            for file in files:
                storage.fetch(store, file.name, self._directory)
        # This job's own tasks wrote them into its private folder, and the driver knows their checksums.
        parts = read_parts(self._directory, files, self._identity, None, allowed_modules=None, trust_job_code=True)
        for operator_id, part in parts:
            context = self._contexts[operator_id]
            context.keyed_state.apply_part(part.keyed, part.plain.get("kinds"))
            restore_types(context, part.plain)
            context.facts.update(part.plain.get("facts", {}))
            if part.plain.get("operator_state") is not None:
                context.operator_state.restore(part.plain["operator_state"])
        for context in self._contexts.values():
            context.keyed_state.finish_restore()
        sizes = [f.size for f in files]
        self._base_bytes = sizes[0] if files[0].name.endswith(".base") else 0
        self._delta_bytes, self._deltas = sum(sizes) - self._base_bytes, len(files)
        self._volatile = [f.name for f in files]

    def inherit(self, inheritance: Inheritance) -> None:
        """Take over state from differently partitioned subtasks. The first file will contain all of it."""
        inherit(inheritance, self._contexts, self._directory)
        self._begin_with_base = True

    def write(self, checkpoint: int, name: str) -> tuple[StateFile | None, bool]:
        """Write the changes since the last call. Return the file (None if nothing changed) and whether it is a base.

        `checkpoint` is the number of the first checkpoint that will use the file; `name` is unique for each attempt.
        """
        is_base = (
            self._begin_with_base
            or self._delta_bytes > max(self._base_bytes, _SMALL_BASE)
            or self._deltas >= _MANY_DELTAS
        )
        state = SubtaskState({i: self._of(c, is_base) for i, c in self._contexts.items()})
        facts = {i: s.plain["facts"] for i, s in state.operators.items()}
        if not is_base and facts == self._written_facts and not _changed(state):
            return None, False
        self._written_facts = facts
        header = StateHeader(
            **self._identity,  # type: ignore[arg-type]
            epoch=checkpoint,
            attempt=name,
            kind="base" if is_base else "delta",
        )
        reach("state.pre")
        written = write_state_file(self._directory, header, state, lambda: reach("state.torn"))
        reach("state.post")
        self._begin_with_base = False
        if is_base:
            self._base_bytes, self._delta_bytes, self._deltas = written.size, 0, 0
            self._volatile = [written.name]
        else:
            self._delta_bytes, self._deltas = self._delta_bytes + written.size, self._deltas + 1
            self._volatile.append(written.name)
        return written, is_base

    def kinds(self) -> dict[str, dict[str, str]]:
        """Return the kinds of all states, by operator and name."""
        kinds = {i: c.keyed_state.state_kinds() | c.operator_state.state_kinds() for i, c in self._contexts.items()}
        return {i: states for i, states in kinds.items() if states}

    def restored(self) -> dict[str, RestoredStates]:
        """Return which of the states declared by user code were restored, and which were requested."""
        found = {}
        for operator_id, context in self._contexts.items():
            restored: dict[str, str] = {}
            asked_for: dict[str, str] = {}
            for backend in (context.keyed_state, context.operator_state):
                restored |= {n: kind for n, kind in backend.restored_kinds().items() if kind != OWN_TABLE}
                asked_for |= {n: kind for n, kind in backend.asked_for().items() if kind != OWN_TABLE}
            if restored or asked_for:
                found[operator_id] = RestoredStates(restored, asked_for)
        return found

    def make_durable(self, store: str | None) -> None:
        """Make all files so far durable, because a checkpoint will list them."""
        if store is None:
            names, self._volatile = self._volatile, []
            make_durable(self._directory, names)
            return
        while self._volatile:  # a failed upload is retried with the next checkpoint
            storage.upload(self._directory, self._volatile[0], store)
            del self._volatile[0]

    @staticmethod
    def _of(context: OperatorContext, whole: bool) -> OperatorState:
        backend, operators = context.keyed_state, context.operator_state
        changed = operators.collect_changed()
        plain: dict[str, object] = {"facts": dict(context.facts), "kinds": backend.state_kinds()}
        plain |= {"types": backend.types.texts(), "operator_types": operators.types.texts()}
        if whole or changed is not None:
            plain["operator_state"] = operators.snapshot() if whole else changed
        if whole:
            backend.collect_delta()
        return OperatorState(backend.snapshot_full() if whole else backend.collect_delta(), plain)


def _changed(state: SubtaskState) -> bool:
    return any(s.keyed or "operator_state" in s.plain for s in state.operators.values())
