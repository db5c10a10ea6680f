"""Messages between driver and tasks: orders go down with an epoch, reports come back as control frames. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from headrace.common.accumulators import Accumulator
from headrace.config.worker_settings import TimeLimit
from headrace.connectors.base.sink_committer import Handle
from headrace.errors import HeadraceError
from headrace.operators.source import ReadBudget, SplitPosition
from headrace.state.files import StateFile
from headrace.worker.slot.process_facts import ProcessFacts
from headrace.worker.task.vertex_meter import HotKeyGroup, OperatorReport

TaskId = tuple[int, int]
"""(level, partition) of a task in the epoch plan."""
TaskOwner = tuple[str, int]
"""(vertex id, subtask): who a task is, whatever its place in the epoch plan."""


@dataclass(frozen=True)
class SourceOrder:
    """What a source subtask reads in this epoch."""

    positions: tuple[SplitPosition, ...]
    budget: ReadBudget


@dataclass(frozen=True)
class OldSubtask:
    """State files of a subtask of another time: of a savepoint, or of this job before its parallelism changed."""

    job_id: str
    vertex: str
    subtask: int
    directory: str
    files: tuple[StateFile, ...]


@dataclass(frozen=True)
class Inheritance:
    """What a task takes over from subtasks that were cut differently, at its beginning."""

    subtasks: tuple[OldSubtask, ...]
    """All that hold state of the task's operators, those of one operator in the order of their numbers."""


@dataclass(frozen=True)
class TaskOrder:
    """What one task does in this epoch: on which version of itself, from which files that can be had, reading what."""

    version: int | None
    """The attempt whose end state this epoch starts from; None: from what the files say."""
    files: tuple[StateFile, ...] = ()
    inheritance: Inheritance | None = None
    """Where there are no files yet: what to start from."""
    sources: dict[str, SourceOrder] = field(default_factory=dict)
    """By vertex id."""


@dataclass(frozen=True)
class CheckpointOrder:
    """How the epoch stands to checkpoints."""

    generation: int = 0
    number: int = 0
    """Of the next checkpoint: stands in the names of files and handles."""
    now: bool = False
    """Whether it is made at the end of this epoch."""
    timestamp: int = 0
    completed: tuple[int, ...] = ()
    """Checkpoints that have completed since the last epoch, and"""
    aborted: tuple[int, ...] = ()
    """that have come to nothing."""
    store: str | None = None
    """Where files go that a checkpoint lists; None: they are durable where they are written, once synced."""
    staging: str = ""
    """The folder or URL where sinks stage output. It is where manifests are, also if the state files are elsewhere."""
    durable: bool = False
    """Whether checkpoints are made at all."""
    restored: int = 0
    """The number of the last checkpoint, whose state (or a later epoch's) a task that is built anew gets."""


NO_CHECKPOINT = CheckpointOrder()


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
    checkpoint: CheckpointOrder = NO_CHECKPOINT
    drain: bool = False
    """Whether sources end now, as if their input had."""
    sampled: frozenset[str] = frozenset()
    """Vertices whose user code is to be sampled for flame graphs."""
    time_limit: TimeLimit | None = None
    """In which each task must have done its part."""

    def of_level(self, level: int) -> EpochOrder:
        """The part that the tasks of one level need."""
        return replace(self, tasks={k: v for k, v in self.tasks.items() if k[0] == level})


class VertexMeasures(NamedTuple):
    """What is only measured: nothing that the job does depends on it."""

    life: int = 0
    """Another number each time that the subtask is built anew: its operators' metrics then begin from zero."""
    bytes_in: int = 0
    bytes_out: int = 0
    frames_in: int = 0
    frames_out: int = 0
    held_back: bool = False
    """A source could have read more."""
    waited_seconds: float = 0.0
    """Part of the busy time in which a source waited for something to read."""
    event_timestamp: int | None = None
    """Event time of the last record that a source has read."""
    hot_key_group: HotKeyGroup | None = None
    operators: tuple[OperatorReport, ...] = ()
    stacks: dict[tuple[str, ...], int] = {}  # noqa: RUF012 - never changed
    """With sampling: how often each stack of user code was seen, the operator's name first."""


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
    handles: dict[str, list[Handle]] = field(default_factory=dict)
    """What sinks have staged, by operator id."""
    measures: VertexMeasures = field(default_factory=VertexMeasures)
    not_closed: HeadraceError | None = None
    """In the epoch in which it has ended: the `close()` that did not come back in time."""


class RestoredStates(NamedTuple):
    """The program's own states of an operator after its functions were opened: kinds by name."""

    found: dict[str, str]
    """What was restored."""
    asked_for: dict[str, str]
    """What the functions have asked for."""


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
    states: dict[str, dict[str, str]] = field(default_factory=dict)
    """With a checkpoint: the kinds of all states by operator id and name."""
    declined: str | None = None
    """Why the checkpoint at the end of this epoch cannot count on the task's state files."""
    restored: dict[str, RestoredStates] = field(default_factory=dict)
    """In the first epoch of a task that took state over: by operator id, if it has any state of the program."""
    checkpoint_seconds: float = 0.0
    """How long hooks, state file and making it durable took."""
    process: ProcessFacts = field(default_factory=ProcessFacts)


@dataclass(frozen=True)
class DriverOutput:
    """Printed lines and collected records, in order: ("out", line), ("err", line), (collect id, records)."""

    printed: list[tuple[bool, list[str]]] = field(default_factory=list)
    collected: list[tuple[str, list[Any]]] = field(default_factory=list)
    said: bytes = b""
    """Lines that user code has printed."""


@dataclass(frozen=True)
class TaskFailure:
    """User code, or headrace itself, failed in a task. `error` is a HeadraceError."""

    task: TaskId
    error: Exception
