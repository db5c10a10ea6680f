"""Function: what all functions of a program have in common, their life in a subtask.

Decides nothing but the shape of `open` and `close`. Programs write subclasses; the operators call them.
"""

from __future__ import annotations

from abc import ABC
from types import GenericAlias
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headrace.functions.runtime_context import RuntimeContext

__all__ = ["Function", "FunctionWrapper"]


class Function(ABC):
    """The base of all functions. Each subtask has an object of its own, opened once and closed once.

    >>> class Greeter(Function):
    ...     def open(self, runtime_context):
    ...         self.greeting = "hello"
    >>> greeter = Greeter()
    >>> greeter.open(None)
    >>> greeter.greeting
    'hello'
    """

    def __class_getitem__(cls, types: Any) -> GenericAlias:
        """Let a function name the types of its values, which changes nothing.

        >>> class Words(Function[str, list]):
        ...     def open(self, runtime_context):
        ...         pass
        >>> Words.__mro__[1] is Function
        True
        """
        return GenericAlias(cls, types)

    def open(self, runtime_context: RuntimeContext) -> None:
        """Prepare for work: called once per subtask before the first element.

        Connections, caches and state handles belong here and not into ``__init__``: the object travels to the
        workers after ``__init__`` and before ``open``.

        >>> Function().open(None)
        """

    def close(self) -> None:
        """Clean up: called once per subtask after the last element, and after a failure.

        >>> Function().close()
        """


class FunctionWrapper(Function):
    """Holds a plain callable where a function object is wanted.

    >>> FunctionWrapper(len)._func("abc")
    3
    """

    def __init__(self, func: Any) -> None:
        """Keep the callable."""
        self._func = func
