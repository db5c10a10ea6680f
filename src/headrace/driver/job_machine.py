"""The life of a job as a pure state machine: events in, instructions out.

It decides what a job does next and is the only place that changes its status. It has no threads and does no I/O; the
clock is injected. `transitions.TABLE` says which event may arrive in which state, `reactions` how the machine reacts,
and the loop (`loop.py`) performs the instructions and reports back.

What it guarantees, whatever fails when:

1. A request gets exactly one answer. Once the savepoint of a stop is written, the job never runs another epoch.
2. Acknowledgements enter the ledger in the order of their epochs, and none enters before the epoch before is settled,
   with its checkpoint: a checkpoint never holds half of the next epoch.
3. After a failure, acknowledgements and failures of the attempt before are ignored.
4. A job that is closing has its outcome: neither a cancellation nor a failure makes it run again.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from headrace.common.job_status import JobStatus
from headrace.driver.events import Event
from headrace.driver.instructions import Instruction
from headrace.driver.job_facts import JobFacts
from headrace.driver.reactions import REACTIONS
from headrace.driver.restarts import RestartPolicy
from headrace.driver.transitions import ENDED, STATUS, TABLE, State
from headrace.errors import HeadraceError, JobExecutionError

_REMEMBERED = 100


class InternalError(JobExecutionError):
    """The driver has contradicted itself. This is a bug in headrace; the text tells how the job got there.

    >>> InternalError("Disposed cannot happen while the job is RUNNING").code
    'INTERNAL'
    """

    code = "INTERNAL"


@dataclass(frozen=True)
class Transition:
    """A line of a job's story: what happened, and what the machine made of it."""

    at: float
    event: str
    before: State
    after: State
    instructions: tuple[str, ...]
    ignored: bool = False
    """Whether the event belonged to an attempt that was over."""

    def __str__(self) -> str:
        states = self.before.name if self.before is self.after else f"{self.before.name} -> {self.after.name}"
        then = "ignored" if self.ignored else ", ".join(self.instructions) or "-"
        return f"{self.at:.3f} {states}: {self.event} => {then}"


class JobMachine:
    """Decides the life of one job. `overlap`: how many epochs may be under way at once.

    >>> from headrace.config.restart_strategy import RestartStrategies
    >>> from headrace.driver.events import Started
    >>> from headrace.driver.restarts import policy_for
    >>> machine = JobMachine("job", policy_for(RestartStrategies.no_restart(), checkpointing=False), clock=lambda: 7.0)
    >>> [str(instruction) for instruction in machine.handle(Started())], machine.status.name
    (['Begin(attempt=0)'], 'RUNNING')
    >>> print(machine.story[-1])
    7.000 CREATED -> STARTING: Started => Begin(attempt=0)
    """

    def __init__(
        self, name: str, policy: RestartPolicy, clock: Callable[[], float] = time.monotonic, overlap: int = 1
    ) -> None:
        self._facts = JobFacts(name, policy, overlap)
        self._clock = clock
        self._story: deque[Transition] = deque(maxlen=_REMEMBERED)

    @property
    def state(self) -> State:
        return self._facts.state

    @property
    def status(self) -> JobStatus:
        """What users see of the state."""
        return self._facts.status

    @property
    def error(self) -> HeadraceError | None:
        return self._facts.error

    @property
    def attempt(self) -> int:
        """How often the job has restarted."""
        return self._facts.attempt

    @property
    def ended(self) -> bool:
        """Whether the job has ended for good."""
        return self._facts.state in ENDED

    @property
    def story(self) -> list[Transition]:
        """The last transitions, oldest first."""
        return list(self._story)

    def handle(self, event: Event) -> list[Instruction]:
        """Take in what has happened and return what has to be done, in this order."""
        facts, before, now = self._facts, self._facts.state, self._clock()
        if event.attempt is not None and (event.attempt != facts.attempt or before in (State.CLOSING, *ENDED)):
            self._story.append(Transition(now, str(event), before, before, (), ignored=True))
            return []
        allowed = TABLE[before].get(type(event))
        if allowed is None:
            raise self._contradiction(f"{event} cannot happen while the job is {before.name}")
        try:
            instructions = REACTIONS[type(event)](facts, event, now)
            assert facts.state in allowed, f"the next state cannot be {facts.state.name}"
            facts.status = STATUS[facts.state] or facts.status
            self._validate()
        except (AssertionError, LookupError) as error:
            raise self._contradiction(f"{event} does not fit what the job did while {before.name}: {error}") from None
        self._story.append(Transition(now, str(event), before, facts.state, tuple(map(str, instructions))))
        return instructions

    def _validate(self) -> None:
        facts = self._facts
        assert len(facts.under_way) <= facts.overlap, "more epochs are under way than may overlap"
        assert facts.pending is None or facts.state in (State.RUNNING, State.CANCELLING, State.CLOSING), (
            "an epoch that is not settled is left behind"
        )
        assert facts.state is not State.RESCALING or not facts.under_way, "a job is rescaled between epochs"
        assert (facts.outcome is not None) == (facts.state in (State.CLOSING, *ENDED)), (
            "only a job that ends has an outcome"
        )
        assert (facts.error is not None) == (facts.outcome is JobStatus.FAILED), "a job fails with an error"
        assert not self.ended or (facts.request is None and not facts.waiting), "a request is left without an answer"

    def _contradiction(self, message: str) -> InternalError:
        story = "\n".join(str(transition) for transition in self._story)
        return InternalError(message, seen=f"story of the job:\n{story}", remedy="report this, with the story")
