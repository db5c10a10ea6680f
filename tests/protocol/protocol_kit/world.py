"""A model run: one store, two sinks, and actors (drivers, and tasks that outlived theirs) that take steps in turn.

A fault is an action at a step of an actor:

    kill           the process ends before the effect
    kill-after     the process ends after the effect, before it hears the answer
    kill-unsynced  as kill-after, and what was written is not durable yet
    kill-torn      the process ends and leaves half a record under its final name
    power          the machine ends: all actors die, what is not durable is gone
    lost-done      the effect happens, the answer is an error
    lost-not       the effect does not happen, and the answer does not say so
    full           the effect does not happen, and the answer says so
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from headrace.checkpoint import instructions as do
from headrace.checkpoint import names
from headrace.checkpoint.errors import (
    CheckpointError,
    CommitRefusedError,
    DamagedRecordError,
    FencedError,
    OutcomeUnknownError,
    RecordMissingError,
    RestoreRefusedError,
    StoreError,
)
from headrace.checkpoint.model import Generation
from headrace.checkpoint.workflow import Workflow
from headrace.common.errors import HeadraceError
from protocol_kit.memory_store import MemoryStore
from protocol_kit.simulated_job import JOB, Driver, LoadState, SinkDownError, Stage, Steps, Upsert, WriteState
from protocol_kit.simulated_sinks import IdempotentSink, TwoPhaseSink
from protocol_kit.verifier import Verifier

POINT_OF: dict[type, Callable[[Any], str | None]] = {
    do.Reach: attrgetter("point"),
    do.Create: attrgetter("inside"),
    do.Commit: lambda i: "commit.ambiguous",
    WriteState: lambda i: "state.torn",
    Stage: lambda i: "precommit.mid",
}
ENDED, KILLED, FENCED, REFUSED, UNSURE, RUNNING = "ended", "killed", "fenced", "refused", "unsure", "running"
COMMIT_REFUSED = "commit refused"


class Actor:
    def __init__(self, steps: Steps, driver: Driver | None = None) -> None:
        self.steps = steps
        self.driver = driver
        self.state = RUNNING
        self.error: Exception | None = None
        self.instruction: Any = None
        self.reached: Counter[str] = Counter()
        self.taken = 0
        self.advance(steps.__next__)

    def advance(self, move: Callable[[], Any]) -> None:
        try:
            self.instruction = move()
        except StopIteration:
            self.state = ENDED
        except FencedError as error:
            self.state, self.error = FENCED, error
        except RestoreRefusedError as error:
            self.state, self.error = REFUSED, error
        except (StoreError, SinkDownError) as error:
            if self.driver is not None:
                raise
            self.state, self.error = KILLED, error  # a late task has nobody to tell
        except CommitRefusedError as error:
            self.state, self.error = COMMIT_REFUSED, error
        except CheckpointError as error:
            self.state, self.error = UNSURE, error

    @property
    def point(self) -> str | None:
        """The fault point of the step that comes next, if it has one."""
        find = POINT_OF.get(type(self.instruction))
        return None if find is None else find(self.instruction)


class World:
    def __init__(
        self,
        length: int = 6,
        retained: int = 1,
        workflow: type[Workflow] = Workflow,
        sink: type[TwoPhaseSink] = TwoPhaseSink,
        deaf_to: tuple[type, ...] = (),
    ) -> None:
        self.store = MemoryStore()
        self.verifier = Verifier(self.store, length)
        self.sink = sink(self.verifier.on_commit)
        self.idempotent = IdempotentSink()
        self.length = length
        self.retained = retained
        self.workflow = workflow
        self.deaf_to = deaf_to
        self.actors: list[Actor] = []
        self.reached: Counter[str] = Counter()
        self.torn = 0
        """Slots that were torn by a store that broke its promise."""
        self.damaged = 0
        self.steps = 0
        self._perform: dict[type, Callable[[Any], Any]] = {
            do.Reach: lambda i: None,
            do.Settle: lambda i: self.store.settle(),
            do.ListNames: lambda i: self.store.list(i.folder),
            do.Read: lambda i: self.store.read(i.name),
            do.Create: self._create,
            do.Delete: self._delete,
            do.CheckFile: lambda i: self.store.problem_of(i.file),
            do.Commit: lambda i: self.sink.commit(i.committable),
            do.Abort: lambda i: self.sink.abort(i.committable),
            do.ListStaged: lambda i: self.sink.staged(),
            do.Untouched: lambda i: self.sink.untouched(i.epoch),
            do.Publish: lambda i: self.verifier.on_publish(i.manifest),
            WriteState: lambda i: self.store.create(i.name, i.content),
            LoadState: self._load,
            Stage: lambda i: self.sink.stage(i.handle, i.rows),
            Upsert: lambda i: self.idempotent.write(i.rows),
        }

    def spawn(self) -> Actor:
        """Start a driver."""
        driver = Driver(self.workflow(JOB, f"d{len(self.actors)}", self.retained), self.length)
        driver.verify = self.verifier.on_restore
        actor = Actor(driver.steps, driver)
        self.actors.append(actor)
        return actor

    def orphan(self, actor: Actor) -> Actor | None:
        """Let the task that a dead driver was running go on by itself."""
        task = actor.driver.task if actor.driver is not None else None
        if task is None or actor.state is not KILLED or actor.instruction is None:
            return None
        late = Actor.__new__(Actor)
        late.__dict__.update(actor.__dict__, steps=task, driver=None, state=RUNNING, reached=Counter())
        self.actors.append(late)
        return late

    def step(self, actor: Actor, fault: str | None = None) -> None:
        """Carry out the actor's next instruction, with a fault if one is given."""
        self.steps += 1
        actor.taken += 1
        instruction = actor.instruction
        kind = type(instruction)
        if kind in POINT_OF:
            point = POINT_OF[kind](instruction)
            if point is not None:
                actor.reached[point] += 1
                self.reached[point] += 1
        if fault is not None:
            self._fail(actor, instruction, fault)
            return
        answer = None
        if kind is not do.Reach and kind not in self.deaf_to:
            try:
                answer = self._perform[kind](instruction)
            except HeadraceError as problem:
                error = problem
                actor.advance(lambda: actor.steps.throw(error))
                return
        try:
            actor.instruction = actor.steps.send(answer)
        except (StopIteration, HeadraceError) as end:
            ended = end
            actor.advance(lambda: _raise(ended))

    def run(self, actor: Actor, limit: int = 100_000) -> None:
        """Let one actor run without faults."""
        while actor.state is RUNNING and limit:
            self.step(actor)
            limit -= 1
        assert limit, "an actor does not end"

    def kill(self, actor: Actor) -> None:
        actor.state = KILLED

    def lose_power(self) -> None:
        for actor in self.actors:
            if actor.state is RUNNING:
                actor.state = KILLED
        self.store.lose_power()

    # -- effects and faults -----------------------------------------------------------------------------------------

    def _create(self, instruction: do.Create) -> bool:
        created = self.store.create(instruction.name, instruction.record)
        if created:
            self.verifier.on_create(instruction.name, instruction.record)
        return created

    def _delete(self, instruction: do.Delete) -> None:
        self.verifier.on_delete(instruction.name)
        self.store.delete(instruction.name)

    def _load(self, instruction: LoadState) -> Any:
        try:
            return self.store.read(instruction.name)
        except (DamagedRecordError, RecordMissingError) as error:
            newest = max(map(int, (name[-10:] for name in self.store.list(names.GENERATIONS))))
            if (
                newest > instruction.generation
            ):  # its successor has collected the file: what it restores counts for nobody
                raise FencedError(instruction.generation, newest) from error
            return self.verifier.fail("I10", f"a restore from a bad file: {error}")

    def _effect(self, instruction: Any) -> None:
        """What an instruction does although its answer does not arrive; one that is refused does nothing."""
        with contextlib.suppress(HeadraceError):
            self._perform[type(instruction)](instruction)

    def _fail(self, actor: Actor, instruction: Any, fault: str) -> None:
        writes = type(instruction) in (do.Create, WriteState)
        if fault == "power":
            self.lose_power()
        elif fault in ("kill", "kill-after", "kill-unsynced", "kill-torn"):
            actor.state = KILLED
            if fault == "kill" and type(instruction) is do.Create:
                self.store.leave_temporary(instruction.record.generation)
            elif fault == "kill-torn" and writes and type(getattr(instruction, "record", None)) is not Generation:
                self.torn += self.store.create_torn(instruction.name) and instruction.name.startswith(names.SLOTS)
            elif fault != "kill":
                fresh = writes and instruction.name not in self.store.all_names()
                self._effect(instruction)
                if fault == "kill-unsynced" and fresh:
                    self.store.undurable.add(instruction.name)
        else:
            if fault == "lost-done":
                self._effect(instruction)
            error: Exception = StoreError("full")
            if type(instruction) in (do.Commit, Stage):
                error = SinkDownError()
            elif type(instruction) is do.Create and fault != "full":
                error = OutcomeUnknownError("no answer")
            actor.advance(lambda: actor.steps.throw(error))


def _raise(error: BaseException) -> None:
    raise error
