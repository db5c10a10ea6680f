"""The states of a job and the table of their transitions, as data.

`TABLE` names, for each state, the events that may arrive in it and the states that may follow. The job machine refuses
everything else. The states are finer than the `JobStatus` that users see: `STATUS` maps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from headrace.common.job_status import JobStatus
from headrace.driver import events as on
from headrace.driver.events import Event


class State(Enum):
    """Where a job is in its life; the value says what happens there."""

    CREATED = "not started yet"
    STARTING = "recovers its last checkpoint, or begins"
    RUNNING = "runs epochs, makes checkpoints"
    RESCALING = "replaces its tasks, between two epochs"
    FINISHING = "commits the last output"
    RESTARTING = "waits before it restarts"
    RECOVERING = "recovers after a failure"
    CANCELLING = "ends what is under way"
    CLOSING = "closes functions, clears up"
    FINISHED = "ended: all input processed, or stopped"
    FAILED = "ended: failed"
    CANCELED = "ended: cancelled"


STATUS: Mapping[State, JobStatus | None] = {
    State.CREATED: JobStatus.CREATED,
    State.STARTING: JobStatus.RUNNING,
    State.RUNNING: JobStatus.RUNNING,
    State.RESCALING: JobStatus.RUNNING,
    State.FINISHING: JobStatus.RUNNING,
    State.RESTARTING: JobStatus.RESTARTING,
    State.RECOVERING: JobStatus.RESTARTING,
    State.CANCELLING: JobStatus.CANCELLING,
    State.CLOSING: None,
    State.FINISHED: JobStatus.FINISHED,
    State.FAILED: JobStatus.FAILED,
    State.CANCELED: JobStatus.CANCELED,
}
"""What users see. None: the status that the job had before."""

ENDED = (State.FINISHED, State.FAILED, State.CANCELED)

Row = dict[type[Event], tuple[State, ...]]


def _row(state: State, moves: Row) -> Row:
    """Add what every state knows: requests wait for their turn, or are refused when the job has ended."""
    return {**moves, on.RequestArrived: (state,)}


_FAILURE: Row = {on.Failed: (State.RESTARTING, State.CLOSING), on.CancelAsked: (State.CANCELLING,)}
_NEXT = (State.RUNNING, State.RESCALING)
"""After the epoch: another one, or a rescale that was asked for."""
_BEGINNING: Row = {on.Begun: (*_NEXT, State.CLOSING), **_FAILURE}
_UNDER_WAY = (
    on.EpochAccepted,
    on.EpochAcknowledged,
    on.CheckpointAcknowledged,
    on.CheckpointCompleted,
    on.SavepointWritten,
    on.SavepointFailed,
)

TABLE: Mapping[State, Row] = {
    State.CREATED: _row(State.CREATED, {on.Started: (State.STARTING,)}),
    State.STARTING: _row(State.STARTING, _BEGINNING),
    State.RUNNING: _row(
        State.RUNNING,
        {
            on.EpochPlanned: (State.RUNNING,),
            **dict.fromkeys(_UNDER_WAY, (State.RUNNING,)),
            on.CheckpointFailed: (State.RUNNING, State.RESTARTING, State.CLOSING),
            on.EpochSettled: (*_NEXT, State.FINISHING),
            on.WaitOver: _NEXT,
            **_FAILURE,
        },
    ),
    State.RESCALING: _row(
        State.RESCALING,
        {on.Rescaled: _NEXT, on.RescaleRefused: _NEXT, on.CheckpointNeeded: (State.RUNNING,), **_FAILURE},
    ),
    State.FINISHING: _row(State.FINISHING, {on.Finished: (State.CLOSING,), **_FAILURE}),
    State.RESTARTING: _row(State.RESTARTING, {on.WaitOver: (State.RECOVERING,), **_FAILURE}),
    State.RECOVERING: _row(State.RECOVERING, _BEGINNING),
    State.CANCELLING: _row(
        State.CANCELLING,
        {
            **dict.fromkeys(_UNDER_WAY, (State.CANCELLING,)),
            on.CheckpointFailed: (State.CANCELLING,),
            on.CancelAsked: (State.CANCELLING,),
            **dict.fromkeys(
                (
                    on.Begun,
                    on.EpochPlanned,
                    on.EpochAbandoned,
                    on.EpochSettled,
                    on.WaitOver,
                    on.Rescaled,
                    on.RescaleRefused,
                    on.CheckpointNeeded,
                    on.Finished,
                    on.Failed,
                ),
                (State.CLOSING,),
            ),
        },
    ),
    State.CLOSING: _row(
        State.CLOSING,
        {
            on.ExecutorClosed: (State.CLOSING,),
            on.CloseFailed: (State.CLOSING,),
            on.CancelAsked: (State.CLOSING,),
            on.Failed: (State.CLOSING, State.FAILED),
            on.Disposed: ENDED,
        },
    ),
    **{end: _row(end, {on.CancelAsked: (end,), on.Failed: (end,)}) for end in ENDED},
}


def table_text() -> str:
    """Return the table for people to read: a line for each state and event.

    >>> print(table_text().splitlines()[2])
    CREATED     CREATED     Started                 STARTING
    """
    lines = [f"{'state':11} {'status':11} {'event':23} next state", "-" * 80]
    for state, row in TABLE.items():
        status = STATUS[state]
        for event, states in row.items():
            after = " | ".join(after.name for after in states)
            lines.append(
                f"{state.name:11} {'as before' if status is None else status.name:11} {event.__name__:23} {after}"
            )
    return "\n".join(lines) + "\n"
