"""Sources written in Python: a `run` method that emits until it is done or cancelled.

Decides the shapes; `headrace.connectors.functions.function_source` runs them in a thread of the task. A source function is not
replayed after a failure: it starts anew. Sources with positions implement `headrace.connectors.Source`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any

from headrace.common.watermark_generator import Watermark
from headrace.errors import NoJvmError
from headrace.functions.function import Function

__all__ = ["ParallelSourceFunction", "SourceFunction"]


class SourceFunction(Function):
    """Emits elements from `run` until it returns; runs with parallelism 1.

    >>> class Countdown(SourceFunction):
    ...     def run(self, ctx):
    ...         for number in range(3, 0, -1):
    ...             ctx.collect(number)
    ...
    ...     def cancel(self):
    ...         pass
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> env.add_source(Countdown()).get_name()
    'Custom Source'
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> SourceFunction:
        """Reject what PyFlink takes here, a Java source or the name of its class."""
        if cls is SourceFunction:
            raise NoJvmError(
                "A source written in Java cannot run in headrace",
                seen=args[0] if args else None,
                remedy="derive a class from SourceFunction and write `run`, or use a connector",
            )
        return super().__new__(cls)

    class SourceContext(ABC):
        """How `run` emits. Calls block while the job cannot take more: that is the back pressure."""

        @abstractmethod
        def collect(self, element: Any) -> None:
            """Emit an element without event time."""

        @abstractmethod
        def collect_with_timestamp(self, element: Any, timestamp: int) -> None:
            """Emit an element with event time, in milliseconds."""

        @abstractmethod
        def emit_watermark(self, watermark: Watermark | int) -> None:
            """Say that no element with an event time up to ``watermark`` will follow."""

        @abstractmethod
        def get_checkpoint_lock(self) -> AbstractContextManager[Any]:
            """Return the lock under which a function with state emits and changes its state in one step."""

        @abstractmethod
        def mark_as_temporarily_idle(self) -> None:
            """Say that nothing will follow for some time, so that nobody waits for this source's watermarks."""

    @abstractmethod
    def run(self, ctx: SourceFunction.SourceContext) -> None:
        """Emit elements; the source is bounded if this returns."""

    @abstractmethod
    def cancel(self) -> None:
        """Make `run` return soon: called from another thread when the job is cancelled."""


class ParallelSourceFunction(SourceFunction, ABC):
    """A source function that runs in every subtask; `open` tells which subtask it is in.

    >>> issubclass(ParallelSourceFunction, SourceFunction)
    True
    """
