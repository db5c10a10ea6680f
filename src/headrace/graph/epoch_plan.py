"""EpochPlan: the vertices of a job arranged in levels, so that any graph is one sequence of Spark stages.

1. The level of a vertex is the longest path from a source, counted in exchanges; forward edges do not count.
2. Vertices of one level that are connected by forward edges form a task group: they run one after another in one task.
3. The partitions of a level are all subtasks of all its groups.

Pure data; built by the driver for each parallelism, shipped to the tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.graph.job_graph import JobEdge, JobGraph
from headrace.graph.partitioners import Forward


@dataclass(frozen=True)
class TaskGroup:
    """Vertices that run in the same task, in topological order, and the first partition of its subtasks in the level."""

    vertices: tuple[str, ...]
    parallelism: int
    first_partition: int


@dataclass(frozen=True)
class Level:
    """One RDD: `partitions` subtasks."""

    index: int
    groups: tuple[TaskGroup, ...]
    partitions: int

    def locate(self, partition: int) -> tuple[TaskGroup, int]:
        """Return the group and the subtask index of a partition."""
        for group in self.groups:
            if partition < group.first_partition + group.parallelism:
                return group, partition - group.first_partition
        raise IndexError(partition)


@dataclass(frozen=True)
class EpochPlan:
    """Levels of the job. `level_of` and `first_partition` locate the subtasks of a vertex."""

    levels: tuple[Level, ...]
    level_of: dict[str, int]
    first_partition: dict[str, int]

    def is_local(self, edge: JobEdge) -> bool:
        """Return whether `edge` stays inside a task (a forward edge between vertices of one level)."""
        same = self.level_of[edge.source] == self.level_of[edge.target]
        return same and isinstance(edge.edge.partitioner, Forward)

    def address(self, vertex: str, subtask: int) -> tuple[int, int]:
        """Return the level and partition of a subtask."""
        return self.level_of[vertex], self.first_partition[vertex] + subtask


def build_epoch_plan(graph: JobGraph) -> EpochPlan:
    """Arrange `graph`, whose vertices are in topological order, in levels."""
    level_of: dict[str, int] = {}
    for vertex in graph.vertices:
        level_of[vertex] = max(
            (
                level_of[e.source] + (0 if isinstance(e.edge.partitioner, Forward) else 1)
                for e in graph.in_edges(vertex)
            ),
            default=0,
        )
    levels = []
    first_partition: dict[str, int] = {}
    for index in range(max(level_of.values()) + 1):
        groups: list[TaskGroup] = []
        offset = 0
        for vertices in _forward_groups(graph, level_of, index):
            parallelism = graph.vertices[vertices[0]].parallelism
            groups.append(TaskGroup(vertices, parallelism, offset))
            first_partition.update(dict.fromkeys(vertices, offset))
            offset += parallelism
        levels.append(Level(index, tuple(groups), offset))
    return EpochPlan(tuple(levels), level_of, first_partition)


def _forward_groups(graph: JobGraph, level_of: dict[str, int], level: int) -> list[tuple[str, ...]]:
    """Return the vertices of a level, grouped by the forward edges among them."""
    members = [v for v in graph.vertices if level_of[v] == level]
    group_of = {v: v for v in members}
    for e in graph.edges:
        if e.source in group_of and e.target in group_of and isinstance(e.edge.partitioner, Forward):
            merged, kept = group_of[e.target], group_of[e.source]
            group_of = {v: kept if g == merged else g for v, g in group_of.items()}
    groups: dict[str, list[str]] = {}
    for v in members:
        groups.setdefault(group_of[v], []).append(v)
    return [tuple(g) for g in groups.values()]
