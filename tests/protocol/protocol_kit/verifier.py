"""Watches a model run and reports violations of the invariants in docs/internals/checkpoint-protocol.md.

It looks at what was actually written and became visible, never at what a driver believes. It finds the base by reading the
log, not by calling the code under test.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from headrace.checkpoint import names
from headrace.checkpoint.model import Manifest, Seal
from headrace.connectors.base.sink_committer import Handle
from protocol_kit.memory_store import MemoryStore
from protocol_kit.simulated_job import FINISHED, KEYS, PARTITIONS, VERTEX, expected, process
from protocol_kit.simulated_sinks import IdempotentSink, Row, TwoPhaseSink


class ViolationError(AssertionError):
    """An invariant does not hold."""


def offsets(manifest: Manifest) -> dict[int, int]:
    """The position of each partition, as the manifest has it."""
    return {int(row["split"]): row["position"]["json"] for row in manifest.positions[VERTEX]}


class Verifier:
    def __init__(self, store: MemoryStore, length: int) -> None:
        store.on_create, store.on_delete, store.on_remove = self.on_create, self.on_delete, self.on_remove
        self.violation: ViolationError | None = None
        """The first one. Code under test may catch the error; the run fails all the same."""
        self.store = store
        self.length = length
        self.visible: Counter[Row] = Counter()
        self.order: dict[tuple[int, int], int] = {}
        self.manifests: dict[str, Manifest] = {}
        """All manifests that were ever created, by the handles that they list."""
        self.published: dict[int, Any] = {}

    def fail(self, invariant: str, text: str) -> None:
        error = ViolationError(f"{invariant}: {text}")
        self.violation = self.violation or error
        raise error

    # -- while it runs ------------------------------------------------------------------------------------------------

    def on_commit(self, handle: Handle, rows: tuple[Row, ...]) -> None:
        if handle.id not in self.manifests:
            self.fail("I6", f"{handle.id} became visible although no manifest lists it")
        for row in rows:
            self.visible[row] += 1
            if self.visible[row] > 1:
                self.fail("I2", f"{row} became visible twice")
            partition, _, key, count = row
            if count != self.order.get((partition, key), 0) + 1:
                self.fail("I3", f"{row} became visible after count {self.order.get((partition, key), 0)}")
            self.order[partition, key] = count

    def on_create(self, name: str, record: Any) -> None:
        if not isinstance(record, Manifest):
            return
        for _, handle in record.committables:
            self.manifests[handle.id] = record
        if record.parent is not None:
            if record.parent >= record.epoch:
                self.fail("I7", f"epoch {record.epoch} follows {record.parent}")
            before = self.store.truth(names.entry_name(record.parent))
            if isinstance(before, Manifest) and any(offsets(before)[p] > n for p, n in offsets(record).items()):
                self.fail("I7", f"the positions of {record.epoch} are behind those of {before.epoch}")
        if self.base() is not record:
            return  # a zombie's, with a number that was collected: nobody will ever use it as a base
        for file in record.files:
            if self.store.problem_of(file) is not None:
                self.fail("I4", f"manifest {record.epoch} lists {file.name}, which is not whole")

    def on_delete(self, name: str) -> None:
        base = self.base()
        if base is None:
            return
        live = {names.FILES + f.name for f in base.files} | {names.entry_name(base.epoch)}
        if name in live:
            self.fail("I10", f"{name} was deleted although manifest {base.epoch} needs it")
        top = max(map(names.number_of, self.store.folders[names.LOG]))
        if name == names.entry_name(top):
            self.fail("I7", f"{name} was deleted, which tells where the job continues")

    def on_remove(self) -> None:
        self.fail("I10", "a driver that was replaced removed all checkpoints")

    def on_publish(self, manifest: Manifest) -> None:
        before = self.published.setdefault(manifest.epoch, offsets(manifest))
        if before != offsets(manifest):
            self.fail("I7", f"epoch {manifest.epoch} was published with two positions")

    def on_restore(self, base: Manifest | None, counts: dict[int, tuple[int, ...]]) -> None:
        for p in range(PARTITIONS):
            end = offsets(base)[p] if base is not None else 0
            if counts[p] != process(p, 0, end, (0,) * KEYS)[1]:
                self.fail("I4", f"the state at offset {end} is {counts[p]}")

    # -- at the end -----------------------------------------------------------------------------------------------------

    def base(self) -> Manifest | None:
        for name in sorted(self.store.folders[names.LOG], reverse=True):
            top = self.store.truth(name)
            if top is None:
                continue  # torn when it was written: there never was anything
            if isinstance(top, Seal):
                top = self.store.truth(names.entry_name(top.parent)) if top.parent is not None else None
            return top if isinstance(top, Manifest) else None
        return None

    def finish(self, sink: TwoPhaseSink, idempotent: IdempotentSink) -> None:
        """After a driver has run to the end of the input, and all zombies have ended."""
        wanted = Counter(expected(self.length))
        if self.visible != wanted:
            lost, extra = wanted - self.visible, self.visible - wanted
            self.fail("I1, I5", f"lost {sorted(lost)}, extra {sorted(extra)}")
        if set(idempotent.rows.values()) != set(wanted) or idempotent.contradictions:
            self.fail("I5", f"the idempotent sink holds other rows: {idempotent.contradictions}")
        base = self.base()
        assert base is not None
        if any(n != self.length for n in offsets(base).values()) or not base.facts.get(FINISHED):
            self.fail("I1", "the last manifest is not at the end of the input")
        if names.marker_name(base.epoch) not in self.store.folders[names.MARKERS]:
            self.fail("I1", "the last manifest has no marker")

    def no_leak(self, sink: TwoPhaseSink, retained: int) -> None:
        """After the last garbage collection."""
        base = self.base()
        assert base is not None
        if sink.staged():
            self.fail("I9", f"handles left: {sink.staged()}")
        live = set()
        manifest: Any = base
        for _ in range(retained):
            if not isinstance(manifest, Manifest):
                break
            live |= {names.FILES + f.name for f in manifest.files}
            manifest = self.store.truth(names.entry_name(manifest.parent)) if manifest.parent else None
        left = {*self.store.folders[names.FILES], *self.store.folders[names.TEMPORARIES]} - live
        if left:
            self.fail("I9", f"files left: {sorted(left)}")
