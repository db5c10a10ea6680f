"""The RuntimeContext that `open()` of a user function receives: the subtask's identity, metrics, and keyed state."""

from __future__ import annotations

from typing import Any

from headrace.common.accumulators import Accumulator, DoubleCounter, Histogram, IntCounter, LongCounter
from headrace.errors import InvalidProgramError
from headrace.functions.runtime_context import DistributedCache
from headrace.metrics.local import LocalMetricGroup
from headrace.operators.context import OperatorContext
from headrace.state import descriptors, interfaces
from headrace.state.keyed_backend import KeyedBackend


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
