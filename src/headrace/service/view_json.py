"""Convert the view of a job to and from JSON, for the control port and for files."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from headrace.monitoring.job_view import BottleneckView, ExceptionView, JobView, SubtaskView, VertexView


def view_to_json(view: JobView) -> dict[str, Any]:
    """Return the view as plain data. A value that JSON cannot represent, such as an accumulator's, becomes its `str`.

    >>> view = blank_view("0" * 32, "orders", "RUNNING", 5)
    >>> view_from_json(view_to_json(view)) == view
    True
    """
    plain: dict[str, Any] = json.loads(json.dumps(asdict(view), default=str))
    return plain


def view_from_json(content: dict[str, Any]) -> JobView:
    """Return the view that `view_to_json` converted."""
    bottleneck = content["bottleneck"]
    return JobView(
        **{
            **content,
            "vertices": tuple(_vertex(vertex) for vertex in content["vertices"]),
            "exceptions": tuple(ExceptionView(**entry) for entry in content["exceptions"]),
            "bottleneck": None if bottleneck is None else BottleneckView(**bottleneck),
        }
    )


def _vertex(content: dict[str, Any]) -> VertexView:
    return VertexView(
        **{
            **content,
            "inputs": tuple((source, strategy) for source, strategy in content["inputs"]),
            "subtasks": tuple(SubtaskView(**subtask) for subtask in content["subtasks"]),
        }
    )


def blank_view(job_id: str, name: str, status: str, start: int) -> JobView:
    """Return the view of a job whose process has not reported anything yet."""
    return JobView(
        job_id=job_id,
        name=name,
        status=status,
        start_ms=start,
        end_ms=-1,
        state_timestamps={},
        max_parallelism=-1,
        parallelism=1,
        mode="STREAMING",
        vertices=(),
        exceptions=(),
        checkpoints={"counts": dict.fromkeys(("triggered", "completed", "failed", "restored"), 0), "history": []},
        accumulators={},
        configuration={},
        plan={"jid": job_id, "name": name, "type": "STREAMING", "nodes": []},
    )
