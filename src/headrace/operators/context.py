"""The context that a task provides to an operator: its identity, state, timers, clock, and the channel to the driver.

Also the RuntimeContext that `open()` of a user function receives, made from it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from headrace.common.accumulators import (
    Accumulator,
    AccumulatorRegistry,
    DoubleCounter,
    Histogram,
    IntCounter,
    LongCounter,
)
from headrace.errors import InvalidProgramError
from headrace.functions.runtime_context import DistributedCache
from headrace.metrics.local import LocalMetricGroup
from headrace.operators.clock import Clock
from headrace.operators.output import LatencyMarker
from headrace.state import descriptors, interfaces
from headrace.state.keyed_backend import KeyedBackend
from headrace.state.operator_state import OperatorStateBackend
from headrace.state.timers import TimerQueue

EVENT_TIMERS, PROCESSING_TIMERS = "_timers/event", "_timers/processing"


class DriverChannel(Protocol):
    """Takes output that reaches the driver with the epoch's result."""

    def print_lines(self, lines: list[str], stderr: bool) -> None:
        """Print lines to the driver's standard output or error."""
        ...

    def collect(self, collect_id: str, values: list[Any]) -> None:
        """Send records to `execute_and_collect`."""
        ...


@dataclass(frozen=True)
class TaskInfo:
    """Identity and settings of a subtask."""

    job_id: str
    job_name: str
    vertex_name: str
    subtask: int
    parallelism: int
    max_parallelism: int
    attempt: int
    batch: bool = False
    watermark_records: int = 1000
    job_parameters: dict[str, str] = field(default_factory=dict)
    state_directory: str = ""
    """A directory that all tasks and the driver share."""
    staging_directory: str = ""
    """Folder or URL where sinks stage output, next to the files of the checkpoints that will refer to it."""
    latency_interval_ms: int = 0
    """How often sources send latency markers; 0: never."""
    latency_granularity: str = "operator"


@dataclass(frozen=True)
class EpochInfo:
    """The current epoch, as far as operators need to know it."""

    handle: str = "0"
    """Unique for each attempt of each epoch, among all drivers of the job."""
    checkpoint: int = 0
    """The number of the next checkpoint."""
    generation: int = 0
    checkpointing: bool = False
    """Whether the checkpoint is taken at the end of this epoch."""
    durable: bool = False
    """Whether the job takes checkpoints."""


@dataclass
class OperatorContext:
    """The context of one operator. Every operator has its own backends, so state names are local to it."""

    task: TaskInfo
    operator_id: str
    name: str
    uid: str | None
    keyed_state: KeyedBackend
    operator_state: OperatorStateBackend
    clock: Clock
    driver: DriverChannel
    facts: dict[str, Any] = field(default_factory=dict)
    """Small runtime facts that a successor of this operator needs (such as watermarks of splits)."""
    keyed: bool = False
    """Whether the input is keyed, so that the operator's function may use keyed state."""
    metrics: LocalMetricGroup = field(default_factory=LocalMetricGroup)
    accumulators: AccumulatorRegistry = field(default_factory=AccumulatorRegistry)
    """Shared by all operators of the subtask."""
    files: DistributedCache = field(default_factory=DistributedCache)
    restored_checkpoint: int | None = None
    """The checkpoint that the state was restored from; None at the first start."""
    epoch: EpochInfo = field(default_factory=EpochInfo)
    """Set by the task at the beginning of each epoch."""

    def __post_init__(self) -> None:
        """Get the timers from the keyed state: they are stored and moved with it."""
        self.keyed_state.now = self.clock.now
        self.event_timers: TimerQueue = self.keyed_state.timers(EVENT_TIMERS)
        self.processing_timers: TimerQueue = self.keyed_state.timers(PROCESSING_TIMERS)

    def observe_latency(self, marker: LatencyMarker) -> None:
        """Record how long a marker took to get here, separately by source as the configuration says."""
        group = self.metrics.add_group("latency")
        if self.task.latency_granularity != "single":
            group = group.add_group("source_id", marker.source_id)
        if self.task.latency_granularity == "subtask":
            group = group.add_group("source_subtask_index", str(marker.source_subtask))
        group.histogram("latency").update(max(0, time.time_ns() // 1_000_000 - marker.emitted_ms))


class TaskRuntimeContext:
    """Implements `headrace.functions.runtime_context.RuntimeContext`. State handles always refer to the current key."""

    def __init__(self, context: OperatorContext, *, keyed: bool | None = None) -> None:
        """`keyed=False` is for functions other than the operator's own, such as key selectors: they have no state."""
        self._context = context
        self._keyed = context.keyed if keyed is None else keyed

    def get_job_id(self) -> str:
        return self._context.task.job_id

    def get_task_name(self) -> str:
        return self._context.task.vertex_name

    def get_task_name_with_subtasks(self) -> str:
        task = self._context.task
        return f"{task.vertex_name} ({task.subtask + 1}/{task.parallelism})#{task.attempt}"

    def get_number_of_parallel_subtasks(self) -> int:
        return self._context.task.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        return self._context.task.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        return self._context.task.subtask

    def get_attempt_number(self) -> int:
        return self._context.task.attempt

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self._context.task.job_parameters.get(key, default_value)

    def get_metrics_group(self) -> LocalMetricGroup:
        return self._context.metrics

    def get_distributed_cache(self) -> DistributedCache:
        return self._context.files

    # -- accumulators ---------------------------------------------------------------------------------------------

    def add_accumulator(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        self._context.accumulators.add(name, accumulator)

    def get_accumulator(self, name: str) -> Accumulator[Any, Any] | None:
        return self._context.accumulators.get(name)

    def get_int_counter(self, name: str) -> IntCounter:
        return self._context.accumulators.counter(name, IntCounter)  # type: ignore[no-any-return]

    def get_long_counter(self, name: str) -> LongCounter:
        return self._context.accumulators.counter(name, LongCounter)  # type: ignore[no-any-return]

    def get_double_counter(self, name: str) -> DoubleCounter:
        return self._context.accumulators.counter(name, DoubleCounter)  # type: ignore[no-any-return]

    def get_histogram(self, name: str) -> Histogram:
        return self._context.accumulators.counter(name, Histogram)  # type: ignore[no-any-return]

    # -- keyed state ----------------------------------------------------------------------------------------------

    def get_state(self, state_descriptor: descriptors.ValueStateDescriptor) -> interfaces.ValueState[Any]:
        return self._backend(state_descriptor).get_state(state_descriptor)

    def get_list_state(self, state_descriptor: descriptors.ListStateDescriptor) -> interfaces.ListState[Any]:
        return self._backend(state_descriptor).get_state(state_descriptor)

    def get_map_state(self, state_descriptor: descriptors.MapStateDescriptor) -> interfaces.MapState[Any, Any]:
        return self._backend(state_descriptor).get_state(state_descriptor)

    def get_reducing_state(
        self, state_descriptor: descriptors.ReducingStateDescriptor
    ) -> interfaces.ReducingState[Any]:
        return self._backend(state_descriptor).get_state(state_descriptor)

    def get_aggregating_state(
        self, state_descriptor: descriptors.AggregatingStateDescriptor
    ) -> interfaces.AggregatingState[Any, Any]:
        return self._backend(state_descriptor).get_state(state_descriptor)

    def _backend(self, descriptor: descriptors.StateDescriptor) -> KeyedBackend:
        if not self._keyed:
            raise InvalidProgramError(
                "This state is only accessible by functions executed on a KeyedStream.",
                operator_name=self._context.name,
                uid=self._context.uid,
                seen=descriptor,
                remedy="put key_by(...) directly before this operator",
            )
        return self._context.keyed_state
