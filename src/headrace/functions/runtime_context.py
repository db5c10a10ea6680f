"""RuntimeContext: information and services of the subtask that a function runs in, such as its cached files.

`headrace.operators` implements it and passes it to `Function.open`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace.common.accumulators import Accumulator, DoubleCounter, Histogram, IntCounter, LongCounter
from headrace.errors import InvalidProgramError
from headrace.metrics import MetricGroup
from headrace.state.interfaces import KeyedStateStore

__all__ = ["KeyedStateStore", "RuntimeContext"]


class DistributedCache:
    """The files that the program registered with `register_cached_file`.

    >>> DistributedCache({"model": "/tmp/model.bin"}).get_file("model").name
    'model.bin'
    """

    def __init__(self, files: Mapping[str, str] | None = None) -> None:
        """Store the paths on this machine, by name."""
        self._files = dict(files or {})

    def get_file(self, name: str) -> Path:
        """Return the path of the file or directory that was registered as `name`."""
        if name not in self._files:
            raise InvalidProgramError(
                f"File with name {name!r} is not available. Did you forget to register the file?",
                expected=f"one of {sorted(self._files)}" if self._files else None,
                remedy=f"call env.register_cached_file(path, {name!r}) before execute()",
            )
        return Path(self._files[name])


class RuntimeContext(KeyedStateStore):
    """The argument of `open`: information about the subtask and, on keyed streams, access to keyed state.

    >>> sorted(
    ...     name for name in RuntimeContext.__abstractmethods__ if "subtask" in name
    ... )  # doctest: +NORMALIZE_WHITESPACE
    ['get_index_of_this_subtask', 'get_max_number_of_parallel_subtasks', 'get_number_of_parallel_subtasks',
     'get_task_name_with_subtasks']
    """

    __slots__ = ()

    @abstractmethod
    def get_task_name(self) -> str:
        """Return the name of the task: the names of its chained operators."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int:
        """Return the parallelism of the operator."""

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the number of key groups of the operator, its maximum parallelism."""

    @abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """Return the index of this subtask, from 0 to the parallelism - 1."""

    @abstractmethod
    def get_attempt_number(self) -> int:
        """Return the number of the attempt to run this subtask: 0 for the first."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """Return the name of the task with subtask index and parallelism, such as ``Map (2/4)#0``."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return a global parameter of the job, or ``default_value`` if it is not set."""

    @abstractmethod
    def get_metrics_group(self) -> MetricGroup:
        """Return the group in which this function registers its metrics."""

    # ------------------------------------------------------------------ in Flink, but not in PyFlink

    @abstractmethod
    def get_distributed_cache(self) -> DistributedCache:
        """Return the files that the program registered; ``get_file(name)`` returns the path on this machine."""

    @abstractmethod
    def add_accumulator(self, name: str, accumulator: Accumulator[Any, Any]) -> None:
        """Register an accumulator. The job's result contains its value over all subtasks."""

    @abstractmethod
    def get_accumulator(self, name: str) -> Accumulator[Any, Any] | None:
        """Return an accumulator that was registered in this subtask, or None."""

    @abstractmethod
    def get_int_counter(self, name: str) -> IntCounter:
        """Return the `IntCounter` of that name; the first call creates it."""

    @abstractmethod
    def get_long_counter(self, name: str) -> LongCounter:
        """Return the `LongCounter` of that name; the first call creates it."""

    @abstractmethod
    def get_double_counter(self, name: str) -> DoubleCounter:
        """Return the `DoubleCounter` of that name; the first call creates it."""

    @abstractmethod
    def get_histogram(self, name: str) -> Histogram:
        """Return the `Histogram` of that name; the first call creates it."""
