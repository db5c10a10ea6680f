"""Metrics of a whole job, under Flink's names: how long it has run, how often it restarted, its checkpoints. Pure."""

from __future__ import annotations

from typing import Any

from headrace.metrics.values import GaugeValue, Path, Value


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
