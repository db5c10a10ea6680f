"""What the job machine remembers, and the moves that several events share: the next turn, a failure, the end.

All of it is pure: the moves change the facts and return instructions.

A turn decides, between two epochs, in this order:

1. A cancelled job closes.
2. A job whose input has ended, or that was stopped with a savepoint, finishes.
3. A rescale is carried out as soon as no epoch is under way. If it needs a checkpoint, the next epoch makes one.
4. Otherwise the next epoch is ordered; it makes a checkpoint for the request in work.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from headrace.common.job_status import JobStatus
from headrace.driver import instructions as do
from headrace.driver.events import Event
from headrace.driver.instructions import Instruction, RunEpoch
from headrace.driver.requests import Request
from headrace.driver.restarts import RestartPolicy, can_restart_after
from headrace.driver.transitions import State
from headrace.errors import HeadraceError, JobExecutionError


@dataclass(frozen=True)
class Pending:
    """An epoch that the ledger has taken in and that is not settled. The ledger takes no other one meanwhile."""

    run: RunEpoch
    result: Any


@dataclass
class JobFacts:
    """All that the machine knows of its job."""

    name: str
    policy: RestartPolicy
    overlap: int = 1
    """How many epochs may be under way at once."""
    state: State = State.CREATED
    status: JobStatus = JobStatus.CREATED
    attempt: int = 0
    epoch: int = 0
    """The number of the epoch that was ordered last."""
    under_way: dict[int, RunEpoch] = field(default_factory=dict)
    pending: Pending | None = None
    held_back: deque[Event] = field(default_factory=deque)
    """Acknowledgements of later epochs that came while one was pending."""
    waiting: deque[Request] = field(default_factory=deque)
    request: Request | None = None
    """The request in work."""
    serving: int | None = None
    """The epoch that makes the checkpoint for the request in work."""
    needs_checkpoint: bool = False
    """Whether the rescale in work has to wait for a checkpoint."""
    savepoint: str | None = None
    """The savepoint that the job was stopped with. From then on it only ends, whatever fails."""
    ended: bool = False
    """Whether all input has ended."""
    not_closed: HeadraceError | None = None
    outcome: JobStatus | None = None
    error: HeadraceError | None = None
    interrupted: bool = False
    disposing: bool = False


def turn(facts: JobFacts) -> list[Instruction]:
    """Decide what comes next, now that nothing is being concluded."""
    if facts.state is State.CANCELLING:
        return close(facts, JobStatus.CANCELED)
    facts.state = State.RUNNING
    if facts.ended or facts.savepoint is not None:
        if facts.under_way:
            return []
        facts.state = State.FINISHING
        return [do.Finish(facts.ended)]
    if facts.request is None and facts.waiting:
        facts.request = facts.waiting.popleft()
    request = facts.request
    if request is not None and request.parallelism is not None and not facts.needs_checkpoint:
        if facts.under_way:
            return []
        facts.state = State.RESCALING
        return [do.Rescale(request)]
    last = request is not None and facts.serving is not None and (request.stop or request.parallelism is not None)
    if last or len(facts.under_way) >= facts.overlap:
        return []
    return [do.PlanEpoch(forced=request is not None and facts.serving is None)]


def settle(facts: JobFacts) -> list[Instruction]:
    """Close the books of the pending epoch."""
    assert facts.pending is not None, "an epoch is pending"
    return [do.SettleEpoch(facts.pending.run.epoch, facts.pending.result)]


def release(facts: JobFacts) -> Request:
    """Return the request in work, which gets its only answer now."""
    request = facts.request
    assert request is not None, "a request is in work"
    facts.request, facts.serving, facts.needs_checkpoint = None, None, False
    return request


def refusal(facts: JobFacts, problem: str) -> do.Refuse:
    """Refuse the request in work: its checkpoint could not be made."""
    request = release(facts)
    return do.Refuse(
        request,
        JobExecutionError(
            f"The {request.what} failed: its checkpoint could not be completed: {problem}",
            remedy="check the checkpoint storage, then ask again.",
        ),
    )


def fail(facts: JobFacts, error: HeadraceError, now: float, final: bool = False) -> list[Instruction]:
    """Restart the job if its policy allows that, or end it.

    What was under way is void: acknowledgements that arrive later carry the number of an attempt that is over. A job
    that has been stopped with a savepoint never restarts: all that it did is committed, and others may start from there.
    """
    cancelling = facts.state is State.CANCELLING
    if facts.savepoint is not None and not final:
        return [do.ReportFailure(error), *close(facts, JobStatus.CANCELED if cancelling else JobStatus.FINISHED)]
    refused = [] if facts.savepoint is not None else _refused(facts, error)
    facts.under_way, facts.pending = {}, None
    facts.held_back.clear()
    facts.ended = False
    restarts = not cancelling and not final and can_restart_after(error)
    delay = facts.policy.delay(now) if restarts else None
    if delay is None:
        return [*refused, do.ReportFailure(error), *close(facts, JobStatus.FAILED, error)]
    facts.attempt += 1
    facts.state = State.RESTARTING
    return [*refused, do.GiveUpProgress(error, delay), do.ReportFailure(error), do.Wait(delay)]


def _refused(facts: JobFacts, error: HeadraceError) -> list[Instruction]:
    """Refuse what cannot outlive the failure. A rescale that has not begun is served after the restart."""
    gone = [request for request in facts.waiting if request.parallelism is None]
    facts.waiting = deque(request for request in facts.waiting if request.parallelism is not None)
    if facts.request is not None:
        gone.insert(0, release(facts))
    return [
        do.Refuse(
            request,
            JobExecutionError(
                f"The {request.what} failed because the job failed: {error.message}",
                remedy="ask again when the job runs.",
            ),
        )
        for request in gone
    ]


def close(facts: JobFacts, outcome: JobStatus, error: HeadraceError | None = None) -> list[Instruction]:
    """End the job, and answer a stop with a savepoint: nothing runs any more."""
    facts.state, facts.outcome, facts.error = State.CLOSING, outcome, error
    facts.under_way, facts.pending = {}, None
    answers: list[Instruction] = []
    if facts.savepoint is not None and facts.request is not None:
        answers.append(do.Answer(release(facts), facts.savepoint))
    return [*answers, do.CloseExecutor()]
