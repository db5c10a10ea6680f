"""Function: the base class of all functions of a program, with the hooks `open` and `close`."""

from __future__ import annotations

from abc import ABC
from types import GenericAlias
from typing import TYPE_CHECKING, Any

from headrace.errors import NoJvmError

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
