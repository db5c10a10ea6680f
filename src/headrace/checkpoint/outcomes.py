"""Follows each checkpoint of a job from its trigger to its end, and tells everyone who needs to know.

The coordinator decides when a checkpoint is due and how many failures are tolerated, the statistics record what happened,
and tasks hear of completed and aborted checkpoints with their next epoch. Performs no I/O; the clock is passed in.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Any

from headrace.checkpoint.coordinator import CheckpointCoordinator, Failed
from headrace.checkpoint.errors import CheckpointError
from headrace.checkpoint.errors import CheckpointFailureReason as Reason
from headrace.checkpoint.model import Manifest
from headrace.config.checkpoint_settings import CheckpointSettings
from headrace.worker.messages import TaskAck, TaskOwner

_HISTORY = 10


class CheckpointStatistics:
    """Written by the driver, read by any thread.

    >>> statistics = CheckpointStatistics()
    >>> statistics.begun(1, 1000, savepoint=False)
    >>> statistics.failed(1, "IO_EXCEPTION: no space", 1500)
    >>> statistics.summary()["counts"]["failed"], statistics.summary()["history"][0]["duration"]
    (1, 500)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = {"triggered": 0, "completed": 0, "failed": 0, "restored": 0}
        self._history: deque[dict[str, Any]] = deque(maxlen=_HISTORY)
        self._notes: deque[str] = deque(maxlen=_HISTORY)

    def begun(self, number: int, now: int, *, savepoint: bool) -> None:
        """Record that a checkpoint has been triggered."""
        with self._lock:
            self._counts["triggered"] += 1
            self._history.append(
                {"id": number, "status": "IN_PROGRESS", "is_savepoint": savepoint, "trigger_timestamp": now}
            )

    def completed(self, manifest: Manifest, acks: list[TaskAck], now: int) -> None:
        """Record that it is complete. `acks` are those of the epoch at whose end it was made."""
        tasks = [
            {
                "vertex": ack.vertices[0].vertex,
                "subtask": ack.vertices[0].subtask,
                "size": 0 if ack.state_file is None else ack.state_file.size,
                "duration": round(ack.checkpoint_seconds * 1000, 3),
                "host": ack.host,
            }
            for ack in acks
        ]
        with self._lock:
            self._counts["completed"] += 1
            self._end(
                manifest.epoch,
                now,
                status="COMPLETED",
                state_size=sum(file.size for file in manifest.files),
                checkpointed_size=sum(a.state_file.size for a in acks if a.state_file is not None),
                num_files=len(manifest.files),
                committables=len(manifest.committables),
                tasks=tasks,
            )

    def failed(self, number: int, why: str, now: int) -> None:
        with self._lock:
            self._counts["failed"] += 1
            self._end(number, now, status="FAILED", failure_message=why)

    def restored(self) -> None:
        """Record that the job has started from a checkpoint."""
        with self._lock:
            self._counts["restored"] += 1

    def note(self, text: str) -> None:
        """Record a harmless problem that users should see."""
        with self._lock:
            self._notes.append(text)

    def summary(self) -> dict[str, Any]:
        """Return everything, newest first."""
        with self._lock:
            return {
                "counts": dict(self._counts),
                "history": [dict(entry) for entry in reversed(self._history)],
                "notes": list(self._notes),
            }

    def _end(self, number: int, now: int, **facts: Any) -> None:
        for entry in reversed(self._history):
            if entry["id"] == number:
                entry.update(facts, end_timestamp=now, duration=now - entry["trigger_timestamp"])
                return


_log = logging.getLogger("headrace")


class CheckpointOutcomes:
    """`now` returns the wall clock, `monotonic` a clock that never jumps, both in milliseconds."""

    def __init__(self, settings: CheckpointSettings, now: Callable[[], int], monotonic: Callable[[], int]) -> None:
        self.statistics = CheckpointStatistics()
        self.problem = ""
        """Why the last checkpoint that failed did."""
        self._now, self._monotonic = now, monotonic
        self._coordinator = CheckpointCoordinator(settings, monotonic())
        self._completed: list[int] = []
        self._aborted: list[int] = []

    @property
    def due(self) -> bool:
        """Whether a periodic checkpoint may begin now."""
        return self._coordinator.due(self._monotonic()) is None

    def suspend(self) -> None:
        """Give up all pending checkpoints; the job restarts."""
        self._coordinator.suspend()

    def resume(self) -> None:
        """Allow checkpoints again; the job runs."""
        self._coordinator.resume(self._monotonic())

    def begun(self, number: int, tasks: Iterable[TaskOwner], forced: bool) -> None:
        """Note that a checkpoint has been triggered, and which tasks must acknowledge it."""
        self._coordinator.trigger(number, tasks, self._monotonic(), forced)
        self.statistics.begun(number, self._now(), savepoint=forced)

    def acknowledged(self, number: int, acks: Collection[TaskAck]) -> bool:
        """Note the acknowledgements of tasks; return False if the checkpoint has failed."""
        for ack in acks:
            if ack.declined is not None:
                self.failed(number, Reason.CHECKPOINT_ASYNC_EXCEPTION, ack.declined)
                return False
            self._coordinator.acknowledge(number, (ack.vertices[0].vertex, ack.vertices[0].subtask))
        for failed in self._coordinator.expire(self._monotonic()):
            self._note(failed, failed.reason.text)
        pending = self._coordinator.find(number)
        if pending is not None and pending.missing:
            vertex, subtask = min(pending.missing)
            self.failed(number, Reason.CHECKPOINT_DECLINED, f"subtask {subtask} of {vertex} did not acknowledge it")
            return False
        return pending is not None

    def failed(self, number: int, reason: Reason, why: str) -> None:
        """Note a failure. Raise `CheckpointError` if there are more in a row than the job tolerates."""
        self._note(self._coordinator.failed(number, reason), why)

    def completed(self, manifest: Manifest, acks: list[TaskAck]) -> None:
        """Note that a checkpoint is complete."""
        self._coordinator.completed(manifest.epoch, self._monotonic())
        self.statistics.completed(manifest, acks, self._now())

    def published(self, manifest: Manifest) -> None:
        """Let tasks hear of a completed checkpoint with their next epoch."""
        self._completed.append(manifest.epoch)

    def harmless(self, text: str) -> None:
        """Log and record a problem that costs no data."""
        _log.warning("headrace: %s", text)
        self.statistics.note(text)

    def take_notices(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the checkpoints that have completed, and those that were aborted, since the last call."""
        notices = tuple(self._completed), tuple(self._aborted)
        self._completed, self._aborted = [], []
        return notices

    def _note(self, failed: Failed, why: str) -> None:
        self.problem = why
        self._aborted.append(failed.number)
        self.statistics.failed(failed.number, f"{failed.reason.name}: {why}", self._now())
        if failed.fails_job:
            raise CheckpointError(
                failed.reason,
                f"Checkpoint {failed.number} failed, which is one more than is tolerated: {why}",
                remedy="check the storage, or raise execution.checkpointing.tolerable-failed-checkpoints.",
            )
        _log.warning("headrace: checkpoint %d failed: %s", failed.number, why)
