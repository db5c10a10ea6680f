"""A small job: two partitions of numbered records, a count for each key as state, under the production checkpoint driver.

The life of a driver process is one generator of instructions: those of `headrace.checkpoint.driver_steps`, and those of its
tasks. It can be stopped between any two effects, and a task can outlive its driver. Only what the job's loop does is
simulated here: run epochs, restart after errors, leave at the end.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from headrace.checkpoint import instructions as do
from headrace.checkpoint import manifests, names
from headrace.checkpoint.driver_steps import FINISHED, DriverSteps
from headrace.checkpoint.errors import (
    CommitRefusedError,
    DamagedRecordError,
    FencedError,
    RecordMissingError,
    RestoreRefusedError,
    StoreError,
)
from headrace.checkpoint.model import Committable, Manifest
from headrace.checkpoint.origin_commits import commit_steps
from headrace.connectors.base.sink_committer import Handle
from headrace.connectors.base.split_enumerator import Split
from headrace.errors import HeadraceError, StateError
from headrace.operators.source import SplitPosition
from headrace.state.files import StateFile
from headrace.worker.messages import TaskAck, TaskOwner, VertexReport
from protocol_kit.simulated_sinks import SINK, Row

PARTITIONS = 2
KEYS = 2
PER_EPOCH = 2
JOB = "job"
VERTEX = "v"
HOPELESS = (RestoreRefusedError, CommitRefusedError)
"""A restart does not help."""


@dataclass(frozen=True)
class WriteState:
    name: str
    content: Any


@dataclass(frozen=True)
class LoadState:
    name: str
    generation: int
    """Of the driver that restores."""


@dataclass(frozen=True)
class Stage:
    handle: Handle
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Upsert:
    rows: tuple[Row, ...]


class SinkDownError(HeadraceError):
    """A sink did not answer."""


Steps = Generator[Any, Any, Any]
Counts = tuple[int, ...]


def process(partition: int, start: int, end: int, counts: Counts) -> tuple[tuple[Row, ...], Counts]:
    """The job's function: a running count for each key."""
    now = list(counts)
    rows = []
    for offset in range(start, end):
        key = offset % KEYS
        now[key] += 1
        rows.append((partition, offset, key, now[key]))
    return tuple(rows), tuple(now)


def expected(length: int) -> Iterator[Row]:
    """The output of a run without faults."""
    for partition in range(PARTITIONS):
        yield from process(partition, 0, length, (0,) * KEYS)[0]


@dataclass
class Done:
    """What a task hands to its driver at the end of an epoch."""

    ack: TaskAck
    chain: tuple[StateFile, ...]
    counts: Counts
    offset: int
    not_written: list[WriteState]
    """State files that the store has not accepted yet: the next epoch of the task writes them."""


class Progress:
    """Satisfies `headrace.checkpoint.ports.JobProgress`."""

    def __init__(self) -> None:
        self.chains: dict[int, tuple[StateFile, ...]] = dict.fromkeys(range(PARTITIONS), ())
        self.counts: dict[int, Counts] = dict.fromkeys(range(PARTITIONS), (0,) * KEYS)
        self.offsets = dict.fromkeys(range(PARTITIONS), 0)
        self.not_written: dict[int, list[WriteState]] = {p: [] for p in range(PARTITIONS)}
        self._handles: list[Committable] = []
        self.tasks = [(VERTEX, p) for p in range(PARTITIONS)]

    @property
    def files(self) -> dict[TaskOwner, tuple[StateFile, ...]]:
        return {(VERTEX, p): chain for p, chain in self.chains.items()}

    @property
    def positions(self) -> dict[str, list[SplitPosition]]:
        return {VERTEX: [SplitPosition(Split(str(p), None), n, subtask=p) for p, n in self.offsets.items()]}

    def watermark(self) -> int:
        return 0

    def take_handles(self) -> list[Committable]:
        handles, self._handles = self._handles, []
        return handles

    def give_back(self, handles: list[Committable]) -> None:
        self._handles = [*handles, *self._handles]

    def apply(self, epoch: list[Done]) -> None:
        for p, done in enumerate(epoch):
            self.chains[p], self.counts[p], self.offsets[p] = done.chain, done.counts, done.offset
            self.not_written[p] = done.not_written
        self._handles += staged_by(epoch)


def staged_by(epoch: Iterable[Done]) -> list[Committable]:
    return [Committable(SINK, handle) for done in epoch for handle in done.ack.vertices[0].handles[SINK]]


def restored() -> Steps:
    """What a job with another id does first when it starts from the newest checkpoint of this one."""
    for name in sorted((yield do.ListNames(names.LOG)), reverse=True):
        try:
            manifest = yield do.Read(name)
        except (RecordMissingError, DamagedRecordError):
            return
        if isinstance(manifest, Manifest):
            with contextlib.suppress(StateError):  # removed since
                yield from commit_steps(manifest, manifest)
            return


class Driver:
    """One driver process of a job whose partitions have `length` records each."""

    def __init__(self, checkpoints: DriverSteps, length: int) -> None:
        self.checkpoints = checkpoints
        self.length = length
        self.task: Steps | None = None
        """The task that is running: it may continue when the driver is dead."""
        self.verify: Callable[[Manifest | None, dict[int, Counts]], None] = lambda base, counts: None
        self.tries = 0

    def life(self) -> Steps:
        """What the job's loop does: start, run epochs, restart after an error, finish, leave."""
        progress = Progress()
        while True:
            try:
                base = yield from self.checkpoints.recover()
                if base is not None and base.facts.get(FINISHED):
                    break
                progress = yield from self.restore(base)
                while any(n < self.length for n in progress.offsets.values()):
                    yield from self.epoch(progress)
                yield from self.checkpoints.finish(progress)
                break
            except FencedError:
                raise
            except HOPELESS:
                yield from self.leave(progress)
                raise
            except HeadraceError:
                yield from self.checkpoints.drop(progress.take_handles())
        yield from self.leave(progress)

    def leave(self, progress: Progress) -> Steps:
        yield from self.checkpoints.drop(progress.take_handles())
        yield from self.checkpoints.tidy()

    def restore(self, base: Manifest | None) -> Steps:
        """State is what the files of the manifest say: a base and the deltas after it."""
        progress = Progress()
        if base is None:
            return progress
        files = manifests.files_by_owner(base)
        for position in manifests.unpacked_positions(base)[VERTEX]:
            p = int(position.split.id)
            progress.offsets[p] = position.position
            progress.chains[p] = files[VERTEX, p]
            total = [0] * KEYS
            for file in files[VERTEX, p]:
                delta = yield LoadState(names.FILES + file.name, self.checkpoints.workflow.generation)
                total = [a + b for a, b in zip(total, delta, strict=True)]
            progress.counts[p] = tuple(total)
        self.verify(base, progress.counts)
        return progress

    def epoch(self, progress: Progress) -> Steps:
        triggered = yield from self.checkpoints.trigger(progress)
        done: list[Done] = []
        try:
            for p in range(PARTITIONS):
                self.task = self.run_task(p, progress)
                done.append((yield from self.task))
                self.task = None
                if p + 1 < PARTITIONS:
                    yield do.Reach("acks.partial")
        except HeadraceError:
            yield from self.checkpoints.drop(staged_by(done))
            raise
        progress.apply(done)
        if triggered:
            yield from self.checkpoints.complete(progress, [one.ack for one in done])

    def run_task(self, p: int, progress: Progress) -> Steps:
        """A subtask's epoch; every third delta is a base, which replaces the chain."""
        self.tries += 1
        workflow = self.checkpoints.workflow
        start, counts, chain = progress.offsets[p], progress.counts[p], progress.chains[p]
        end = min(start + PER_EPOCH, self.length)
        rows, after = process(p, start, end, counts)
        yield Upsert(rows)
        unique = f"e{workflow.epoch:010d}-g{workflow.generation:010d}-{workflow.attempt}.{self.tries}"
        is_base = len(chain) >= 2
        content = after if is_base else tuple(b - a for a, b in zip(counts, after, strict=True))
        file = StateFile(f"v-{p}-{unique}", 0, 0)
        chain = (file,) if is_base else (*chain, file)
        yield do.Reach("state.pre")
        refused: list[WriteState] = []
        for write in (*(() if is_base else progress.not_written[p]), WriteState(names.FILES + file.name, content)):
            try:
                yield write
            except StoreError:
                if end == self.length:  # there is no later epoch to write it in
                    raise
                refused.append(write)
        yield do.Reach("state.post")
        handle = Handle(f"{p}-{unique}", p, workflow.epoch, workflow.generation)
        yield do.Reach("precommit.pre")
        yield Stage(handle, rows)
        yield do.Reach("precommit.post")
        report = VertexReport(
            VERTEX, p, len(rows), len(rows), 0, False, None, end == self.length, 0.0, handles={SINK: [handle]}
        )
        declined = "the store is full" if refused else None
        ack = TaskAck((0, p), self.tries, self.tries, {}, file, is_base, (report,), declined=declined)
        return Done(ack, chain, after, end, refused)
