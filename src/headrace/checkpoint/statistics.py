"""Statistics of a job's checkpoints for clients and the web UI: counts, the latest ones, their durations and sizes."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any

from headrace.checkpoint.model import Manifest
from headrace.worker.messages import TaskAck

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
        """Record that it failed."""
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
