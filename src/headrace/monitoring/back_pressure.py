"""Finds where the time of an epoch goes and which vertex is the bottleneck. Pure functions over measurements.

The levels of an epoch run one after the other. While a later level works, a subtask of an earlier level waits: it is
back-pressured if its source could have read more, idle otherwise. While an earlier level works, it is idle. So busy, idle
and back-pressured time add up to all of the time.

If sources could read more, the bottleneck is the vertex whose subtasks keep a slot busy for most of the time.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from headrace.graph.job_graph import JobGraph
from headrace.monitoring.job_view import BottleneckView
from headrace.worker.messages import HotKeyGroup, TaskAck

_HOLDS_UP = 0.5
_SKEWED = 2.0
_HOT_GROUP = 0.5
_COLLECTING = 0.3


@dataclass(frozen=True)
class EpochTimes:
    """Seconds of an epoch."""

    busy: dict[tuple[str, int], float]
    """By vertex and subtask."""
    waiting: dict[tuple[str, int], float]
    """The time in which later levels worked, of those whose sources could have read more."""
    spans: dict[str, float]
    """How long a vertex kept the slot that it kept longest."""
    held_back: bool


def epoch_times(graph: JobGraph, acks: list[TaskAck], after_levels: float, client: float) -> EpochTimes:
    """Compute the times from an epoch's acknowledgements.

    `after_levels` are the driver's seconds after the last level (completing a checkpoint), `client` those in which it
    waited for the reader of the results.
    """
    busy: dict[tuple[str, int], float] = {}
    level_slots: dict[tuple[int, str, int], float] = defaultdict(float)
    vertex_slots: dict[tuple[str, str, int], float] = defaultdict(float)
    held: set[str] = set()
    for ack in acks:
        for report in ack.vertices:
            seconds = max(0.0, report.busy_seconds - report.measures.waited_seconds)
            busy[report.vertex, report.subtask] = seconds
            level_slots[ack.task[0], ack.host, ack.pid] += seconds
            vertex_slots[report.vertex, ack.host, ack.pid] += seconds
            if report.measures.held_back:
                held.add(report.vertex)
    levels: dict[int, float] = defaultdict(float)
    for (level, _, _), seconds in level_slots.items():
        levels[level] = max(levels[level], seconds)
    spans: dict[str, float] = defaultdict(float)
    for (vertex, _, _), seconds in vertex_slots.items():
        spans[vertex] = max(spans[vertex], seconds)
    later_than, total = {}, after_levels
    for level in sorted(levels, reverse=True):
        later_than[level] = total
        total += levels[level]
    fed_by_held = _downstream(graph, held)
    sends = {edge.source for edge in graph.edges}
    waiting: dict[tuple[str, int], float] = {}
    for ack in acks:
        later = later_than.get(ack.task[0], after_levels)
        for report in reversed(ack.vertices):
            key = report.vertex, report.subtask
            waiting[key] = client
            if report.vertex in fed_by_held:
                waiting[key] += later if report.vertex in sends else after_levels
            later += busy[key]
    return EpochTimes(busy, waiting, dict(spans), bool(held))


def _downstream(graph: JobGraph, sources: set[str]) -> set[str]:
    reached: set[str] = set()
    new = list(sources)
    while new:
        vertex = new.pop()
        reached.add(vertex)
        new += [edge.target for edge in graph.out_edges(vertex) if edge.target not in reached]
    return reached


@dataclass(frozen=True)
class OperatorLoad:
    """An operator's own time and the time to send its output, as shares of the time of one subtask."""

    name: str
    kind: str
    """source, sink or function."""
    own: float
    sending: float


@dataclass(frozen=True)
class SubtaskLoad:
    """How busy a subtask is, as a share of its time."""

    busy: float
    collecting: float = 0.0
    """The share that its process spent in the garbage collector."""
    hot_key_group: HotKeyGroup | None = None
    operators: tuple[OperatorLoad, ...] = field(default=())


@dataclass(frozen=True)
class VertexLoad:
    """A vertex over the last seconds. `span` is the share of the time in which it kept a slot busy."""

    vertex_id: str
    name: str
    span: float
    subtasks: tuple[SubtaskLoad, ...]


def diagnose(vertices: list[VertexLoad], held_back: bool, client: float, concluding: float) -> BottleneckView | None:
    """Return the bottleneck and its reason; None if the job keeps up with its input.

    `client` and `concluding` are shares of the time: waiting for the reader of results, completing checkpoints.
    """
    if not vertices:
        return None
    collected = max(vertices, key=lambda v: max((s.collecting for s in v.subtasks), default=0.0))
    most = max(range(len(collected.subtasks)), key=lambda i: collected.subtasks[i].collecting)
    part = collected.subtasks[most].collecting
    if part >= _COLLECTING:
        reason = f"garbage collection: the process of subtask {most} spends {part:.0%} of its time in it"
        advice = "keep fewer objects on the heap: the rocksdb state backend, smaller values, no caches that grow"
        return BottleneckView(collected.vertex_id, most, reason, advice)
    if client >= _HOLDS_UP:
        reason = "client: the program takes the results of execute_and_collect() too slowly"
        advice = "take them faster, or write them to a sink"
        return BottleneckView(vertices[-1].vertex_id, None, reason, advice)
    if not held_back:
        return None
    if concluding >= _HOLDS_UP:
        reason = f"sink: completing checkpoints and committing takes {concluding:.0%} of the time"
        advice = (
            "a longer execution.checkpointing.interval, a faster store for checkpoints, a faster target of the sink"
        )
        return BottleneckView(vertices[-1].vertex_id, None, reason, advice)
    slowest = max(vertices, key=lambda v: v.span)
    if slowest.span >= _HOLDS_UP:
        return _explained(slowest)
    working = sum(v.span for v in vertices)
    if working < _HOLDS_UP:
        reason = f"epochs: only {working:.0%} of the time is work, the rest is starting the tasks of short epochs"
        advice = "raise headrace.epoch.target-ms, or the interval of checkpoints if that is shorter"
        return BottleneckView(vertices[0].vertex_id, None, reason, advice)
    return None


def _explained(vertex: VertexLoad) -> BottleneckView:
    hottest = max(range(len(vertex.subtasks)), key=lambda i: vertex.subtasks[i].busy)
    hot = vertex.subtasks[hottest]
    others = [s.busy for i, s in enumerate(vertex.subtasks) if i != hottest]
    if others and hot.busy >= _SKEWED * sum(others) / len(others) and hot.busy >= _HOLDS_UP / len(vertex.subtasks):
        group = hot.hot_key_group
        if group is not None and group.share >= _HOT_GROUP:
            share, number = f"{group.share:.0%}", group.key_group
            reason = f"skew of a key group: {share} of the records of subtask {hottest} are in key group {number}"
            advice = (
                "add a part to the key that spreads the hot one and combine the results in a second step; windows with "
                "reduce or aggregate combine before the exchange by themselves"
            )
        else:
            reason = f"skew of a subtask: subtask {hottest} is busy {hot.busy:.0%} of the time, the others much less"
            advice = "choose a key or partitioner that spreads the records more evenly, or rebalance()"
        return BottleneckView(vertex.vertex_id, hottest, reason, advice)
    return BottleneckView(vertex.vertex_id, None, *_words(hot.operators, hot.busy))


def _words(operators: tuple[OperatorLoad, ...], busy: float) -> tuple[str, str]:
    if not operators:
        return "user function", "make the functions of this vertex faster, or raise its parallelism"
    slowest = max(operators, key=lambda o: max(o.own, o.sending))
    part = max(slowest.own, slowest.sending) / busy if busy else 0.0
    name = slowest.name
    if slowest.sending > slowest.own:
        reason = f"serialization: sending the records of {name!r} takes {part:.0%} of the busy time"
        return reason, "send less: filter and project before the exchange, declare types, avoid one more key_by"
    if slowest.kind == "source":
        reason = f"source: reading {name!r} takes {part:.0%} of the busy time"
        return reason, "more splits or partitions and a higher parallelism of the source, a faster storage or format"
    if slowest.kind == "sink":
        reason = f"sink: writing to {name!r} takes {part:.0%} of the busy time"
        return reason, "write in larger batches, raise the parallelism of the sink, look at the system it writes to"
    reason = f"user function: {name!r} takes {part:.0%} of the busy time"
    return reason, "look at its flame graph; raise its parallelism; calls to other systems belong into async I/O"
