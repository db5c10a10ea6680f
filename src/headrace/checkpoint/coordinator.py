"""When a checkpoint begins, when it is complete, when it has failed, and when the job has. Pure: the clock is handed in.

The driver's loop asks and tells; nothing here waits, writes or starts a thread. Times are milliseconds of a monotonic
clock, so that a wall clock that jumps changes nothing. A checkpoint's life:

1. `due` says whether a periodic one may begin now, or why not; `trigger` begins it. Numbers rise.
2. `acknowledge` takes in what tasks hand in. What comes for a checkpoint that has ended is to be discarded.
3. When all have acknowledged the driver runs steps 5 to 8 of the protocol, then calls `completed`, or `failed`.
4. `completed` subsumes older ones that are still pending, and says which completed ones are no longer retained.
5. `expire` fails those that took too long. `failed` counts: one failure for each number, a success sets back to zero.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

from headrace.checkpoint.failure_reasons import CheckpointFailureReason as Reason
from headrace.checkpoint.pending_checkpoint import AckResult, PendingCheckpoint
from headrace.config.checkpoint_settings import CheckpointSettings

__all__ = ["CheckpointCoordinator", "Completed", "Failed"]

_REMEMBERED = 64


@dataclass(frozen=True)
class Completed:
    """What the end of a checkpoint entails: `subsumed` were given up, `dropped` are no longer retained."""

    number: int
    duration: int
    subsumed: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()


@dataclass(frozen=True)
class Failed:
    """A checkpoint that came to nothing. `fails_job`: more failures in a row than are tolerated."""

    number: int
    reason: Reason
    fails_job: bool


class CheckpointCoordinator:
    """The book of a job's checkpoints.

    >>> coordinator = CheckpointCoordinator(CheckpointSettings(interval=1000), now=0)
    >>> coordinator.due(999).name, coordinator.due(1000)
    ('MINIMUM_TIME_BETWEEN_CHECKPOINTS', None)
    >>> coordinator.trigger(1, ["map", "sink"], now=1000).number
    1
    >>> coordinator.acknowledge(1, "map").name, coordinator.acknowledge(1, "sink").name
    ('SUCCESS', 'SUCCESS')
    >>> coordinator.completed(1, now=1030)
    Completed(number=1, duration=30, subsumed=(), dropped=())
    """

    def __init__(self, settings: CheckpointSettings, now: int, retained: Iterable[int] = ()) -> None:
        """`retained` are the numbers of completed checkpoints that a restore has found, oldest first."""
        self.settings = settings
        self._pending: dict[int, PendingCheckpoint] = {}
        self._retained = list(retained)
        self._last_number = max(self._retained, default=0)
        self._next_start = None if settings.effective_interval is None else now + settings.effective_interval
        self._last_end: int | None = None
        self._failures = 0
        self._counted: set[int] = set()
        self._ended: list[int] = []
        self._running = True

    @property
    def pending(self) -> tuple[PendingCheckpoint, ...]:
        """Those under way, oldest first."""
        return tuple(self._pending[n] for n in sorted(self._pending))

    @property
    def retained(self) -> tuple[int, ...]:
        """Completed ones that are kept, oldest first."""
        return tuple(self._retained)

    def due(self, now: int) -> Reason | None:
        """Say why no periodic checkpoint may begin now; None: one is due."""
        if not self._running or self._next_start is None:
            return Reason.PERIODIC_SCHEDULER_SHUTDOWN
        if len(self._pending) >= self.settings.effective_concurrent:
            return Reason.TOO_MANY_CHECKPOINT_REQUESTS
        return None if now >= self._earliest(self._next_start) else Reason.MINIMUM_TIME_BETWEEN_CHECKPOINTS

    def next_due(self) -> int | None:
        """Give the time at which to ask `due` again; None: no periodic checkpoint by time alone."""
        if not self._running or self._next_start is None:
            return None
        if len(self._pending) >= self.settings.effective_concurrent:
            return min(p.deadline for p in self._pending.values())
        return self._earliest(self._next_start)

    def trigger(self, number: int, tasks: Iterable[Hashable], now: int, forced: bool = False) -> PendingCheckpoint:
        """Begin a checkpoint; the number is that of the next free slot. One that came to nothing is used again.

        `forced` is for savepoints and the last checkpoint of a job: it heeds neither pause nor number of others.
        """
        again = number == self._last_number and number in self._ended and number not in self._retained
        assert number > self._last_number or again, "numbers rise, only one that came to nothing is used again"
        self._last_number = number
        self._counted.discard(number)
        pending = PendingCheckpoint(number, now, now + self.settings.timeout, tasks, forced)
        self._pending[number] = pending
        interval = self.settings.effective_interval
        if interval is not None and not forced:
            self._next_start = now + interval
        return pending

    def acknowledge(self, number: int, task: Hashable, report: Any = None) -> AckResult:
        """Take in what a task hands in for a checkpoint."""
        pending = self._pending.get(number)
        if pending is not None:
            return pending.acknowledge(task, report)
        return AckResult.DISCARD if number in self._ended else AckResult.UNKNOWN

    def completed(self, number: int, now: int) -> Completed:
        """Its marker is written."""
        pending = self._pending.pop(number)
        assert pending.complete, "all tasks have acknowledged"
        subsumed = tuple(n for n in sorted(self._pending) if n < number and not self._pending[n].forced)
        for older in subsumed:
            self._end(older)
        self._remember(number)
        self._last_end = now
        self._failures = 0
        self._counted.clear()
        self._retained.append(number)
        dropped = tuple(self._retained[: -self.settings.retained])
        del self._retained[: len(dropped)]
        return Completed(number, now - pending.started, subsumed, dropped)

    def failed(self, number: int, reason: Reason) -> Failed:
        """It came to nothing. One that was asked for (`forced`) fails for who has asked, not for the job."""
        pending = self._pending.get(number)
        counts = reason.counts and not (pending is not None and pending.forced)
        self._end(number)
        if counts and number not in self._counted:
            self._counted.add(number)
            self._failures += 1
        return Failed(number, reason, counts and self._failures > self.settings.tolerable_failures)

    def expire(self, now: int) -> tuple[Failed, ...]:
        """Fail all that took too long."""
        late = [p.number for p in self.pending if now >= p.deadline]
        return tuple(self.failed(n, Reason.CHECKPOINT_EXPIRED) for n in late)

    def suspend(self, reason: Reason = Reason.CHECKPOINT_COORDINATOR_SUSPEND) -> tuple[Failed, ...]:
        """The job restarts or ends: give up all that is pending, begin none."""
        self._running = False
        return tuple(self.failed(p.number, reason) for p in self.pending)

    def resume(self, now: int) -> None:
        """The job runs again: the next periodic checkpoint is due after a whole interval."""
        self._running = True
        interval = self.settings.effective_interval
        self._next_start = None if interval is None else now + interval

    def _earliest(self, start: int) -> int:
        return start if self._last_end is None else max(start, self._last_end + self.settings.min_pause)

    def _end(self, number: int) -> None:
        self._pending.pop(number, None)
        self._remember(number)

    def _remember(self, number: int) -> None:
        self._ended.append(number)
        del self._ended[:-_REMEMBERED]
