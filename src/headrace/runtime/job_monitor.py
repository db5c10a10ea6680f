"""What the driver knows of its running job beyond what the next epoch needs, and the view that others get of it.

Told by the loop of epochs: states, failures, acknowledgements. Asked by anybody, from any thread.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from typing import Any

from headrace.common.errors import HeadraceError
from headrace.common.job_status import JobStatus
from headrace.graph.job_graph import JobGraph, JobVertex
from headrace.graph.job_plan import job_plan
from headrace.operators.clock import Clock
from headrace.runtime.job_view import ExceptionView, JobView, SubtaskView, VertexView
from headrace.runtime.task.messages import TaskAck, VertexReport

__all__ = ["JobMonitor"]

_KEPT_EXCEPTIONS = 16
_SECRET = re.compile(r"password|secret|token|api-?key|account\.key|service-key|basic-auth|auth-params|jaas|credential")
_HIDDEN = "******"


@dataclass
class _Subtask:
    """What is known of one subtask in this attempt of the job."""

    records_in: int = 0
    records_out: int = 0
    watermark: int | None = None
    host: str = ""
    pid: int = 0
    start_ms: int = -1
    end_ms: int = -1
    seconds: float = 0.0
    rates: dict[str, float] = field(default_factory=dict)


class JobMonitor:
    """Keeps the facts of one job; `view` gives them as plain data."""

    def __init__(self, job_id: str, configuration: dict[str, str], clock: Clock) -> None:
        self._job_id = job_id
        self._configuration = {k: _HIDDEN if _SECRET.search(k.lower()) else v for k, v in configuration.items()}
        self._clock = clock
        self._lock = threading.Lock()
        self._status = JobStatus.CREATED
        self._entered = {status.name: 0 for status in JobStatus}
        self._start_ms = self._entered["CREATED"] = clock.now()
        self._end_ms = -1
        self._exceptions: list[ExceptionView] = []
        self._graph: JobGraph
        self._attempt = 0
        self._subtasks: dict[tuple[str, int], _Subtask] = {}

    def begin(self, graph: JobGraph, attempt: int) -> None:
        """The job starts, starts again, or is cut anew: what is counted is counted from here on, as in Flink."""
        with self._lock:
            self._graph, self._attempt = graph, attempt
            self._subtasks = {(v.id, i): _Subtask() for v in graph.vertices.values() for i in range(v.parallelism)}

    def entered(self, status: JobStatus) -> None:
        """The job is in another state."""
        with self._lock:
            self._status = status
            self._entered[status.name] = now = self._clock.now()
            if status.is_terminal_state():
                self._end_ms = now

    def failed(self, failure: HeadraceError) -> None:
        """The job has failed; it may start again."""
        subtask = getattr(failure, "subtask", None)
        task = failure.operator_name if subtask is None else f"{failure.operator_name} ({subtask + 1})"
        name = type(failure).__name__
        view = ExceptionView(self._clock.now(), name, str(failure), task, getattr(failure, "location", None))
        with self._lock:
            self._exceptions.append(view)
            del self._exceptions[:-_KEPT_EXCEPTIONS]

    def epoch_done(self, acks: list[TaskAck], seconds: float) -> None:
        """An epoch that counts; `seconds` since the one before it ended."""
        now = self._clock.now()
        with self._lock:
            for ack in acks:
                for report in ack.vertices:
                    self._take(report, ack, now, seconds)

    def _take(self, report: VertexReport, ack: TaskAck, now: int, seconds: float) -> None:
        known = self._subtasks[report.vertex, report.subtask]
        if known.start_ms < 0:
            known.start_ms = now - int(seconds * 1000)
        if report.ended:
            known.end_ms = now
        known.host, known.pid = ack.host, ack.pid
        known.records_in += report.records_in
        known.records_out += report.records_out
        known.watermark = report.watermark
        busy = min(report.busy_seconds, seconds)
        known.rates = {
            "numRecordsInPerSecond": report.records_in / seconds,
            "numRecordsOutPerSecond": report.records_out / seconds,
            "busyTimeMsPerSecond": 1000 * busy / seconds,
            "idleTimeMsPerSecond": 1000 * (seconds - busy) / seconds,
            "backPressuredTimeMsPerSecond": 0.0,
        }

    # -- the view -------------------------------------------------------------------------------------------------

    def view(self, checkpoints: dict[str, Any], accumulators: dict[str, Any]) -> JobView:
        """All that is known now."""
        with self._lock:
            graph = self._graph
            return JobView(
                job_id=self._job_id,
                name=graph.name,
                status=self._status.name,
                start_ms=self._start_ms,
                end_ms=self._end_ms,
                state_timestamps=dict(self._entered),
                max_parallelism=graph.settings.max_parallelism or -1,
                parallelism=max((v.parallelism for v in graph.vertices.values()), default=1),
                mode="BATCH" if graph.settings.batch else "STREAMING",
                vertices=tuple(self._vertex(vertex) for vertex in graph.vertices.values()),
                exceptions=tuple(self._exceptions),
                checkpoints=checkpoints,
                accumulators=accumulators,
                configuration=dict(self._configuration),
                plan=job_plan(graph, self._job_id),
            )

    def _vertex(self, vertex: JobVertex) -> VertexView:
        subtasks = tuple(self._subtask(i, self._subtasks[vertex.id, i]) for i in range(vertex.parallelism))
        inputs = tuple((e.source, e.edge.partitioner.name) for e in self._graph.in_edges(vertex.id))
        metrics: dict[str, float] = {}
        for subtask in subtasks:
            for name, value in subtask.metrics.items():
                if name.startswith("num") and not isinstance(value, str):
                    metrics[name] = metrics.get(name, 0) + value
        return VertexView(vertex.id, vertex.name, vertex.parallelism, vertex.max_parallelism, inputs, subtasks, metrics)

    def _subtask(self, index: int, known: _Subtask) -> SubtaskView:
        metrics: dict[str, float | str] = {
            "numRecordsIn": known.records_in,
            "numRecordsOut": known.records_out,
            **known.rates,
        }
        if known.watermark is not None:
            metrics["currentInputWatermark"] = known.watermark
        status = self._status.name
        if known.end_ms >= 0:
            status = "FINISHED"
        elif known.start_ms < 0 and status == "RUNNING":
            status = "DEPLOYING"
        return SubtaskView(index, self._attempt, known.host, known.pid, status, known.start_ms, known.end_ms, metrics)
