"""A job as others see it: plain frozen data, made by `JobMaster.view()`. Read by the REST service, the web UI and reporters.

Metrics have Flink's names. Those of a task have no prefix (`numRecordsIn`). Those of an operator in its chain, including
the user's own, are prefixed with the operator's name (`Map.numRecordsIn`). Views become JSON for the control port and for files.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

LOW_FROM, HIGH_FROM = 0.1, 0.5


def back_pressure_level(ratio: float) -> str:
    """Return Flink's word for the share of its time that a subtask is back-pressured.

    >>> [back_pressure_level(ratio) for ratio in (0.1, 0.11, 0.5, 0.51)]
    ['ok', 'low', 'low', 'high']
    """
    if ratio <= LOW_FROM:
        return "ok"
    return "low" if ratio <= HIGH_FROM else "high"


@dataclass(frozen=True)
class SubtaskView:
    """One subtask. Times are in milliseconds since 1970, -1 where there is none."""

    index: int
    attempt: int
    host: str
    pid: int
    status: str
    start_ms: int
    end_ms: int
    metrics: dict[str, float | str] = field(default_factory=dict)

    @property
    def back_pressure(self) -> str:
        """Return ok, low or high.

        >>> SubtaskView(0, 0, "", 0, "RUNNING", 0, -1, {"backPressuredTimeMsPerSecond": 600.0}).back_pressure
        'high'
        """
        return back_pressure_level(float(self.metrics.get("backPressuredTimeMsPerSecond", 0.0)) / 1000)


@dataclass(frozen=True)
class VertexView:
    """A chain of operators and its subtasks; `metrics` combines those of the subtasks."""

    vertex_id: str
    name: str
    parallelism: int
    max_parallelism: int
    inputs: tuple[tuple[str, str], ...]
    """(vertex id, ship strategy) of each input edge."""
    subtasks: tuple[SubtaskView, ...]
    metrics: dict[str, float] = field(default_factory=dict)

    @property
    def back_pressure(self) -> str:
        """The back pressure of the subtask that has the most."""
        levels = [subtask.back_pressure for subtask in self.subtasks]
        return max(levels, key=("ok", "low", "high").index, default="ok")


@dataclass(frozen=True)
class ExceptionView:
    """An error that made the job fail or restart."""

    timestamp_ms: int
    name: str
    text: str
    """The traceback, the user's first."""
    task_name: str | None
    location: str | None
    """`host:process id` of the worker; None for failures of the driver."""
    count: int = 1
    """How often it happened in a row; `timestamp_ms` is the last time."""
    first_ms: int = -1
    """The first time, if it happened more than once."""
    advice: str | None = None


@dataclass(frozen=True)
class BottleneckView:
    """The vertex that slows the job down, and why."""

    vertex_id: str
    subtask: int | None
    """The subtask responsible, if it is a single one."""
    reason: str
    advice: str


@dataclass(frozen=True)
class JobView:
    """All that is known of a job."""

    job_id: str
    name: str
    status: str
    start_ms: int
    end_ms: int
    """-1 while the job runs."""
    state_timestamps: dict[str, int]
    """When the job last entered each state; 0 for those it was never in."""
    max_parallelism: int
    """-1 if the program did not set one."""
    parallelism: int
    mode: str
    """STREAMING or BATCH."""
    vertices: tuple[VertexView, ...]
    exceptions: tuple[ExceptionView, ...]
    """The latest last."""
    checkpoints: dict[str, Any]
    """What `JobMaster.checkpoint_statistics()` returns."""
    accumulators: dict[str, Any]
    configuration: dict[str, str]
    """The keys that the program set; secrets are hidden."""
    plan: dict[str, Any]
    """As Flink's REST interface shows it."""
    bottleneck: BottleneckView | None = None
    metrics: dict[str, float | str] = field(default_factory=dict)
    """Of the job as a whole: uptime, numRestarts, lastCheckpointDuration, ..."""
    waiting_since_ms: int = -1
    """Since when the job has no executor, so that nothing happens; -1 if it has one."""


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
