"""Messages between driver and tasks: orders travel down with an epoch, reports come back as control frames. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from headrace.common.accumulators import Accumulator
from headrace.config.worker_settings import TimeLimit
from headrace.connectors.base.sink_committer import Handle
from headrace.errors import HeadraceError
from headrace.metrics.values import Path, Value
from headrace.operators.source import ReadBudget, SplitPosition
from headrace.state.files import StateFile
from headrace.worker.process_facts import ProcessFacts

TaskId = tuple[int, int]
"""(level, partition) of a task in the epoch plan."""
TaskOwner = tuple[str, int]
"""(vertex id, subtask) of a task; stays the same when the epoch plan changes."""


@dataclass(frozen=True)
class SourceOrder:
    """Where a source subtask starts reading in this epoch, and how much it may read."""

    positions: tuple[SplitPosition, ...]
    budget: ReadBudget


@dataclass(frozen=True)
class OldSubtask:
    """State files of an earlier subtask: from a savepoint, or from this job before its parallelism changed."""

    job_id: str
    vertex: str
    subtask: int
    directory: str
    files: tuple[StateFile, ...]


@dataclass(frozen=True)
class Inheritance:
    """State of earlier, differently partitioned subtasks that a task starts from."""

    subtasks: tuple[OldSubtask, ...]
    """All that hold state of the task's operators; those of one operator are ordered by subtask number."""


@dataclass(frozen=True)
class TaskOrder:
    """One task's part of an epoch."""

    version: int | None
    """The attempt whose final state this epoch starts from; None: restore from the files."""
    files: tuple[StateFile, ...] = ()
    inheritance: Inheritance | None = None
    """What to start from while the task has no files of its own."""
    sources: dict[str, SourceOrder] = field(default_factory=dict)
    """By vertex id."""


@dataclass(frozen=True)
class CheckpointOrder:
    """The state of checkpointing during an epoch."""

    generation: int = 0
    number: int = 0
    """Number of the next checkpoint; part of the names of files and handles."""
    now: bool = False
    """Whether that checkpoint is taken at the end of this epoch."""
    timestamp: int = 0
    completed: tuple[int, ...] = ()
    """Checkpoints that completed since the last epoch."""
    aborted: tuple[int, ...] = ()
    """Checkpoints that were aborted since the last epoch."""
    store: str | None = None
    """Where to upload files that a checkpoint lists; None: they are durable where they are written, once synced."""
    staging: str = ""
    """Folder or URL where sinks stage output. Always next to the manifests, even if state files are elsewhere."""
    durable: bool = False
    """Whether the job takes checkpoints at all."""
    restored: int = 0
    """Number of the last checkpoint. A rebuilt task starts from its state, or from that of a later epoch."""


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
    """Whether sources end now, as if their input had ended."""
    sampled: frozenset[str] = frozenset()
    """Vertices whose user code is sampled for flame graphs."""
    time_limit: TimeLimit | None = None
    """How long each task may take."""

    def of_level(self, level: int) -> EpochOrder:
        """Return the part that the tasks of one level need."""
        return replace(self, tasks={k: v for k, v in self.tasks.items() if k[0] == level})


class HotKeyGroup(NamedTuple):
    """The key group that holds most of an epoch's sampled keys."""

    key_group: int
    share: float


class OperatorReport(NamedTuple):
    """One operator's measurements of an epoch.

    `metrics` holds only those that changed, with their totals since the subtask was built. After an epoch that does not
    count, the subtask is rebuilt and reports everything, so the driver misses nothing.
    """

    operator_id: str
    records_in: int
    records_out: int
    seconds: float
    """Its own time, without that of the operators after it and of sending."""
    sending_seconds: float
    """Time to encode and partition the records that leave the task here."""
    input_watermark: int
    output_watermark: int
    metrics: dict[Path, Value]


class VertexMeasures(NamedTuple):
    """Measurements of a subtask. The job's behavior never depends on them."""

    life: int = 0
    """Changes whenever the subtask is rebuilt; its operators' metrics then restart from zero."""
    bytes_in: int = 0
    bytes_out: int = 0
    frames_in: int = 0
    frames_out: int = 0
    held_back: bool = False
    """Whether a source could have read more."""
    waited_seconds: float = 0.0
    """Part of the busy time in which a source waited for input."""
    event_timestamp: int | None = None
    """Event time of the last record that a source read."""
    hot_key_group: HotKeyGroup | None = None
    operators: tuple[OperatorReport, ...] = ()
    stacks: dict[tuple[str, ...], int] = {}  # noqa: RUF012 - never changed
    """With sampling: how often each stack of user code was seen; the first entry is the operator's name."""


@dataclass(frozen=True)
class VertexReport:
    """One subtask's results of an epoch."""

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
    """Runs of records that return to the start of an iteration, by its id."""
    handles: dict[str, list[Handle]] = field(default_factory=dict)
    """Output that sinks staged, by operator id."""
    measures: VertexMeasures = field(default_factory=VertexMeasures)
    not_closed: HeadraceError | None = None
    """In the epoch in which the subtask ends: the `close()` that timed out."""


class RestoredStates(NamedTuple):
    """An operator's user-declared states after its functions were opened: kinds by name."""

    found: dict[str, str]
    """States that were restored."""
    asked_for: dict[str, str]
    """States that the functions requested."""


@dataclass(frozen=True)
class TaskAck:
    """A task finished its part of the epoch."""

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
    """Why the checkpoint at the end of this epoch cannot rely on the task's state files."""
    restored: dict[str, RestoredStates] = field(default_factory=dict)
    """In the first epoch of a task that inherited state: by operator id, for operators with user-declared state."""
    checkpoint_seconds: float = 0.0
    """Duration of the hooks, of writing the state file, and of making it durable."""
    process: ProcessFacts = field(default_factory=ProcessFacts)


@dataclass(frozen=True)
class DriverOutput:
    """Output for the driver, in order: `printed` as (to stderr?, lines), `collected` as (collect id, records)."""

    printed: list[tuple[bool, list[str]]] = field(default_factory=list)
    collected: list[tuple[str, list[Any]]] = field(default_factory=list)
    said: bytes = b""
    """Lines that user code printed."""


@dataclass(frozen=True)
class TaskFailure:
    """User code, or headrace itself, failed in a task. `error` is a HeadraceError."""

    task: TaskId
    error: Exception
