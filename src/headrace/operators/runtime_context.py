"""The RuntimeContext that `open()` of a user function receives: who the subtask is, and keyed state."""

from __future__ import annotations

from typing import Any

from headrace.operators.context import OperatorContext
from headrace.state import descriptors, interfaces


class TaskRuntimeContext:
    """Answers for one operator of one subtask. State handles always mean the current key."""

    def __init__(self, context: OperatorContext) -> None:
        self._context = context

    def get_job_id(self) -> str:
        """The id of the job, 32 hexadecimal digits."""
        return self._context.task.job_id

    def get_task_name(self) -> str:
        """The name of the task: the chain's operators."""
        return self._context.task.vertex_name

    def get_task_name_with_subtasks(self) -> str:
        """The name with ` (i/n)` as Flink shows it, counted from 1, and the attempt."""
        task = self._context.task
        return f"{task.vertex_name} ({task.subtask + 1}/{task.parallelism})#{task.attempt}"

    def get_number_of_parallel_subtasks(self) -> int:
        """The parallelism of the operator."""
        return self._context.task.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        """The number of key groups."""
        return self._context.task.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        """The index of this subtask, from 0."""
        return self._context.task.subtask

    def get_attempt_number(self) -> int:
        """How often the job has been restarted."""
        return self._context.task.attempt

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """A global job parameter."""
        return self._context.task.job_parameters.get(key, default_value)

    def get_state(self, state_descriptor: descriptors.ValueStateDescriptor) -> interfaces.ValueState[Any]:
        """The value state of this name."""
        return self._context.keyed_state.get_state(state_descriptor)

    def get_list_state(self, state_descriptor: descriptors.ListStateDescriptor) -> interfaces.ListState[Any]:
        """The list state of this name."""
        return self._context.keyed_state.get_state(state_descriptor)

    def get_map_state(self, state_descriptor: descriptors.MapStateDescriptor) -> interfaces.MapState[Any, Any]:
        """The map state of this name."""
        return self._context.keyed_state.get_state(state_descriptor)

    def get_reducing_state(self, state_descriptor: descriptors.ReducingStateDescriptor) -> interfaces.ReducingState[Any]:
        """The reducing state of this name."""
        return self._context.keyed_state.get_state(state_descriptor)

    def get_aggregating_state(self, state_descriptor: descriptors.AggregatingStateDescriptor) -> interfaces.AggregatingState[Any, Any]:
        """The aggregating state of this name."""
        return self._context.keyed_state.get_state(state_descriptor)
