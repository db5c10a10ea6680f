"""Messages between driver and tasks: orders go down with an epoch, reports come back as control frames. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from headrace.common.accumulators import Accumulator
from headrace.operators.source import ReadBudget, SplitPosition
from headrace.state.files import StateFile

TaskId = tuple[int, int]
"""(level, partition) of a task in the epoch plan."""


@dataclass(frozen=True)
class SourceOrder:
    """What a source subtask reads in this epoch."""

    positions: tuple[SplitPosition, ...]
    budget: ReadBudget


@dataclass(frozen=True)
class TaskOrder:
    """What one task does in this epoch: on which version of itself, from which files that can be had, reading what."""

    version: int | None
    """The attempt whose end state this epoch starts from; None: from nothing."""
    files: tuple[StateFile, ...] = ()
    sources: dict[str, SourceOrder] = field(default_factory=dict)
    """By vertex id."""


@dataclass(frozen=True)
class EpochOrder:
    """One epoch of one job, the same for all tasks of a level."""

    job_id: str
    epoch: int
    restarts: int
    state_directory: str
    tasks: dict[TaskId, TaskOrder]
    write_state: bool = True
    clock: int | None = None
    """A manual processing time for the whole epoch (tests); None: the wall clock."""

    def of_level(self, level: int) -> EpochOrder:
        """The part that the tasks of one level need."""
        tasks = {k: v for k, v in self.tasks.items() if k[0] == level}
        return EpochOrder(
            self.job_id, self.epoch, self.restarts, self.state_directory, tasks, self.write_state, self.clock
        )


@dataclass(frozen=True)
class VertexReport:
    """What a vertex's subtask did in the epoch."""

    vertex: str
    subtask: int
    records_in: int
    records_out: int
    watermark: int
    idle: bool
    next_timer: int | None
    ended: bool
    busy_seconds: float
    positions: tuple[SplitPosition, ...] = ()
    accumulators: dict[str, Accumulator[Any, Any]] = field(default_factory=dict)
    feedback: dict[str, list[Any]] = field(default_factory=dict)
    """Runs of records that go back to the beginning of an iteration, by its id."""


@dataclass(frozen=True)
class TaskAck:
    """A task has finished its part of the epoch."""

    task: TaskId
    epoch: int
    attempt: int
    seen: dict[tuple[int, int], int]
    """The attempt of every (edge, upstream subtask) whose frames were used."""
    state_file: StateFile | None
    state_is_base: bool
    vertices: tuple[VertexReport, ...]
    host: str = ""
    pid: int = 0


@dataclass(frozen=True)
class DriverOutput:
    """Printed lines and collected records, in order: ("out", line), ("err", line), (collect id, records)."""

    printed: list[tuple[bool, list[str]]] = field(default_factory=list)
    collected: list[tuple[str, list[Any]]] = field(default_factory=list)


@dataclass(frozen=True)
class TaskFailure:
    """User code, or headrace itself, failed in a task. `error` is a HeadraceError."""

    task: TaskId
    error: Exception
