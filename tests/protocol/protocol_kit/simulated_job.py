"""A small job: two partitions of numbered records, a count for each key as state, a driver that lives by the protocol.

A driver's life is one generator of instructions: those of the workflow, and those of its tasks. It can thus be stopped
between any two effects, and a task can outlive its driver.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from headrace.checkpoint import instructions as do
from headrace.checkpoint import names
from headrace.checkpoint.errors import StoreError
from headrace.checkpoint.model import Committable, FileEntry, Manifest, Plan
from headrace.checkpoint.workflow import Workflow
from protocol_kit.simulated_sinks import Row

PARTITIONS = 2
KEYS = 2
PER_EPOCH = 2
JOB = "job"


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
    handle: Committable
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Upsert:
    rows: tuple[Row, ...]


class SinkDownError(Exception):
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


class Driver:
    """One driver process. `attempt` is its unique name; `length` the number of records of a partition."""

    def __init__(self, workflow: Workflow, length: int) -> None:
        self.workflow = workflow
        self.attempt = workflow.attempt
        self.length = length
        self.task: Steps | None = None
        """The task that is running: it may go on when the driver is dead."""
        self.steps = self.life()
        self.verify: Callable[[Manifest | None, dict[int, Counts]], None] = lambda base, counts: None
        self.tries = 0

    def life(self) -> Steps:
        workflow = self.workflow
        while True:
            try:
                yield from workflow.recover()
                break
            except (StoreError, SinkDownError):
                continue  # the next try claims the next generation
        chains, counts, positions = yield from self.restore(workflow.base)
        while any(positions[p] < self.length for p in range(PARTITIONS)):
            try:
                done = yield from self.epoch(chains, counts, positions)
            except (StoreError, SinkDownError):
                continue
            chains, counts, positions = done
        yield from self.retry(workflow.collect)

    def restore(self, base: Manifest | None) -> Steps:
        """State is what the files of the manifest say: a base and the deltas after it."""
        chains: dict[int, tuple[FileEntry, ...]] = {p: () for p in range(PARTITIONS)}
        counts = {p: (0,) * KEYS for p in range(PARTITIONS)}
        positions = {p: 0 for p in range(PARTITIONS)}
        if base is None:
            return chains, counts, positions
        for p in range(PARTITIONS):
            chains[p] = tuple(f for f in base.files if f.owner == str(p))
            positions[p] = base.positions[str(p)]
            total = [0] * KEYS
            for file in chains[p]:
                delta = yield LoadState(names.FILES + file.name, self.workflow.generation)
                total = [a + b for a, b in zip(total, delta, strict=True)]
            counts[p] = tuple(total)
        self.verify(base, counts)
        return chains, counts, positions

    def epoch(self, chains: Any, counts: Any, positions: Any) -> Steps:
        workflow = self.workflow
        plan = yield from workflow.plan({str(p): n for p, n in positions.items()}, {"all": PARTITIONS})
        acks = []
        handles: list[Committable] = []
        try:
            for p in range(PARTITIONS):
                self.task = self.run_task(plan, p, positions[p], counts[p], chains[p])
                acks.append((yield from self.task))
                handles.append(acks[-1][1])
                self.task = None
                yield do.Reach("acks.partial" if p + 1 < PARTITIONS else "acks.full")
            manifest = workflow.manifest(
                plan,
                [f for chain, *_ in acks for f in chain],
                handles,
                {str(p): ack[2] for p, ack in enumerate(acks)},
            )
            yield from workflow.decide_epoch(manifest)
        except (StoreError, SinkDownError):
            yield from workflow.abandon(handles)
            raise
        yield from self.retry(workflow.finish)
        yield from self.retry(workflow.collect)
        return (
            {p: ack[0] for p, ack in enumerate(acks)},
            {p: ack[3] for p, ack in enumerate(acks)},
            {p: ack[2] for p, ack in enumerate(acks)},
        )

    def retry(self, step: Any) -> Steps:
        while True:
            try:
                return (yield from step())
            except (StoreError, SinkDownError):
                continue

    def run_task(self, plan: Plan, p: int, start: int, counts: Counts, chain: tuple[FileEntry, ...]) -> Steps:
        """A subtask's epoch; every third delta is a base, which replaces the chain."""
        self.tries += 1
        end = min(start + PER_EPOCH, self.length)
        rows, after = process(p, start, end, counts)
        yield Upsert(rows)
        unique = f"e{plan.epoch:010d}-g{plan.generation:010d}-{plan.attempt}.{self.tries}"
        base = len(chain) >= 2
        content = after if base else tuple(b - a for a, b in zip(counts, after, strict=True))
        file = FileEntry(str(p), f"v-{p}-{unique}", 0, 0)
        yield do.Reach("state.pre")
        yield WriteState(names.FILES + file.name, content)
        yield do.Reach("state.post")
        handle = Committable("sink", p, plan.generation, plan.epoch, f"{p}-{unique}")
        yield do.Reach("precommit.pre")
        yield Stage(handle, rows)
        yield do.Reach("precommit.post")
        return ((file,) if base else (*chain, file)), handle, end, after
