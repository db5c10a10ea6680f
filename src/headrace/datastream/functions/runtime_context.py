"""RuntimeContext: what a function may know and get from the subtask that it runs in.

Decides the names only. `headrace.operators` has the implementation and hands it to `Function.open`.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from headrace.state.interfaces import KeyedStateStore

__all__ = ["KeyedStateStore", "RuntimeContext"]


class RuntimeContext(KeyedStateStore):
    """Given to `open`: facts about the subtask, and (on keyed streams) access to keyed state.

    >>> sorted(
    ...     name for name in RuntimeContext.__abstractmethods__ if "subtask" in name
    ... )  # doctest: +NORMALIZE_WHITESPACE
    ['get_index_of_this_subtask', 'get_max_number_of_parallel_subtasks', 'get_number_of_parallel_subtasks',
     'get_task_name_with_subtasks']
    """

    __slots__ = ()

    @abstractmethod
    def get_task_name(self) -> str:
        """Give the name of the task: the names of its chained operators."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int:
        """Give the parallelism of the operator."""

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int:
        """Give the number of key groups of the operator, its maximum parallelism."""

    @abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """Give the index of this subtask: from 0 to the parallelism less one."""

    @abstractmethod
    def get_attempt_number(self) -> int:
        """Give the number of the attempt to run this subtask: 0 for the first."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """Give the name of the task with subtask index and parallelism, such as ``Map (2/4)#0``."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Give a global parameter of the job, or ``default_value`` if the job has none of that name."""

    @abstractmethod
    def get_metrics_group(self) -> Any:
        """Give the group in which this function registers its metrics."""
