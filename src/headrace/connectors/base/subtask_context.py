"""What functions inside of sources are given by `open`: the task's RuntimeContext, or without a task the little that is known."""

from __future__ import annotations

from typing import Any

from headrace.connectors.base.split_reader import ReaderContext


class SubtaskContext:
    """Who the source's subtask is. There is no keyed state in sources.

    >>> SubtaskContext(ReaderContext(1, 4)).get_index_of_this_subtask()
    1
    """

    def __init__(self, context: ReaderContext) -> None:
        """Takes what the reader knows."""
        self._context = context

    def get_index_of_this_subtask(self) -> int:
        """The index of the subtask, from 0."""
        return self._context.subtask

    def get_number_of_parallel_subtasks(self) -> int:
        """The parallelism of the source."""
        return self._context.parallelism

    def get_attempt_number(self) -> int:
        """The number of the attempt, from 0."""
        return self._context.attempt


def runtime_context(context: ReaderContext) -> Any:
    """The RuntimeContext for a function of a source.

    >>> runtime_context(ReaderContext(1, 4)).get_number_of_parallel_subtasks()
    4
    """
    return SubtaskContext(context) if context.runtime is None else context.runtime
