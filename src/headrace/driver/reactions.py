"""How the job machine reacts to each event: it changes the facts and returns instructions. Pure functions only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from headrace.common.job_status import JobStatus
from headrace.driver import events as on
from headrace.driver import instructions as do
from headrace.driver.instructions import Instruction
from headrace.driver.job_facts import JobFacts, Pending, close, fail, refusal, release, settle, turn
from headrace.driver.transitions import ENDED, State
from headrace.errors import JobExecutionError

Reaction = Callable[[JobFacts, Any, float], list[Instruction]]
_END = {JobStatus.FINISHED: State.FINISHED, JobStatus.FAILED: State.FAILED, JobStatus.CANCELED: State.CANCELED}

# -- the life of the job --------------------------------------------------------------------------------------------


def _started(facts: JobFacts, event: on.Started, now: float) -> list[Instruction]:
    facts.state = State.STARTING
    return [do.Begin(facts.attempt)]


def _begun(facts: JobFacts, event: on.Begun, now: float) -> list[Instruction]:
    facts.not_closed = None
    if event.finished and facts.state is not State.CANCELLING:
        return close(facts, JobStatus.FINISHED)
    return turn(facts)


def _wait_over(facts: JobFacts, event: on.WaitOver, now: float) -> list[Instruction]:
    if facts.state is State.RESTARTING:
        facts.state = State.RECOVERING
        return [do.Begin(facts.attempt)]
    return turn(facts)


def _failed(facts: JobFacts, event: on.Failed, now: float) -> list[Instruction]:
    if facts.state in ENDED:
        return []
    if facts.state is not State.CLOSING:
        return fail(facts, event.error, now, event.final)
    if facts.disposing:  # clearing up failed: nothing may keep the job from its end
        facts.outcome, facts.error = JobStatus.FAILED, facts.error or event.error
        return _disposed(facts, on.Disposed(), now)
    return _close_failed(facts, on.CloseFailed(event.error), now)


def _cancel_asked(facts: JobFacts, event: on.CancelAsked, now: float) -> list[Instruction]:
    if facts.state in ENDED:
        return []
    facts.interrupted |= event.interrupted
    facts.status = JobStatus.CANCELLING
    if facts.state is not State.CLOSING:  # else how the job ends is decided
        facts.state = State.CANCELLING
    return [do.Interrupt()]


def _finished(facts: JobFacts, event: on.Finished, now: float) -> list[Instruction]:
    return close(facts, JobStatus.CANCELED if facts.state is State.CANCELLING else JobStatus.FINISHED)


def _executor_closed(facts: JobFacts, event: on.ExecutorClosed, now: float) -> list[Instruction]:
    assert facts.outcome is not None, "it is decided how the job ends"
    steps: list[Instruction] = [do.ClearUp(facts.outcome, facts.error, facts.interrupted)]
    if facts.outcome is JobStatus.FINISHED and facts.not_closed is not None:
        # Its output is committed: so it leaves what a finished job leaves, and does not run again.
        facts.outcome, facts.error = JobStatus.FAILED, facts.not_closed
        steps.append(do.ReportFailure(facts.not_closed))
    facts.disposing = True
    return [*steps, do.Dispose()]


def _close_failed(facts: JobFacts, event: on.CloseFailed, now: float) -> list[Instruction]:
    if facts.error is not None or facts.status is JobStatus.CANCELLING:
        return _executor_closed(facts, on.ExecutorClosed(), now)
    facts.outcome, facts.error = JobStatus.FAILED, event.error
    return [do.ReportFailure(event.error), *_executor_closed(facts, on.ExecutorClosed(), now)]


def _disposed(facts: JobFacts, event: on.Disposed, now: float) -> list[Instruction]:
    assert facts.outcome is not None, "it is decided how the job ends"
    facts.state = _END[facts.outcome]
    left = [*([release(facts)] if facts.request is not None else []), *facts.waiting]
    facts.waiting.clear()
    return [do.End(), *(_too_late(facts, request) for request in left)]


def _too_late(facts: JobFacts, request: Any) -> do.Refuse:
    return do.Refuse(request, JobExecutionError(f"Job {facts.name!r} has ended: {facts.state.name}"))


# -- epochs and checkpoints -----------------------------------------------------------------------------------------


def _epoch_planned(facts: JobFacts, event: on.EpochPlanned, now: float) -> list[Instruction]:
    if facts.state is State.CANCELLING:
        return turn(facts)
    facts.epoch += 1
    refused, drain = [], False
    if facts.request is not None and facts.serving is None:
        if event.order.now:
            facts.serving, drain = facts.epoch, facts.request.drain
        else:
            refused.append(refusal(facts, event.problem))
    run = do.RunEpoch(facts.epoch, facts.attempt, event.order, drain)
    facts.under_way[run.epoch] = run
    return [*refused, run]


def _epoch_accepted(facts: JobFacts, event: on.EpochAccepted, now: float) -> list[Instruction]:
    return [] if facts.state is State.CANCELLING else turn(facts)


def _epoch_acknowledged(facts: JobFacts, event: on.EpochAcknowledged, now: float) -> list[Instruction]:
    if facts.pending is not None:
        held_back = [held for held in facts.held_back if isinstance(held, on.EpochAcknowledged)]
        assert event.epoch in facts.under_way.keys() - {held.epoch for held in held_back}, "it is acknowledged once"
        facts.held_back.append(event)
        return []
    assert event.epoch == min(facts.under_way, default=None), "epochs are acknowledged once, in their order"
    facts.pending = Pending(facts.under_way.pop(event.epoch), event.result)
    take = do.TakeEpoch(event.epoch, event.result)
    return [take] if facts.pending.run.order.now else [take, *settle(facts)]


def _epoch_abandoned(facts: JobFacts, event: on.EpochAbandoned, now: float) -> list[Instruction]:
    return turn(facts)


def _checkpoint_acknowledged(facts: JobFacts, event: on.CheckpointAcknowledged, now: float) -> list[Instruction]:
    pending = facts.pending
    assert pending is not None, "a checkpoint is acknowledged once, after its epoch"
    if pending.run.epoch != event.epoch:
        assert event.epoch in facts.under_way, "a checkpoint is acknowledged once, after its epoch"
        facts.held_back.append(event)
        return []
    assert pending.run.order.now, "the epoch makes a checkpoint"
    return [do.ConcludeCheckpoint(event.epoch, pending.run.order, pending.result)]


def _checkpoint_completed(facts: JobFacts, event: on.CheckpointCompleted, now: float) -> list[Instruction]:
    request = facts.request
    if request is None or facts.serving != event.epoch:
        return settle(facts)
    if request.parallelism is not None:  # the next turn rescales, on this checkpoint
        facts.serving, facts.needs_checkpoint = None, False
        return settle(facts)
    if request.checkpoint:
        return [do.Answer(release(facts), event.manifest.epoch), *settle(facts)]
    assert request.directory is not None, "savepoints have a directory"
    return [do.WriteSavepoint(request.directory, event.manifest)]


def _checkpoint_failed(facts: JobFacts, event: on.CheckpointFailed, now: float) -> list[Instruction]:
    refused: list[Instruction] = []
    pending = facts.pending if facts.pending is not None and facts.pending.run.epoch == event.epoch else None
    run = facts.under_way[event.epoch] if pending is None else pending.run
    assert run.order.now, "the epoch makes a checkpoint"
    if facts.request is not None and facts.serving == event.epoch:
        drained = facts.request.drain
        refused.append(refusal(facts, event.problem))
        if drained and facts.state is not State.CANCELLING:
            # The sources have been told to end: only the last checkpoint knows how to continue.
            why = JobExecutionError(f"The job was drained, but its savepoint failed: {event.problem}")
            return [*refused, *fail(facts, why, now)]
    if pending is not None:
        return [*refused, *settle(facts)]
    # It has expired before the epoch itself is acknowledged.
    facts.under_way[event.epoch] = replace(run, order=replace(run.order, now=False))
    return refused


def _epoch_settled(facts: JobFacts, event: on.EpochSettled, now: float) -> list[Instruction]:
    assert facts.pending is not None and facts.pending.run.epoch == event.epoch, "it is the epoch that was taken in"
    facts.pending = None
    facts.ended = event.ended
    facts.not_closed = facts.not_closed or event.not_closed
    if facts.held_back and facts.state is not State.CANCELLING:
        return _resumed(facts, now)
    busy = facts.ended or facts.savepoint is not None or facts.request is not None or facts.waiting or facts.under_way
    if event.pause is not None and not busy and facts.state is not State.CANCELLING:
        return [do.Wait(event.pause)]
    return turn(facts)


def _resumed(facts: JobFacts, now: float) -> list[Instruction]:
    """Take in the next epoch that was held back; what follows it is held back again."""
    steps: list[Instruction] = []
    for event in [facts.held_back.popleft() for _ in range(len(facts.held_back))]:
        steps += REACTIONS[type(event)](facts, event, now)
    return steps


# -- requests -------------------------------------------------------------------------------------------------------


def _request_arrived(facts: JobFacts, event: on.RequestArrived, now: float) -> list[Instruction]:
    if facts.state in ENDED:
        return [_too_late(facts, event.request)]
    facts.waiting.append(event.request)
    return []


def _savepoint_written(facts: JobFacts, event: on.SavepointWritten, now: float) -> list[Instruction]:
    assert facts.request is not None, "a savepoint is written for a request"
    if facts.request.stop:
        facts.savepoint = event.folder
        return settle(facts)
    return [do.Answer(release(facts), event.folder), *settle(facts)]


def _savepoint_failed(facts: JobFacts, event: on.SavepointFailed, now: float) -> list[Instruction]:
    return [do.Refuse(release(facts), event.error), *settle(facts)]


def _rescaled(facts: JobFacts, event: on.Rescaled, now: float) -> list[Instruction]:
    request = release(facts)
    return [do.Answer(request, request.parallelism), *turn(facts)]


def _rescale_refused(facts: JobFacts, event: on.RescaleRefused, now: float) -> list[Instruction]:
    return [do.Refuse(release(facts), event.error), *turn(facts)]


def _checkpoint_needed(facts: JobFacts, event: on.CheckpointNeeded, now: float) -> list[Instruction]:
    facts.needs_checkpoint = True
    return turn(facts)


REACTIONS: dict[type[on.Event], Reaction] = {
    on.Started: _started,
    on.Begun: _begun,
    on.WaitOver: _wait_over,
    on.Failed: _failed,
    on.CancelAsked: _cancel_asked,
    on.Finished: _finished,
    on.ExecutorClosed: _executor_closed,
    on.CloseFailed: _close_failed,
    on.Disposed: _disposed,
    on.EpochPlanned: _epoch_planned,
    on.EpochAccepted: _epoch_accepted,
    on.EpochAcknowledged: _epoch_acknowledged,
    on.EpochAbandoned: _epoch_abandoned,
    on.CheckpointAcknowledged: _checkpoint_acknowledged,
    on.CheckpointCompleted: _checkpoint_completed,
    on.CheckpointFailed: _checkpoint_failed,
    on.EpochSettled: _epoch_settled,
    on.RequestArrived: _request_arrived,
    on.SavepointWritten: _savepoint_written,
    on.SavepointFailed: _savepoint_failed,
    on.Rescaled: _rescaled,
    on.RescaleRefused: _rescale_refused,
    on.CheckpointNeeded: _checkpoint_needed,
}
