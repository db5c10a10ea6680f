"""Run a program up to its first `execute()` and get its graph instead of starting a job.

Used by the command line to show plans; `StreamExecutionEnvironment.submit` calls it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headrace.graph.stream_graph import StreamGraph


class PlanReached(BaseException):
    """Leaves the program at its first `execute()`, through any ``except Exception``; ``graph`` is the program.

    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> sink = env.from_collection([1]).print()
    >>> with planning_only():
    ...     try:
    ...         env.execute("numbers")
    ...     except PlanReached as reached:
    ...         print(reached.graph.settings.job_name)
    numbers
    """

    def __init__(self, graph: StreamGraph) -> None:
        super().__init__("the plan of the program is known")
        self.graph = graph


_wanted: list[object] = []


@contextmanager
def planning_only() -> Iterator[None]:
    """Prevent environments of this process from starting a job inside the block.

    >>> with planning_only():
    ...     pass
    """
    token = object()
    _wanted.append(token)
    try:
        yield
    finally:
        _wanted.remove(token)


def plan_reached(graph: StreamGraph) -> None:
    """Leave the program if only its plan is wanted.

    >>> from headrace.graph.stream_graph import GraphSettings
    >>> plan_reached(StreamGraph({}, (), GraphSettings()))
    """
    if _wanted:
        raise PlanReached(graph)
