"""Keeps the facts about a running job that its epochs do not need, and makes the view that others see.

The loop reports statuses, failures and acknowledgements. Anyone may ask, from any thread.
"""

from __future__ import annotations

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from headrace.common.job_status import JobStatus
from headrace.config.masking import masked
from headrace.errors import HeadraceError, UserCodeError
from headrace.graph.job_graph import JobGraph, JobVertex
from headrace.graph.json_plan import job_plan
from headrace.graph.specs import SourceSpec
from headrace.metrics.scope import JOB, OPERATOR, TASK, TASK_MANAGER, Sample, Scope
from headrace.metrics.values import Count, GaugeValue, Path, Value, flat
from headrace.monitoring.back_pressure import OperatorLoad, SubtaskLoad, VertexLoad, diagnose, epoch_times
from headrace.monitoring.job_view import BottleneckView, ExceptionView, JobView, SubtaskView, VertexView
from headrace.monitoring.subtask_metrics import MovingSums, SubtaskMetrics, as_values
from headrace.monitoring.vertex_metrics import VertexMetrics, job_values
from headrace.operators.clock import Clock
from headrace.worker.messages import TaskAck
from headrace.worker.process_facts import ProcessFacts

_KEPT_EXCEPTIONS = 16
_SUBTASK_LINE = re.compile(r"^ *subtask: .*$", re.MULTILINE)
_ADVICE = (
    "The job fails at the same record after every restart. Catch the error in the function and send the record to a side "
    "output, so that the job can go on without it."
)
_VIEW_SECONDS = 1.0
"""How long a view is reused if nothing has happened."""


class JobMonitor:
    """The facts of one job; `view` and `samples` return them as plain data."""

    def __init__(
        self,
        job_id: str,
        configuration: dict[str, str],
        clock: Clock,
        checkpoints: Callable[[], dict[str, Any]],
        committers: Callable[[], dict[str, dict[Path, Value]]] = dict,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`checkpoints` returns the statistics of the job's checkpoints, `committers` the metrics of sinks by operator."""
        self._job_id = job_id
        self._configuration = masked(configuration)
        self._clock = clock
        self._checkpoints = checkpoints
        self._committers = committers
        self._monotonic = monotonic
        self._lock = threading.RLock()
        self._status = JobStatus.CREATED
        self._entered = {status.name: 0 for status in JobStatus}
        self._start_ms = self._entered["CREATED"] = clock.now()
        self._end_ms = -1
        self._exceptions: list[ExceptionView] = []
        self._graph: JobGraph
        self._attempt = 0
        self._books: dict[tuple[str, int], SubtaskMetrics] = {}
        self._spans: dict[str, MovingSums] = {}
        self._processes: dict[tuple[str, int], tuple[ProcessFacts, MovingSums]] = {}
        self._driver = MovingSums()
        self._held_back = False
        self._last = monotonic()
        self._happened = 0
        self._view: tuple[int, float, JobView] | None = None

    # -- what the loop tells --------------------------------------------------------------------------------------

    def begin(self, graph: JobGraph, attempt: int) -> None:
        """Count from zero: the job starts, restarts, or is rescaled, as in Flink."""
        with self._lock:
            self._happened += 1
            self._graph, self._attempt = graph, attempt
            self._books = {
                (v.id, i): SubtaskMetrics([node.operator_id for node in v.nodes])
                for v in graph.vertices.values()
                for i in range(v.parallelism)
            }
            self._spans = {vertex: MovingSums() for vertex in graph.vertices}
            self._processes = {}
            self._driver = MovingSums()
            self._held_back = False
            self._last = self._monotonic()

    def entered(self, status: JobStatus) -> None:
        """Note that the job has another status."""
        with self._lock:
            self._happened += 1
            self._status = status
            self._entered[status.name] = now = self._clock.now()
            if status.is_terminal_state():
                self._end_ms = now

    def failed(self, failure: HeadraceError) -> None:
        """Note that the job has failed; it may restart."""
        name, text, now = type(failure).__name__, str(failure), self._clock.now()
        with self._lock:
            self._happened += 1
            task, last = self._task_name(failure), self._exceptions[-1] if self._exceptions else None
            if last is not None and (last.name, _without_subtask(last.text)) == (name, _without_subtask(text)):
                # The same record fails at every restart: one entry with a count, so that other failures stay visible.
                first = last.first_ms if last.count > 1 else last.timestamp_ms
                advice = _ADVICE if isinstance(failure, UserCodeError) else None
                self._exceptions[-1] = ExceptionView(
                    now, name, text, task, failure.location, last.count + 1, first, advice
                )
                return
            self._exceptions.append(ExceptionView(now, name, text, task, failure.location))
            del self._exceptions[:-_KEPT_EXCEPTIONS]

    def epoch_done(self, acks: list[TaskAck], *, concluding: float = 0.0, client: float = 0.0) -> None:
        """Add an epoch. `concluding`: seconds to complete its checkpoint; `client`: seconds waiting for the reader of results."""
        now, moment = self._clock.now(), self._monotonic()
        with self._lock:
            self._happened += 1
            elapsed = max(moment - self._last, 1e-6)
            self._last = moment
            times = epoch_times(self._graph, acks, concluding, client)
            self._held_back = times.held_back
            self._driver.add(elapsed, concluding=concluding, client=client)
            for vertex, window in self._spans.items():
                window.add(elapsed, span=times.spans.get(vertex, 0.0))
            watched = list(self._processes)
            for ack in acks:
                self._take_process((ack.host, ack.pid), ack.process)
                for report in ack.vertices:
                    key = report.vertex, report.subtask
                    book = self._books[key]
                    if book.start_ms < 0:
                        book.start_ms = now - int(elapsed * 1000)
                    if report.ended:
                        book.end_ms = now
                    book.host, book.pid = ack.host, ack.pid
                    busy = min(times.busy[key], elapsed)
                    book.take(report, elapsed, busy, min(times.waiting[key], elapsed - busy))
            for key, book in self._books.items():
                if book.end_ms >= 0 and key not in times.busy:
                    book.rest(elapsed)
            for process in watched:  # a new process is measured from here on
                self._processes[process][1].add(elapsed)

    def _take_process(self, process: tuple[str, int], facts: ProcessFacts) -> None:
        before, window = self._processes.get(process, (facts, MovingSums()))
        window.add(0.0, collecting=facts.gc_seconds - before.gc_seconds)
        self._processes[process] = facts, window

    # -- what others ask ------------------------------------------------------------------------------------------

    def view(self, accumulators: dict[str, Any]) -> JobView:
        """Return all that is known now."""
        checkpoints, moment = self._checkpoints(), self._monotonic()
        with self._lock:
            known = self._view
            if known is None or known[0] != self._happened or moment - known[1] > _VIEW_SECONDS:
                known = self._view = (self._happened, moment, self._made(checkpoints, accumulators))
        return replace(known[2], checkpoints=checkpoints, accumulators=accumulators)

    def _made(self, checkpoints: dict[str, Any], accumulators: dict[str, Any]) -> JobView:
        graph, now = self._graph, self._clock.now()
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
            vertices=tuple(self._vertex(vertex, now) for vertex in graph.vertices.values()),
            exceptions=tuple(self._exceptions),
            checkpoints=checkpoints,
            accumulators=accumulators,
            configuration=dict(self._configuration),
            plan=job_plan(graph, self._job_id),
            bottleneck=self.bottleneck(),
            metrics=flat(self._job_values(checkpoints)),
        )

    def bottleneck(self) -> BottleneckView | None:
        """Return the bottleneck; None if there is none, or the job does not run."""
        with self._lock:
            if self._status is not JobStatus.RUNNING:
                return None
            loads = [self._load(vertex) for vertex in self._graph.vertices.values()]
            client, concluding = self._driver.per_second("client"), self._driver.per_second("concluding")
            return diagnose(loads, self._held_back, client, concluding)

    def samples(self) -> list[Sample]:
        """Return all metrics of the job with their scopes, for reporters."""
        checkpoints = self._checkpoints()
        with self._lock:
            return list(self._samples(checkpoints))

    def _task_name(self, failure: HeadraceError) -> str | None:
        """Return the task that a failure comes from, the way Flink writes it: `Map -> Sink: Print (1/2)`."""
        subtask = getattr(failure, "subtask", None)
        for vertex in self._graph.vertices.values():
            if subtask is not None and any(node.name == failure.operator_name for node in vertex.nodes):
                return f"{vertex.name} ({subtask + 1}/{vertex.parallelism})"
        return failure.operator_name

    # -- inside ---------------------------------------------------------------------------------------------------

    def _job_values(self, checkpoints: dict[str, Any]) -> dict[Path, Value]:
        end = self._end_ms if self._end_ms >= 0 else self._clock.now()
        return job_values(self._status.name, self._entered, self._start_ms, end, self._attempt, checkpoints)

    def _samples(self, checkpoints: dict[str, Any]) -> Iterator[Sample]:
        now, committers = self._clock.now(), self._committers()
        of_job = {"job_id": self._job_id, "job_name": self._graph.name}
        scope = Scope(JOB, {"host": socket.gethostname(), **of_job})
        yield from (Sample(scope, path, value) for path, value in self._job_values(checkpoints).items())
        for (host, pid), (facts, _) in self._processes.items():
            scope = Scope(TASK_MANAGER, {"host": host, "tm_id": f"{host}-{pid}"})
            yield from (Sample(scope, path, value) for path, value in _process_values(facts).items())
        for (vertex_id, subtask), book in self._books.items():
            vertex = self._graph.vertices[vertex_id]
            of_task = {
                "host": book.host,
                "tm_id": f"{book.host}-{book.pid}",
                **of_job,
                "task_id": vertex_id,
                "task_name": vertex.name,
                "task_attempt_id": f"{vertex_id}_{subtask}_{self._attempt}",
                "task_attempt_num": str(self._attempt),
                "subtask_index": str(subtask),
            }
            scope = Scope(TASK, of_task)
            yield from (Sample(scope, path, value) for path, value in as_values(book.numbers(now)).items())
            for node in vertex.nodes:
                scope = Scope(OPERATOR, {**of_task, "operator_id": node.operator_id, "operator_name": node.name})
                operator = book.operators[node.operator_id]
                values = {**as_values(operator.numbers(now)), **operator.metrics()}
                if subtask == 0:
                    values |= committers.get(node.operator_id, {})
                yield from (Sample(scope, path, value) for path, value in values.items())

    def _load(self, vertex: JobVertex) -> VertexLoad:
        subtasks = []
        for i in range(vertex.parallelism):
            book = self._books[vertex.id, i]
            known = self._processes.get((book.host, book.pid))
            operators = tuple(
                OperatorLoad(
                    node.name,
                    "source" if isinstance(node.spec, SourceSpec) else "sink" if node.is_sink else "function",
                    book.operators[node.operator_id].window.per_second("own"),
                    book.operators[node.operator_id].window.per_second("sending"),
                )
                for node in vertex.nodes
            )
            collecting = 0.0 if known is None else known[1].per_second("collecting")
            subtasks.append(SubtaskLoad(book.part("busy"), collecting, book.hot_key_group, operators))
        return VertexLoad(vertex.id, vertex.name, self._spans[vertex.id].per_second("span"), tuple(subtasks))

    def _vertex(self, vertex: JobVertex, now: int) -> VertexView:
        names, committers = shown_names(vertex), self._committers()
        subtasks, combined = [], VertexMetrics()
        for i in range(vertex.parallelism):
            book = self._books[vertex.id, i]
            numbers, own = book.numbers(now), {}
            for node in vertex.nodes:
                operator, name = book.operators[node.operator_id], names[node.id]
                numbers.update({f"{name}.{metric}": n for metric, n in operator.numbers(now).items()})
                # A sink has one committer, in the driver: it is shown with the first subtask.
                committed = committers.get(node.operator_id, {}) if i == 0 else {}
                own.update({(name, *path): value for path, value in {**operator.metrics(), **committed}.items()})
            combined.add(numbers, own)
            subtasks.append(self._subtask(i, book, {**numbers, **flat(own)}))
        inputs = tuple((e.source, e.edge.partitioner.name) for e in self._graph.in_edges(vertex.id))
        metrics = combined.metrics()
        return VertexView(
            vertex.id, vertex.name, vertex.parallelism, vertex.max_parallelism, inputs, tuple(subtasks), metrics
        )

    def _subtask(self, index: int, book: SubtaskMetrics, metrics: dict[str, float | str]) -> SubtaskView:
        status = self._status.name
        if book.end_ms >= 0:
            status = "FINISHED"
        elif book.start_ms < 0 and status == "RUNNING":
            status = "DEPLOYING"
        return SubtaskView(index, self._attempt, book.host, book.pid, status, book.start_ms, book.end_ms, metrics)


def _without_subtask(text: str) -> str:
    """Return the text without the subtask: after a restart the same record may go to another one."""
    return _SUBTASK_LINE.sub("", text)


def shown_names(vertex: JobVertex) -> dict[int, str]:
    """Return the names of a chain's operators by node. The second operator of the same name gets the suffix `#2`, and so on."""
    names: dict[int, str] = {}
    seen: dict[str, int] = {}
    for node in vertex.nodes:
        seen[node.name] = number = seen.get(node.name, 0) + 1
        names[node.id] = node.name if number == 1 else f"{node.name}#{number}"
    return names


def _process_values(facts: ProcessFacts) -> dict[Path, Value]:
    return {
        ("Status", "Python", "Memory", "Resident"): GaugeValue(facts.resident_bytes),
        ("Status", "Python", "CPU", "Time"): GaugeValue(round(facts.cpu_seconds * 1e9)),
        ("Status", "Python", "GarbageCollector", "Count"): Count(facts.gc_collections),
        ("Status", "Python", "GarbageCollector", "Time"): GaugeValue(round(facts.gc_seconds * 1000)),
    }
