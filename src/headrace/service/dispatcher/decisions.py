"""Decide what to do next with a job: a pure function of what was found in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from headrace.service.job_folder import Starts

_HOUR = 3_600_000
_STARTING = 5_000
"""How many milliseconds a process that another dispatcher started may need to take its lock."""
_CANCEL_GRACE = 30_000
_LONGEST_DELAY = 30_000


class Action(Enum):
    """What the supervisor does next."""

    NOTHING = "nothing"
    START = "start"
    KILL = "kill"
    CANCELED = "record that it was cancelled"
    FAILED = "record that it failed"


@dataclass(frozen=True)
class Facts:
    """The observed state of a job. Times are in milliseconds."""

    now: int
    ended: bool
    alive: bool
    """Whether a process holds the lock of the job, or this dispatcher started one that lives."""
    started_here: bool
    """Whether this dispatcher started the last process, and so knows whether it lives."""
    wished_at: int | None
    starts: Starts
    restart_attempts: int


def decide(facts: Facts) -> Action:
    """Return the next action.

    >>> job = Facts(100_000, False, False, True, None, Starts(), 3)
    >>> decide(job)
    <Action.START: 'start'>
    """
    if facts.ended:
        return Action.NOTHING
    if facts.alive:
        overdue = facts.wished_at is not None and facts.now - facts.wished_at > _CANCEL_GRACE
        return Action.KILL if overdue else Action.NOTHING
    if facts.wished_at is not None:
        return Action.CANCELED
    return _without_process(facts)


def _without_process(facts: Facts) -> Action:
    """Start a job that has no process and is not to be cancelled, but not too often and not too quickly."""
    starts = facts.starts.starts
    if not starts:
        return Action.START
    since = facts.now - starts[-1]
    if not facts.started_here and since < _STARTING:
        return Action.NOTHING
    crashes = sum(1 for at in facts.starts.crashes if facts.now - at < _HOUR)
    if crashes >= facts.restart_attempts:
        return Action.FAILED
    delay = min(_LONGEST_DELAY, 0 if crashes == 0 else 500 * 2**crashes)
    return Action.START if since >= delay else Action.NOTHING
