"""Function: the base class of all functions of a program, with the hooks `open` and `close`; and interfaces.

The interfaces of functions with operator state, or that are notified of checkpoints, are not in PyFlink; their names are
those of Flink's Java API. Any map, flat map, process, window, sink or source function may have one as a second base class.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import GenericAlias
from typing import TYPE_CHECKING, Any

from headrace.errors import NoJvmError
from headrace.state.function_contexts import FunctionInitializationContext, FunctionSnapshotContext

if TYPE_CHECKING:
    from headrace.functions.runtime_context import RuntimeContext


class Function(ABC):
    """The base of all functions. Each subtask has its own object, which is opened once and closed once.

    >>> class Greeter(Function):
    ...     def open(self, runtime_context):
    ...         self.greeting = "hello"
    >>> greeter = Greeter()
    >>> greeter.open(None)
    >>> greeter.greeting
    'hello'
    """

    def __class_getitem__(cls, types: Any) -> GenericAlias:
        """Accept type parameters, which have no effect.

        >>> class Words(Function[str, list]):
        ...     def open(self, runtime_context):
        ...         pass
        >>> Words.__mro__[1] is Function
        True
        """
        return GenericAlias(cls, types)

    def open(self, runtime_context: RuntimeContext) -> None:
        """Set up the function: called once per subtask before the first element.

        Create connections, caches and state handles here and not in ``__init__``: the object is sent to the workers
        after ``__init__`` and before ``open``.

        >>> Function().open(None)
        """

    def close(self) -> None:
        """Clean up: called once per subtask after the last element, and after a failure.

        >>> Function().close()
        """


class FunctionWrapper(Function):
    """Wraps a plain callable as a function object.

    >>> FunctionWrapper(len)._func("abc")
    3
    """

    def __init__(self, func: Any) -> None:
        """Store the callable."""
        self._func = func


class JavaFunctionWrapper:
    """PyFlink's wrapper of a Java function. Raises NoJvmError with the alternatives in Python.

    >>> JavaFunctionWrapper("org.example.MySource")
    Traceback (most recent call last):
    ...
    headrace.errors.NoJvmError: A Java function cannot run in headrace [NO_JVM]
      seen:     org.example.MySource
      remedy:   write a SourceFunction or SinkFunction in Python, or use a connector of headrace.datastream.connectors
    """

    def __init__(self, j_function: object) -> None:
        """Raise NoJvmError: there is no Flink JVM."""
        raise NoJvmError(
            "A Java function cannot run in headrace",
            seen=j_function,
            remedy="write a SourceFunction or SinkFunction in Python, "
            "or use a connector of headrace.datastream.connectors",
        )

    def get_java_function(self) -> Any:
        """Raise NoJvmError: there is no Flink JVM."""
        raise NoJvmError("There is no Java function in headrace")


class CheckpointedFunction(ABC):
    """A function that gets its state in `initialize_state` and updates it in `snapshot_state`.

    >>> from headrace.common import Types
    >>> from headrace.datastream.functions import MapFunction
    >>> from headrace.datastream.state import ListStateDescriptor
    >>> class Numbering(MapFunction, CheckpointedFunction):
    ...     def initialize_state(self, context):
    ...         self.state = context.get_operator_state_store().get_list_state(
    ...             ListStateDescriptor("count", Types.LONG())
    ...         )
    ...         self.count = sum(self.state.get())
    ...
    ...     def snapshot_state(self, context):
    ...         self.state.update([self.count])
    ...
    ...     def map(self, value):
    ...         self.count += 1
    ...         return self.count, value
    """

    @abstractmethod
    def initialize_state(self, context: FunctionInitializationContext) -> None:
        """Get the state: called once per subtask, before `open`, at the first start and after a restore."""

    @abstractmethod
    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        """Update the state, which is saved when this returns."""


class ListCheckpointed(ABC):
    """A function whose state is a list that can be split between subtasks.

    >>> class Buffer(ListCheckpointed):
    ...     def __init__(self):
    ...         self.waiting = []
    ...
    ...     def snapshot_state(self, checkpoint_id, timestamp):
    ...         return self.waiting
    ...
    ...     def restore_state(self, state):
    ...         self.waiting = state
    """

    @abstractmethod
    def snapshot_state(self, checkpoint_id: int, timestamp: int) -> list[Any]:
        """Return the elements to save; ``None`` saves nothing."""

    @abstractmethod
    def restore_state(self, state: list[Any]) -> None:
        """Restore saved elements: called before `open`, only after a restore. Other subtasks may have saved them."""


class CheckpointListener(ABC):
    """Is notified when checkpoints complete. A failure may lose a notification; a later one covers it.

    >>> CheckpointListener().notify_checkpoint_complete(1)
    """

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Handle the completion of this checkpoint and all before it."""

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Handle an aborted checkpoint; its state is part of a later one."""
