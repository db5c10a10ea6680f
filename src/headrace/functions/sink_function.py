"""SinkFunction: a sink written in Python, whose `invoke` is called for each element.

A sink function is at-least-once: after a failure, the elements since the last checkpoint are written again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from headrace.connectors.base.sink import Sink as SinkDefinition
from headrace.errors import NoJvmError
from headrace.functions.function import Function


class SinkFunction(Function):
    """Writes the elements at the end of a stream.

    >>> class Append(SinkFunction):
    ...     def __init__(self, path):
    ...         self.path = path
    ...
    ...     def open(self, runtime_context):
    ...         self.file = open(f"{self.path}-{runtime_context.get_index_of_this_subtask()}", "a")
    ...
    ...     def invoke(self, value, context):
    ...         print(value, file=self.file)
    ...
    ...     def close(self):
    ...         self.file.close()
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> sink = env.from_collection(["a"]).add_sink(Append("/tmp/out"))
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> SinkFunction:
        """Reject a Java sink or the name of its class, which PyFlink takes here."""
        if cls is SinkFunction:
            raise NoJvmError(
                "A sink written in Java cannot run in headrace",
                seen=args[0] if args else None,
                remedy="derive a class from SinkFunction and implement `invoke`, or use a connector",
            )
        return super().__new__(cls)

    class Context(ABC):
        """Information about the current element."""

        @abstractmethod
        def timestamp(self) -> int | None:
            """Return the event time of the element in milliseconds, or None."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the current watermark in milliseconds."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the processing time in milliseconds."""

    @abstractmethod
    def invoke(self, value: Any, context: SinkFunction.Context) -> None:
        """Write one element."""

    def get_definition(self) -> SinkDefinition | None:
        """Return the definition of a sink that does not run by `invoke`, else None."""
        return None

    def finish(self) -> None:
        """Flush: called once after the last element of a bounded stream, before `close`."""
