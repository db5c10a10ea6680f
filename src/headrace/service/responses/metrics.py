"""Lists of metrics, their values, and aggregated values of several tasks or jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headrace.monitoring.job_view import JobView, VertexView
from headrace.service.errors import RequestError

AGGREGATIONS = ("min", "max", "avg", "sum", "skew")


def _text(value: float | str) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def listed(metrics: Mapping[str, float | str], wanted: Sequence[str] | None) -> list[dict[str, str]]:
    """Return the names of all metrics, or the values of the requested ones; omit unknown ones, as Flink does.

    >>> listed({"a": 1.0, "b": 2.5}, None), listed({"a": 1.0, "b": 2.5}, ["b", "c"])
    ([{'id': 'a'}, {'id': 'b'}], [{'id': 'b', 'value': '2.5'}])
    """
    if wanted is None:
        return [{"id": name} for name in metrics]
    return [{"id": name, "value": _text(metrics[name])} for name in wanted if name in metrics]


def aggregated(
    sources: Iterable[Mapping[str, float | str]], wanted: Sequence[str] | None, aggregations: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the names of the sources' metrics, or the aggregated values of the requested ones.

    >>> aggregated([{"a": 1.0}, {"a": 3.0}], ["a"], ["max", "sum"])
    [{'id': 'a', 'max': 3.0, 'sum': 4.0}]
    """
    known = list(sources)
    if wanted is None:
        return [{"id": name} for name in dict.fromkeys(name for source in known for name in source)]
    unknown = [name for name in aggregations if name not in AGGREGATIONS]
    if unknown:
        raise RequestError(f"Bad request received: unknown aggregation {unknown[0]!r}.")
    answer: list[dict[str, Any]] = []
    for name in wanted:
        values = [float(source[name]) for source in known if _is_number(source.get(name))]
        if values:
            facts = _facts(values)
            answer.append({"id": name, **{part: facts[part] for part in aggregations or AGGREGATIONS}})
    return answer


def _is_number(value: object) -> bool:
    try:
        return value is not None and not math.isnan(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def _facts(values: list[float]) -> dict[str, float]:
    mean = sum(values) / len(values)
    spread = sum(abs(value - mean) for value in values) / len(values)
    return {
        "min": min(values),
        "max": max(values),
        "avg": mean,
        "sum": sum(values),
        "skew": 100 * spread / mean if mean > 0 else 0.0,
    }


def of_job(view: JobView, now: int) -> dict[str, float | str]:
    """Return the metrics of a job as a whole."""
    counts = view.checkpoints["counts"]
    last: dict[str, Any] = next((e for e in view.checkpoints["history"] if e["status"] == "COMPLETED"), {})
    running = view.state_timestamps.get("RUNNING", 0)
    up = now - running if view.status == "RUNNING" and running else 0
    return {
        "uptime": up,
        "runningTime": up,
        "numRestarts": max((s.attempt for v in view.vertices for s in v.subtasks), default=0),
        "totalNumberOfCheckpoints": counts["triggered"],
        "numberOfCompletedCheckpoints": counts["completed"],
        "numberOfFailedCheckpoints": counts["failed"],
        "numberOfInProgressCheckpoints": counts["triggered"] - counts["completed"] - counts["failed"],
        "lastCompletedCheckpointId": last.get("id", -1),
        "lastCheckpointDuration": last.get("duration", -1),
        "lastCheckpointSize": last.get("checkpointed_size", -1),
        "lastCheckpointFullSize": last.get("state_size", -1),
        "lastCheckpointCompletedTimestamp": last.get("end_timestamp", -1),
        **view.metrics,
    }


def of_vertex(vertex: VertexView) -> dict[str, float | str]:
    """Return the metrics of all subtasks, each prefixed with the subtask's number."""
    return {f"{s.index}.{name}": value for s in vertex.subtasks for name, value in s.metrics.items()}


def watermarks(vertex: VertexView) -> list[dict[str, str]]:
    """Return the input watermark of each subtask; nothing for sources, which have no input."""
    name = "currentInputWatermark"
    if not vertex.inputs:
        return []
    return [{"id": f"{s.index}.{name}", "value": _text(s.metrics[name])} for s in vertex.subtasks if name in s.metrics]
