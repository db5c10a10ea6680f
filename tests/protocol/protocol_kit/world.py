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
    down           as lost-done, and the next three creations and commits of the actor get no answer either
    late           nothing happens for longer than a checkpoint may take
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable
from itertools import count
from operator import attrgetter
from typing import Any

from headrace.checkpoint import instructions as do
from headrace.checkpoint import names
from headrace.checkpoint.driver_steps import DriverSteps, Layout
from headrace.checkpoint.errors import (
    CommitRefusedError,
    DamagedRecordError,
    FencedError,
    OutcomeUnknownError,
    RecordMissingError,
    RestoreRefusedError,
    StoreError,
)
from headrace.checkpoint.interpreter import Interpreter
from headrace.checkpoint.job_committer import JobCommitter, JobPublisher
from headrace.checkpoint.model import Generation, Manifest
from headrace.checkpoint.outcomes import CheckpointOutcomes
from headrace.checkpoint.workflow import Workflow
from headrace.config.checkpoint_settings import CheckpointSettings
from headrace.errors import HeadraceError
from protocol_kit.memory_store import MemoryStore
from protocol_kit.simulated_job import (
    JOB,
    PARTITIONS,
    VERTEX,
    Driver,
    LoadState,
    SinkDownError,
    Stage,
    Steps,
    Upsert,
    WriteState,
    restored,
)
from protocol_kit.simulated_sinks import IdempotentSink, TwoPhaseSink
from protocol_kit.verifier import Verifier

POINT_OF: dict[type, Callable[[Any], str | None]] = {
    do.Reach: attrgetter("point"),
    do.Create: attrgetter("inside"),
    do.Commit: lambda i: "commit.ambiguous",
    WriteState: lambda i: "state.torn",
    Stage: lambda i: "precommit.mid",
}
ENDED, KILLED, FENCED, REFUSED, RUNNING = "ended", "killed", "fenced", "refused", "running"
COMMIT_REFUSED = "commit refused"
LAYOUT = Layout({VERTEX: PARTITIONS})


class Actor:
    def __init__(self, steps: Steps, driver: Driver | None = None, interpreter: Interpreter | None = None) -> None:
        self.steps = steps
        self.driver = driver
        self.interpreter = interpreter
        self.state = RUNNING
        self.error: Exception | None = None
        self.instruction: Any = None
        self.reached: Counter[str] = Counter()
        self.taken = 0
        self.outage = 0
        """How many more creations and commits get no answer."""
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
            self.state, self.error = KILLED, error  # a late task has nobody to report to
        except CommitRefusedError as error:
            self.state, self.error = COMMIT_REFUSED, error

    @property
    def point(self) -> str | None:
        """The fault point of the next step, if it has one."""
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
        tolerable: int = 9,
        interval: int = 1,
        checkpoints: type[DriverSteps] = DriverSteps,
    ) -> None:
        self.store = MemoryStore()
        self.verifier = Verifier(self.store, length)
        self.sink = sink(self.verifier.on_commit)
        self.idempotent = IdempotentSink()
        self.graph = self.sink.graph()
        self.settings = CheckpointSettings(interval=interval, retained=retained, tolerable_failures=tolerable)
        self.checkpoints = checkpoints
        self.clock = 0
        """Milliseconds. Each task of an epoch takes a second, waiting its time, each look at the clock a millisecond."""
        self.length = length
        self.retained = retained
        self.workflow = workflow
        self.deaf_to = deaf_to
        self.actors: list[Actor] = []
        self.reached: Counter[str] = Counter()
        self.torn = 0
        """Log entries torn by a store that broke its promise."""
        self.damaged = 0
        self.steps = 0
        self._perform: dict[type, Callable[[Any], Any]] = {
            WriteState: lambda i: self.store.create(i.name, i.content),
            LoadState: self._load,
            Stage: lambda i: self.sink.stage(i.handle, i.rows),
            Upsert: self._upsert,
        }

    def spawn(self) -> Actor:
        """Start a driver process with the production driver, committer, publisher and interpreter."""
        name = f"d{len(self.actors)}"
        outcomes = CheckpointOutcomes(self.settings, self.now, self.now)
        starts = count()

        def publish(manifest: Manifest) -> None:
            self.verifier.on_publish(manifest)
            outcomes.published(manifest)

        committer, publisher = JobCommitter(JOB, self.graph), JobPublisher(lambda positions: None, publish)
        steps = self.checkpoints(
            lambda: self.workflow(JOB, f"{name}.{next(starts)}", self.retained), committer, outcomes, LAYOUT, self.now
        )
        driver = Driver(steps, self.length)
        driver.verify = self.verifier.on_restore
        actor = Actor(driver.life(), driver, Interpreter(self.store, committer, publisher, self.sleep))
        self.actors.append(actor)
        return actor

    def spawn_restorer(self) -> Actor:
        """Start another job from the newest checkpoint of this one: it finishes the commits, and never claims this job."""
        committer, publisher = (
            JobCommitter(JOB, self.graph),
            JobPublisher(lambda positions: None, self.verifier.on_publish),
        )
        actor = Actor(restored(), None, Interpreter(self.store, committer, publisher, self.sleep))
        self.actors.append(actor)
        return actor

    def now(self) -> int:
        self.clock += 1
        return self.clock

    def sleep(self, seconds: float) -> None:
        self.clock += int(seconds * 1000)

    def cancel(self, actor: Actor) -> None:
        """Let a driver stop for good, as when a user cancels the job: it removes its checkpoints if it may."""
        driver = actor.driver
        assert driver is not None
        actor.state = RUNNING
        actor.steps.close()
        actor.steps = driver.checkpoints.remove(named=True)
        actor.advance(actor.steps.__next__)
        self.run(actor)

    def orphan(self, actor: Actor) -> Actor | None:
        """Let the task that a dead driver was running continue alone."""
        task = actor.driver.task if actor.driver is not None else None
        if task is None or actor.state is not KILLED or actor.instruction is None:
            return None
        late = Actor.__new__(Actor)
        late.__dict__.update(actor.__dict__, steps=task, driver=None, state=RUNNING, reached=Counter())
        self.actors.append(late)
        return late

    def step(self, actor: Actor, fault: str | None = None) -> None:
        """Perform the actor's next instruction, with a fault if one is given."""
        self.steps += 1
        actor.taken += 1
        instruction = actor.instruction
        kind = type(instruction)
        if kind in POINT_OF:
            point = POINT_OF[kind](instruction)
            if point is not None:
                actor.reached[point] += 1
                self.reached[point] += 1
        if fault is None and actor.outage and kind in (do.Create, do.Commit):
            actor.outage -= 1
            fault = "lost-not"
        if fault is not None:
            self._fail(actor, instruction, fault)
            return
        answer = None
        if kind is not do.Reach and kind not in self.deaf_to:
            try:
                answer = self._effect(actor, instruction)
            except Exception as problem:
                if self.verifier.violation is not None:
                    raise self.verifier.violation from None
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

    def _upsert(self, instruction: Upsert) -> None:
        self.clock += 1000
        self.idempotent.write(instruction.rows)

    def _load(self, instruction: LoadState) -> Any:
        try:
            return self.store.read(instruction.name)
        except (DamagedRecordError, RecordMissingError) as error:
            newest = max(map(int, (name[-10:] for name in self.store.list(names.GENERATIONS))))
            if newest > instruction.generation:  # its successor has collected the file: nobody uses what it restores
                raise FencedError(instruction.generation, newest) from error
            return self.verifier.fail("I10", f"a restore from a bad file: {error}")

    def _effect(self, actor: Actor, instruction: Any) -> Any:
        own = self._perform.get(type(instruction))
        if own is not None:
            return own(instruction)
        assert actor.interpreter is not None, "tasks have no instructions of the protocol"
        return actor.interpreter.perform(instruction)

    def _unheard(self, actor: Actor, instruction: Any) -> None:
        """Perform an instruction whose answer is lost; one that is refused does nothing."""
        with contextlib.suppress(HeadraceError):
            self._effect(actor, instruction)
        if self.verifier.violation is not None:
            raise self.verifier.violation

    def _fail(self, actor: Actor, instruction: Any, fault: str) -> None:
        writes = type(instruction) in (do.Create, WriteState)
        if fault == "power":
            self.lose_power()
        elif fault == "late":
            self.clock += self.settings.timeout
            self.step(actor)
        elif fault in ("kill", "kill-after", "kill-unsynced", "kill-torn"):
            actor.state = KILLED
            if fault == "kill" and type(instruction) is do.Create:
                self.store.leave_temporary(instruction.record.generation)
            elif fault == "kill-torn" and writes and type(getattr(instruction, "record", None)) is not Generation:
                self.torn += self.store.create_torn(instruction.name) and instruction.name.startswith(names.LOG)
            elif fault != "kill":
                fresh = writes and instruction.name not in self.store.all_names()
                self._unheard(actor, instruction)
                if fault == "kill-unsynced" and fresh:
                    self.store.undurable.add(instruction.name)
        else:
            if fault == "down":
                actor.outage = 3
            if fault in ("lost-done", "down"):
                self._unheard(actor, instruction)
            error: Exception = StoreError("full")
            if type(instruction) in (do.Commit, Stage):
                error = SinkDownError()
            elif type(instruction) is do.Create and fault != "full":
                error = OutcomeUnknownError("no answer")
            actor.advance(lambda: actor.steps.throw(error))


def _raise(error: BaseException) -> None:
    raise error
