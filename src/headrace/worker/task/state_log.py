"""The state files of one task: each epoch's changes are appended as a delta; from time to time a base replaces all files.

The files are authoritative, memory is only a cache: the next process that runs the task restores from the files that the
driver names. They contain keyed state by key group, operator state, and small facts such as watermarks.
"""

from __future__ import annotations

from headrace.foundation.faultpoints import reach
from headrace.operators.context import OperatorContext
from headrace.state import storage
from headrace.state.delta import OperatorState, SubtaskState
from headrace.state.files import StateFile, StateHeader, make_durable, read_parts, write_state_file
from headrace.state.keyed_backend import OWN_TABLE
from headrace.worker.messages import Inheritance, RestoredStates
from headrace.worker.task.inheritance import inherit, restore_types

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
