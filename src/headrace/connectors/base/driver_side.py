"""Functions of the program that a sink calls in the driver: a copy that is opened before the first call."""

from __future__ import annotations

import pickle
from typing import Any, NoReturn

import cloudpickle

from headrace.errors import InvalidProgramError
from headrace.metrics.local import LocalMetricGroup
from headrace.metrics.values import Path, Value


class DriverContext:
    """The RuntimeContext in the driver, where sinks commit. It is not a subtask and has no state.

    >>> context = DriverContext("a" * 32, "Orders")
    >>> context.get_index_of_this_subtask(), context.get_number_of_parallel_subtasks()
    (-1, 1)
    >>> context.get_distributed_cache()
    Traceback (most recent call last):
    ...
    headrace.errors.InvalidProgramError: get_distributed_cache is not available in the driver, where ...
      remedy:   call it only in subtasks: there get_index_of_this_subtask() is not -1
    """

    def __init__(self, job_id: str, name: str) -> None:
        self._job_id, self._name = job_id, name
        self._metrics = LocalMetricGroup()

    def get_job_id(self) -> str:
        """Return the id of the job, 32 hexadecimal digits."""
        return self._job_id

    def get_task_name(self) -> str:
        """Return the id of the sink."""
        return self._name

    def get_task_name_with_subtasks(self) -> str:
        """Return the id of the sink, marked as its committer."""
        return f"{self._name} (committer)"

    def get_number_of_parallel_subtasks(self) -> int:
        return 1

    def get_index_of_this_subtask(self) -> int:
        """Return -1: this is not a subtask."""
        return -1

    def get_attempt_number(self) -> int:
        return 0

    def get_metrics_group(self) -> LocalMetricGroup:
        return self._metrics

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what only subtasks have; other unknown names are an AttributeError."""
        if not name.startswith(("get_", "add_")):
            raise AttributeError(name)
        raise InvalidProgramError(
            f"{name} is not available in the driver, where a sink commits",
            remedy="call it only in subtasks: there get_index_of_this_subtask() is not -1",
        )


class DriverFunction:
    """Holds the driver's copy of a function; the program's own object is never touched."""

    def __init__(self, function: Any, job_id: str, sink_id: str) -> None:
        self._program, self._context = function, DriverContext(job_id, sink_id)
        self._opened: Any = None

    def get(self) -> Any:
        """Return the function; open it at the first call."""
        if self._opened is None:
            function = pickle.loads(cloudpickle.dumps(self._program))  # noqa: S301 - the program's own object
            function.open(self._context)
            self._opened = function
        return self._opened

    def metrics(self) -> dict[Path, Value]:
        return self._context.get_metrics_group().values()

    def close(self) -> None:
        """Close the function if it was opened."""
        if self._opened is not None:
            function, self._opened = self._opened, None
            function.close()
