"""Metrics of a vertex, combined from its subtasks, and of a whole job, under Flink's names. Pure.

Counts of subtasks are added, times averaged; the lowest watermark and highest lag count.
"""

from __future__ import annotations

from typing import Any

from headrace.metrics.values import GaugeValue, Path, Value, flat, joined

_AVERAGED = ("busyTimeMsPerSecond", "idleTimeMsPerSecond", "backPressuredTimeMsPerSecond")
_LOWEST = ("currentInputWatermark", "currentOutputWatermark")
_HIGHEST = ("watermarkLag", "currentEmitEventTimeLag")


class VertexMetrics:
    """Metrics of one vertex; takes one subtask after the other.

    >>> vertex = VertexMetrics()
    >>> vertex.add({"numRecordsIn": 3, "busyTimeMsPerSecond": 100.0}, {})
    >>> vertex.add({"numRecordsIn": 4, "busyTimeMsPerSecond": 300.0}, {})
    >>> vertex.metrics()
    {'numRecordsIn': 7, 'busyTimeMsPerSecond': 200.0}
    """

    def __init__(self) -> None:
        self._numbers: dict[str, list[float]] = {}
        self._own: dict[Path, Value | None] = {}
        """None: it cannot be combined, like gauges of several subtasks."""

    def add(self, numbers: dict[str, float], own: dict[Path, Value]) -> None:
        """Add a subtask: the metrics that all subtasks have, by name, and those of its operators and functions."""
        for name, number in numbers.items():
            if name in self._numbers:
                self._numbers[name].append(number)
            else:
                self._numbers[name] = [number]
        for path, value in own.items():
            self._own[path] = joined(self._own[path], value) if path in self._own else value

    def metrics(self) -> dict[str, float]:
        """Return the combined metrics by name."""
        shown: dict[str, float] = {}
        for name, numbers in self._numbers.items():
            last = name.rpartition(".")[2]
            if last in _LOWEST:
                shown[name] = min(numbers)
            elif last in _HIGHEST:
                shown[name] = max(numbers)
            elif last in _AVERAGED:
                shown[name] = sum(numbers) / len(numbers)
            else:
                shown[name] = sum(numbers)
        own = {path: value for path, value in self._own.items() if value is not None}
        shown.update({name: value for name, value in flat(own).items() if not isinstance(value, str)})
        return shown


def job_values(
    status: str, entered: dict[str, int], start_ms: int, now: int, restarts: int, checkpoints: dict[str, Any]
) -> dict[Path, Value]:
    """Return the metrics. `entered` says when the job last entered each state; `now` is its end if it has ended.

    >>> states = {"RUNNING": 1000, "RESTARTING": 0}
    >>> counts = {"counts": {"triggered": 2, "completed": 1, "failed": 0, "restored": 0}, "history": []}
    >>> values = job_values("RUNNING", states, 900, 5000, 3, counts)
    >>> values["uptime",], values["numRestarts",], values["numberOfCompletedCheckpoints",]
    (GaugeValue(value=4000), GaugeValue(value=3), GaugeValue(value=1))
    """
    running, restarting = status == "RUNNING", status == "RESTARTING"
    counts, history = checkpoints["counts"], checkpoints["history"]
    values: dict[str, float | str] = {
        "uptime": now - entered["RUNNING"] if running else -1 if status in ("FINISHED", "FAILED", "CANCELED") else 0,
        "downtime": now - entered["RESTARTING"] if restarting else 0,
        "runningTime": now - entered["RUNNING"] if running else 0,
        "restartingTime": now - entered["RESTARTING"] if restarting else 0,
        "jobDuration": now - start_ms,
        "numRestarts": restarts,
        "fullRestarts": restarts,
        "totalNumberOfCheckpoints": counts["triggered"],
        "numberOfInProgressCheckpoints": counts["triggered"] - counts["completed"] - counts["failed"],
        "numberOfCompletedCheckpoints": counts["completed"],
        "numberOfFailedCheckpoints": counts["failed"],
    }
    last = next((entry for entry in history if entry["status"] == "COMPLETED"), None)
    if last is not None:
        values["lastCompletedCheckpointId"] = last["id"]
        values["lastCheckpointDuration"] = last["duration"]
        values["lastCheckpointSize"] = last["checkpointed_size"]
        values["lastCheckpointFullSize"] = last["state_size"]
        values["lastCheckpointCompletedTimestamp"] = last["end_timestamp"]
    return {(name,): GaugeValue(value) for name, value in values.items()}
