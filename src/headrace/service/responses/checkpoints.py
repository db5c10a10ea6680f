"""/jobs/:jobid/checkpoints and below, from the statistics of a job master."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from headrace.config import checkpoint_keys as keys
from headrace.config.configuration import Configuration
from headrace.config.masking import masked_text
from headrace.monitoring.job_view import JobView
from headrace.service.responses.states import size_summary

_NEVER = 2**63 - 1
_NOTHING_BUFFERED = {"alignment_buffered": 0, "processed_data": 0, "persisted_data": 0}
"""Checkpoints happen between epochs: nothing needs alignment, and no records need to be persisted."""


def statistics(view: JobView) -> dict[str, Any]:
    """Return counts, summaries, the latest checkpoints, and the history."""
    known = view.checkpoints
    counts, history = known["counts"], [_entry(entry, view) for entry in known["history"]]
    completed = [entry for entry in history if entry["className"] == "completed"]
    none = [0] * len(completed)
    restored = known.get("restored")
    return {
        "counts": {
            "restored": counts["restored"],
            "total": counts["triggered"],
            "in_progress": counts["triggered"] - counts["completed"] - counts["failed"],
            "completed": counts["completed"],
            "failed": counts["failed"],
        },
        "summary": {
            "checkpointed_size": size_summary([entry["checkpointed_size"] for entry in completed]),
            "state_size": size_summary([entry["state_size"] for entry in completed]),
            "end_to_end_duration": size_summary([entry["end_to_end_duration"] for entry in completed]),
            **{name: size_summary(none) for name in _NOTHING_BUFFERED},
        },
        "latest": {
            "completed": _first(entry for entry in completed if not entry["is_savepoint"]),
            "savepoint": _first(entry for entry in completed if entry["is_savepoint"]),
            "failed": _first(entry for entry in history if entry["className"] == "failed"),
            "restored": restored,
        },
        "history": history,
    }


def _first(entries: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    return next(iter(entries), None)


def _entry(entry: dict[str, Any], view: JobView) -> dict[str, Any]:
    savepoint = entry["is_savepoint"]
    subtasks = sum(vertex.parallelism for vertex in view.vertices)
    tasks = entry.get("tasks", [])
    shown = {
        "className": entry["status"].lower(),
        "id": entry["id"],
        "status": entry["status"],
        "is_savepoint": savepoint,
        "savepointFormat": "CANONICAL" if savepoint else None,
        "trigger_timestamp": entry["trigger_timestamp"],
        "latest_ack_timestamp": entry.get("end_timestamp", -1) if entry["status"] != "FAILED" else -1,
        "checkpointed_size": entry.get("checkpointed_size", 0),
        "state_size": entry.get("state_size", 0),
        "end_to_end_duration": entry.get("duration", 0),
        **_NOTHING_BUFFERED,
        "num_subtasks": max(subtasks, len(tasks)),
        "num_acknowledged_subtasks": max(subtasks, len(tasks)) if entry["status"] == "COMPLETED" else 0,
        "checkpoint_type": "SAVEPOINT" if savepoint else "CHECKPOINT",
        "tasks": {},
    }
    if entry["status"] == "COMPLETED":
        shown["external_path"] = entry.get("external_path", "<checkpoint-not-externally-addressable>")
        shown["discarded"] = False
    elif entry["status"] == "FAILED":
        shown["failure_timestamp"] = entry.get("end_timestamp", -1)
        shown["failure_message"] = masked_text(entry.get("failure_message") or "") or None
    return shown


def find(view: JobView, number: int) -> dict[str, Any] | None:
    """Return the statistics of a checkpoint; None if it is unknown."""
    return next((entry for entry in view.checkpoints["history"] if entry["id"] == number), None)


def details(view: JobView, entry: dict[str, Any]) -> dict[str, Any]:
    """Return one checkpoint with its vertices."""
    tasks: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for task in entry.get("tasks", []):
        tasks[task["vertex"]].append(task)
    return {**_entry(entry, view), "tasks": {vertex: _task(entry, found) for vertex, found in tasks.items()}}


def _task(entry: dict[str, Any], tasks: list[dict[str, Any]]) -> dict[str, Any]:
    size = sum(task["size"] for task in tasks)
    return {
        "id": entry["id"],
        "status": entry["status"],
        "latest_ack_timestamp": entry.get("end_timestamp", -1),
        "checkpointed_size": size,
        "state_size": size,
        "end_to_end_duration": entry.get("duration", 0),
        **_NOTHING_BUFFERED,
        "num_subtasks": len(tasks),
        "num_acknowledged_subtasks": len(tasks),
    }


def subtask_details(entry: dict[str, Any], vertex: str) -> dict[str, Any] | None:
    """Return one checkpoint of one vertex with its subtasks; None if the vertex has none."""
    tasks = sorted((t for t in entry.get("tasks", []) if t["vertex"] == vertex), key=lambda task: task["subtask"])
    if not tasks:
        return None
    sizes = size_summary([task["size"] for task in tasks])
    durations = size_summary([round(task["duration"]) for task in tasks])
    none = size_summary([0] * len(tasks))
    return {
        **_task(entry, tasks),
        "summary": {
            "checkpointed_size": sizes,
            "state_size": sizes,
            "end_to_end_duration": durations,
            "checkpoint_duration": {"sync": durations, "async": none},
            "alignment": {"buffered": none, "processed": none, "persisted": none, "duration": none},
            "start_delay": none,
        },
        "subtasks": [
            {
                "className": "completed",
                "index": task["subtask"],
                "status": "completed",
                "ack_timestamp": entry.get("end_timestamp", -1),
                "end_to_end_duration": round(task["duration"]),
                "checkpointed_size": task["size"],
                "state_size": task["size"],
                "checkpoint": {"sync": round(task["duration"]), "async": 0},
                "alignment": {"buffered": 0, "processed": 0, "persisted": 0, "duration": 0},
                "start_delay": 0,
                "unaligned_checkpoint": False,
                "aborted": False,
            }
            for task in tasks
        ],
    }


def configuration(view: JobView) -> dict[str, Any]:
    """Return the checkpoint settings of the job."""
    options = Configuration.from_dict(view.configuration)
    interval = options.get(keys.CHECKPOINT_INTERVAL)
    retention = str(options.get(keys.CHECKPOINT_RETENTION))
    backend = view.configuration.get("state.backend.type", view.configuration.get("state.backend", "hashmap"))
    timeout, pause = options.get(keys.CHECKPOINT_TIMEOUT), options.get(keys.CHECKPOINT_MIN_PAUSE)
    directory = options.get(keys.CHECKPOINT_DIRECTORY)
    return {
        "mode": "exactly_once",
        "interval": _NEVER if interval is None else interval.to_millis(),
        "timeout": 0 if timeout is None else timeout.to_millis(),
        "min_pause": 0 if pause is None else pause.to_millis(),
        "max_concurrent": 1,
        "externalization": {
            "enabled": retention != "NO_EXTERNALIZED_CHECKPOINTS",
            "delete_on_cancellation": retention != "RETAIN_ON_CANCELLATION",
        },
        "state_backend": "EmbeddedRocksDBStateBackend" if backend == "rocksdb" else "HashMapStateBackend",
        "checkpoint_storage": "JobManagerCheckpointStorage" if directory is None else "FileSystemCheckpointStorage",
        "unaligned_checkpoints": False,
        "tolerable_failed_checkpoints": options.get(keys.CHECKPOINT_TOLERABLE_FAILURES),
        "aligned_checkpoint_timeout": 0,
        "checkpoints_after_tasks_finish": True,
        "state_changelog_enabled": False,
        "changelog_periodic_materialization_interval": 0,
        "changelog_storage": "memory",
    }
