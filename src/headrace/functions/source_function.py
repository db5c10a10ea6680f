"""SourceFunction: a source written in Python, whose `run` emits until it returns or is cancelled.

`headrace.connectors.functions.function_source` runs it in a thread of the task. A source function is not replayed after
a failure; it starts again. Sources with positions implement `headrace.connectors.base.source.Source`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any

from headrace.common.watermark_generator import Watermark
from headrace.errors import NoJvmError
from headrace.functions.function import Function


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
        """Reject a Java source or the name of its class, which PyFlink takes here."""
        if cls is SourceFunction:
            raise NoJvmError(
                "A source written in Java cannot run in headrace",
                seen=args[0] if args else None,
                remedy="derive a class from SourceFunction and implement `run`, or use a connector",
            )
        return super().__new__(cls)

    class SourceContext(ABC):
        """Emits elements. Calls block while the job cannot take more, which is the back pressure."""

        @abstractmethod
        def collect(self, element: Any) -> None:
            """Emit an element without event time."""

        @abstractmethod
        def collect_with_timestamp(self, element: Any, timestamp: int) -> None:
            """Emit an element with event time, in milliseconds."""

        @abstractmethod
        def emit_watermark(self, watermark: Watermark | int) -> None:
            """Declare that no element with an event time up to ``watermark`` will follow."""

        @abstractmethod
        def get_checkpoint_lock(self) -> AbstractContextManager[Any]:
            """Return the lock under which a function with state emits and updates its state atomically."""

        @abstractmethod
        def mark_as_temporarily_idle(self) -> None:
            """Declare the source idle, so that its watermarks do not hold back others."""

    @abstractmethod
    def run(self, ctx: SourceFunction.SourceContext) -> None:
        """Emit elements; the source is bounded if this returns."""

    @abstractmethod
    def cancel(self) -> None:
        """Make `run` return soon: called from another thread when the job is cancelled."""


class ParallelSourceFunction(SourceFunction, ABC):
    """A source function that runs in every subtask; the argument of `open` has the index of the subtask.

    >>> issubclass(ParallelSourceFunction, SourceFunction)
    True
    """
