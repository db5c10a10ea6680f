"""Write savepoints: changed copies of others, or new ones."""

from __future__ import annotations

import os
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from headrace.checkpoint.model import FileEntry, Manifest
from headrace.checkpoint.savepoints import copy_files, has_open_commits
from headrace.common.time_domain import TimeDomain
from headrace.errors import StateError
from headrace.graph.stream_graph import id_of_uid
from headrace.operators.context import EVENT_TIMERS, PROCESSING_TIMERS
from headrace.state import storage
from headrace.state.descriptors import StateDescriptor
from headrace.state.file_format import SubtaskState
from headrace.state.files import StateHeader, write_state_file
from headrace.state.key_groups import MAX_PARALLELISM_LIMIT
from headrace.state.keyed_backend import TIMER_PREFIX
from headrace.state.opaque_key import filed_keys
from headrace.state_processor.draft import OperatorDraft, spilled
from headrace.state_processor.keyed_layout import KeyedLayout, layout_of
from headrace.state_processor.reader import OperatorInfo, SavepointReader, Timer

_QUEUES = {
    TimeDomain.EVENT_TIME: TIMER_PREFIX + EVENT_TIMERS,
    TimeDomain.PROCESSING_TIME: TIMER_PREFIX + PROCESSING_TIMERS,
}


class SavepointWriter:
    """Builds a savepoint. Methods can be chained; only `write` writes it.

    A job can restore it with any parallelism and any state backend, if its operators have the same uids, and their states
    the same names and kinds.

    >>> import tempfile
    >>> from headrace.state_processor import SavepointReader
    >>> folder = tempfile.TemporaryDirectory()
    >>> first = SavepointWriter.new().with_keyed_state("counter", "seen", "ListState", [("a", [1]), ("b", [2, 3])])
    >>> reader = SavepointReader.read(first.write(folder.name + "/first"))
    >>> second = SavepointWriter.from_existing(reader).rename_operator("counter", "counts")
    >>> _ = second.transform_keyed_state("counts", "seen", lambda key, seen: seen[1:])
    >>> list(SavepointReader.read(second.write(folder.name + "/second")).keyed_state("counts", "seen"))
    [('b', [3])]
    >>> folder.cleanup()
    """

    def __init__(self, max_parallelism: int, reader: SavepointReader | None = None) -> None:
        """Use `new` or `from_existing`."""
        if not 1 <= max_parallelism <= MAX_PARALLELISM_LIMIT:
            raise StateError(
                "The max parallelism is out of range", seen=max_parallelism, expected=f"1 to {MAX_PARALLELISM_LIMIT}"
            )
        self._max_parallelism = max_parallelism
        self._reader = reader
        self._spill = tempfile.TemporaryDirectory(prefix="headrace-new-entries-")
        self._spills = 0
        self._drafts: dict[str, OperatorDraft] = {}
        self._positions: dict[str, Any] = {}
        if reader is not None:
            self._drafts = {o.id: _draft_of(reader, o) for o in reader.operators()}
            self._positions = dict(reader.origin.manifest.positions)

    @classmethod
    def new(cls, max_parallelism: int = 128) -> SavepointWriter:
        """Start with an empty savepoint. Jobs that restore it have `max_parallelism` key groups, and at most as many subtasks."""
        return cls(max_parallelism)

    @classmethod
    def from_existing(cls, reader: SavepointReader) -> SavepointWriter:
        """Start with a copy of a savepoint. New operators get the max parallelism that most of the others have.

        A checkpoint whose job was killed before it had committed all output of it is refused: that output would be lost.
        """
        if has_open_commits(reader.origin):
            raise StateError(
                "The checkpoint has output that is staged but not committed, which a savepoint cannot hold",
                seen=f"checkpoint {reader.checkpoint_id} of job {reader.origin.manifest.job_id}",
                remedy="start its job again, under its id or from the path of the checkpoint, and take a savepoint.",
            )
        known = Counter(operator.max_parallelism for operator in reader.operators())
        return cls(known.most_common(1)[0][0] if known else 128, reader)

    # -- operators ------------------------------------------------------------------------------------------------

    def remove_operator(self, uid: str) -> SavepointWriter:
        """Remove an operator with all its state and, if it is a source, its positions."""
        draft = self._known(uid)
        del self._drafts[draft.id]
        self._positions.pop(draft.id, None)
        return self

    def rename_operator(self, old_uid: str, new_uid: str) -> SavepointWriter:
        """Give an operator's state another uid. Name an operator without a uid by its id."""
        draft, new_id = self._known(old_uid), id_of_uid(new_uid)
        if new_id in self._drafts:
            raise StateError("The savepoint already has an operator with this uid", seen=new_uid)
        self._drafts = {new_id if o == draft.id else o: d for o, d in self._drafts.items()}
        self._positions = {new_id if o == draft.id else o: p for o, p in self._positions.items()}
        self._drafts[new_id] = replace(draft, id=new_id, uid=new_uid)
        return self

    # -- keyed state ----------------------------------------------------------------------------------------------

    def with_keyed_state(
        self, uid: str, name: str, kind: str | StateDescriptor, rows: Iterable[tuple[Any, ...]]
    ) -> SavepointWriter:
        """Give an operator a keyed state. It replaces any state with this name.

        `kind` is the state's descriptor, or the name of its kind, such as ``"ValueState"``. With a descriptor the type is
        saved, and a job that declares another type is rejected. `rows` are ``(key, value)``, with lists for list states,
        dicts for map states and accumulators for aggregating states. Keys are those that the job's key selector returns.
        If several rows have the same key, the last one wins. Time to live starts with this call.
        """
        layout = layout_of(kind, name)
        if layout.per_window:
            raise StateError("State of windows can be changed, but not created", uid=uid, seen=name)
        now = time.time_ns() // 1_000_000

        def entries() -> Iterator[tuple[Any, tuple[Any, Any]]]:
            for key, value in rows:
                hashable = filed_keys([key])[0]
                for entry in layout.filed(hashable, value, lambda _: now):
                    yield hashable, entry

        draft = self._draft(uid)
        self._add(draft, name, entries())
        draft.kinds[name] = draft.added_kinds[name] = layout.kind
        _note_type(draft, name, kind)
        return self

    def transform_keyed_state(
        self, uid: str, name: str, function: Callable[..., Any], descriptor: StateDescriptor | None = None
    ) -> SavepointWriter:
        """Replace each value of a keyed state by `function(key, value)`; None drops it.

        The state keeps its type. If `function` changes the type, pass the state's new descriptor, which must be of the same
        kind: a job that declares another type than the saved one is rejected.

        For state of windows the call is `function(key, window, value)`. Keys do not change: to change them, read the state
        and write it with `with_keyed_state`.
        """
        draft = self._known(uid)
        layout = self._keyed_layout(draft, name)
        if descriptor is not None:
            wanted = layout_of(descriptor, name).kind
            if wanted != layout.kind:
                raise StateError(
                    "The descriptor and the state have different kinds", uid=uid, seen=wanted, expected=layout.kind
                )
            _note_type(draft, name, descriptor)
        draft.changes.setdefault(name, []).append((layout, function))
        return self

    def with_timers(self, uid: str, timers: Iterable[Timer]) -> SavepointWriter:
        """Give an operator timers. They replace all of its timers."""
        by_domain: dict[TimeDomain, list[Timer]] = {domain: [] for domain in _QUEUES}
        for timer in timers:
            by_domain[timer.domain].append(timer)
        draft = self._draft(uid)
        for domain, queue in _QUEUES.items():
            found = [(t.timestamp, filed_keys([t.key])[0], t.namespace) for t in by_domain[domain]]
            self._add(draft, queue, ((timer[1], (timer, number)) for number, timer in enumerate(found)))
        return self

    # -- operator state -------------------------------------------------------------------------------------------

    def with_list_state(self, uid: str, name: str, elements: Iterable[Any]) -> SavepointWriter:
        """Give an operator a list state. Its elements are split evenly among the subtasks."""
        draft = self._replaced(uid, name, "operator ListState")
        draft.operator_state.split[name] = list(elements)
        return self

    def with_union_list_state(self, uid: str, name: str, elements: Iterable[Any]) -> SavepointWriter:
        """Give an operator a union list state. Each subtask gets all elements."""
        draft = self._replaced(uid, name, "operator UnionListState")
        draft.operator_state.union[name] = list(elements)
        return self

    def with_broadcast_state(self, uid: str, name: str, entries: Mapping[Any, Any]) -> SavepointWriter:
        """Give an operator a broadcast state."""
        draft = self._replaced(uid, name, "BroadcastState")
        draft.operator_state.broadcast[name] = dict(entries)
        return self

    def remove_state(self, uid: str, name: str) -> SavepointWriter:
        """Remove a state of an operator, of any kind."""
        draft = self._known(uid)
        if name not in draft.kinds:
            raise _no_state(draft, name)
        draft.drop(name)
        return self

    # -- writing --------------------------------------------------------------------------------------------------

    def write(self, path: str) -> str:
        """Write the savepoint, signed with this user's key, to a folder or URL that does not exist yet. Return its path."""
        target = storage.local_path(path)
        if target is not None and os.path.exists(target):
            raise StateError("The path of the new savepoint already exists", seen=path)
        parent = None if target is None else Path(target).parent
        if parent is not None:
            parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".headrace-savepoint-", dir=parent) as folder:
            return copy_files(self._written(folder), folder, path if target is None else target)

    def _written(self, folder: str) -> Manifest:
        """Write the state files, and return the manifest that lists them."""
        job_id = uuid.uuid4().hex
        old = None if self._reader is None else self._reader.origin.manifest
        epoch = 1 if old is None else old.epoch
        files: list[FileEntry] = []
        for draft in self._drafts.values():
            for number in range(draft.parallelism):
                header = StateHeader(job_id, draft.id, number, epoch, "0", "base")
                file = write_state_file(folder, header, SubtaskState({draft.id: draft.subtask(number)}))
                files.append(FileEntry(f"{draft.id}/{number}", file.name, file.size, file.checksum))
        facts = {} if old is None else dict(old.facts)
        facts["layout"] = {d.id: _layout(d) for d in self._drafts.values()}
        facts["states"] = {d.id: dict(d.kinds) for d in self._drafts.values() if d.kinds}
        return Manifest(
            job_id,
            generation=1,
            epoch=epoch,
            attempt="state-processor",
            parent=None,
            files=tuple(files),
            positions=self._positions,
            watermarks={} if old is None else old.watermarks,
            parallelism={d.id: d.parallelism for d in self._drafts.values()},
            facts=facts,
        )

    # -- drafts ---------------------------------------------------------------------------------------------------

    def _known(self, uid: str) -> OperatorDraft:
        for draft in self._drafts.values():
            if uid in (draft.uid, draft.id):
                return draft
        known = [draft.uid or draft.id for draft in self._drafts.values()]
        raise StateError("The savepoint has no such operator", seen=uid, expected="one of " + ", ".join(known))

    def _draft(self, uid: str) -> OperatorDraft:
        """Return the draft of an operator; create it if there is none."""
        if not any(uid in (draft.uid, draft.id) for draft in self._drafts.values()):
            new_id = id_of_uid(uid)
            self._drafts[new_id] = OperatorDraft(new_id, uid, uid, self._max_parallelism)
        return self._known(uid)

    def _replaced(self, uid: str, name: str, kind: str) -> OperatorDraft:
        draft = self._draft(uid)
        draft.drop(name)
        draft.kinds[name] = kind
        return draft

    def _add(self, draft: OperatorDraft, name: str, entries: Iterable[tuple[Any, tuple[Any, Any]]]) -> None:
        self._spills += 1
        chain = spilled(self._spill.name, self._spills, name, entries, draft.max_parallelism)
        draft.drop(name)
        draft.added[name] = chain

    def _keyed_layout(self, draft: OperatorDraft, name: str) -> KeyedLayout:
        if name in draft.added_kinds:
            return layout_of(draft.added_kinds[name], name)
        if self._reader is None or name in draft.dropped:
            raise _no_state(draft, name)
        return self._reader.keyed_layout(draft.old_id, name)


def _draft_of(reader: SavepointReader, operator: OperatorInfo) -> OperatorDraft:
    return OperatorDraft(
        operator.id,
        operator.uid,
        operator.name,
        operator.max_parallelism,
        operator.parallelism,
        dict(operator.states),
        operator.id,
        reader.chains(operator.id),
    )


def _note_type(draft: OperatorDraft, name: str, kind: str | StateDescriptor) -> None:
    if isinstance(kind, StateDescriptor) and kind.type_info is not None:
        draft.added_types[name] = repr(kind.type_info)


def _layout(draft: OperatorDraft) -> dict[str, Any]:
    facts = {"uid": draft.uid, "name": draft.name, "max_parallelism": draft.max_parallelism}
    return {"parallelism": draft.parallelism, "operators": {draft.id: facts}, "inputs": []}


def _no_state(draft: OperatorDraft, name: str) -> StateError:
    return StateError(
        "The operator has no such state",
        operator_name=draft.name,
        uid=draft.uid,
        seen=name,
        expected="one of " + ", ".join(draft.kinds),
    )
