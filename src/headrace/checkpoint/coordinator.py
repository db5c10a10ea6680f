"""When a checkpoint begins, when it is complete, when it has failed, and when the job has. Pure: the clock is passed in.

The driver asks and reports; nothing here waits, writes or starts a thread. Times are milliseconds of a monotonic clock,
so a wall clock that jumps changes nothing. A checkpoint's life:

1. `due` returns whether a periodic one may begin now, or why not; `trigger` begins it. Numbers increase.
2. `acknowledge` takes what a task reports. Discard what arrives for a checkpoint that has ended.
3. When all tasks have acknowledged, the driver performs steps 5 to 8 of the protocol and calls `completed`, or `failed`.
4. `completed` subsumes older ones that are still pending.
5. `expire` fails those that took too long. `failed` counts one failure for each number; a success resets the count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from headrace.checkpoint.errors import CheckpointFailureReason as Reason
from headrace.config.checkpoint_settings import CheckpointSettings
from headrace.worker.messages import TaskOwner


class AckResult(Enum):
    """What became of an acknowledgement."""

    SUCCESS = "accepted"
    DUPLICATE = "this task has acknowledged already"
    UNKNOWN = "this task, or this checkpoint, is not known"
    DISCARD = "the checkpoint has ended: what the task wrote is not needed"


class PendingCheckpoint:
    """One checkpoint between its trigger and its end.

    >>> pending = PendingCheckpoint(7, started=1000, deadline=2000, tasks=[("map", 0), ("map", 1)])
    >>> pending.acknowledge(("map", 0)).name, pending.acknowledge(("map", 0)).name
    ('SUCCESS', 'DUPLICATE')
    >>> pending.acknowledge(("sink", 0)).name, pending.missing
    ('UNKNOWN', frozenset({('map', 1)}))
    """

    def __init__(
        self, number: int, started: int, deadline: int, tasks: Iterable[TaskOwner], forced: bool = False
    ) -> None:
        """`forced`: a savepoint, which later checkpoints do not subsume."""
        self.number = number
        self.started = started
        self.deadline = deadline
        self.forced = forced
        self._tasks = frozenset(tasks)
        self._missing = set(self._tasks)

    @property
    def missing(self) -> frozenset[TaskOwner]:
        """The tasks that have not acknowledged."""
        return frozenset(self._missing)

    def acknowledge(self, task: TaskOwner) -> AckResult:
        if task not in self._tasks:
            return AckResult.UNKNOWN
        if task not in self._missing:
            return AckResult.DUPLICATE
        self._missing.remove(task)
        return AckResult.SUCCESS


_REMEMBERED = 64


@dataclass(frozen=True)
class Failed:
    """A failed checkpoint. `fails_job`: there are more failures in a row than are tolerated."""

    number: int
    reason: Reason
    fails_job: bool


class CheckpointCoordinator:
    """Keeps track of a job's checkpoints.

    >>> coordinator = CheckpointCoordinator(CheckpointSettings(interval=1000), now=0)
    >>> coordinator.due(999).name, coordinator.due(1000)
    ('MINIMUM_TIME_BETWEEN_CHECKPOINTS', None)
    >>> coordinator.trigger(1, [("map", 0), ("sink", 0)], now=1000).number
    1
    >>> coordinator.acknowledge(1, ("map", 0)).name, coordinator.acknowledge(1, ("sink", 0)).name
    ('SUCCESS', 'SUCCESS')
    >>> coordinator.completed(1, now=1030)
    """

    def __init__(self, settings: CheckpointSettings, now: int) -> None:
        self.settings = settings
        self._pending: dict[int, PendingCheckpoint] = {}
        self._last_number = 0
        self._last_completed = 0
        self._next_start = None if settings.effective_interval is None else now + settings.effective_interval
        self._last_end: int | None = None
        self._failures = 0
        self._counted: set[int] = set()
        self._ended: list[int] = []
        self._running = True

    @property
    def pending(self) -> tuple[PendingCheckpoint, ...]:
        """Checkpoints in progress, oldest first."""
        return tuple(self._pending[n] for n in sorted(self._pending))

    def find(self, number: int) -> PendingCheckpoint | None:
        """Return the pending checkpoint of this number; None if it has ended."""
        return self._pending.get(number)

    def due(self, now: int) -> Reason | None:
        """Return why no periodic checkpoint may begin now; None if one is due."""
        if not self._running or self._next_start is None:
            return Reason.PERIODIC_SCHEDULER_SHUTDOWN
        if len(self._pending) >= self.settings.effective_concurrent:
            return Reason.TOO_MANY_CHECKPOINT_REQUESTS
        earliest = self._next_start
        if self._last_end is not None:
            earliest = max(earliest, self._last_end + self.settings.min_pause)
        return None if now >= earliest else Reason.MINIMUM_TIME_BETWEEN_CHECKPOINTS

    def trigger(self, number: int, tasks: Iterable[TaskOwner], now: int, forced: bool = False) -> PendingCheckpoint:
        """Begin a checkpoint that these tasks acknowledge. The number of a failed one may be used again.

        `forced` is for savepoints and the last checkpoint of a job: it ignores the pause and the limit.
        """
        again = number == self._last_number and number in self._ended and number != self._last_completed
        assert number > self._last_number or again, "numbers increase, only that of a failed checkpoint is reused"
        self._last_number = number
        self._counted.discard(number)
        pending = PendingCheckpoint(number, now, now + self.settings.timeout, tasks, forced)
        self._pending[number] = pending
        interval = self.settings.effective_interval
        if interval is not None and not forced:
            self._next_start = now + interval
        return pending

    def acknowledge(self, number: int, task: TaskOwner) -> AckResult:
        """Note that a task has done its part of a checkpoint."""
        pending = self._pending.get(number)
        if pending is not None:
            return pending.acknowledge(task)
        return AckResult.DISCARD if number in self._ended else AckResult.UNKNOWN

    def completed(self, number: int, now: int) -> None:
        """Note that the marker is written: give up older pending checkpoints, but no savepoint."""
        pending = self._pending.pop(number)
        assert not pending.missing, "all tasks have acknowledged"
        for older in [n for n in sorted(self._pending) if n < number and not self._pending[n].forced]:
            self._end(older)
        self._remember(number)
        self._last_end = now
        self._last_completed = number
        self._failures = 0
        self._counted.clear()

    def failed(self, number: int, reason: Reason) -> Failed:
        """Note a failure. A `forced` checkpoint fails for the one who requested it, not for the job."""
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
        """Give up everything pending and begin nothing: the job restarts or ends."""
        self._running = False
        return tuple(self.failed(p.number, reason) for p in self.pending)

    def resume(self, now: int) -> None:
        """Allow checkpoints again: the next periodic one is due after a whole interval."""
        self._running = True
        interval = self.settings.effective_interval
        self._next_start = None if interval is None else now + interval

    def _end(self, number: int) -> None:
        self._pending.pop(number, None)
        self._remember(number)

    def _remember(self, number: int) -> None:
        self._ended.append(number)
        del self._ended[:-_REMEMBERED]
