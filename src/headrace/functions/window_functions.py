"""Functions that receive the contents of a window when it fires."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from headrace.functions.function import Function
from headrace.state.interfaces import KeyedStateStore

IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")
W = TypeVar("W")
W2 = TypeVar("W2")


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Computes results from the elements of a window.

    >>> class Total(WindowFunction):
    ...     def apply(self, key, window, inputs):
    ...         yield key, sum(inputs)
    >>> list(Total().apply("a", None, [1, 2]))
    [('a', 3)]
    """

    @abstractmethod
    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return the results for one key and window."""


class AllWindowFunction(Function, Generic[IN, OUT, W]):
    """Computes results from the elements of a window over a stream that is not keyed.

    >>> class Total(AllWindowFunction):
    ...     def apply(self, window, inputs):
    ...         yield sum(inputs)
    >>> list(Total().apply(None, [1, 2]))
    [3]
    """

    @abstractmethod
    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return the results for one window."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Computes results from the elements of a window, with access to the window, time and state.

    >>> class Bounds(ProcessWindowFunction):
    ...     def process(self, key, context, elements):
    ...         yield key, context.window(), len(list(elements))
    >>> Bounds().clear(None)
    """

    class Context(ABC, Generic[W2]):
        """Information about the window that fires."""

        @abstractmethod
        def window(self) -> W2:
            """Return the window."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the processing time in milliseconds."""

        @abstractmethod
        def current_watermark(self) -> int:
            """Return the current watermark in milliseconds."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """Return state of this key and window, which `clear` must clear."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """Return state of this key, which all its windows share."""

    @abstractmethod
    def process(self, key: KEY, context: ProcessWindowFunction.Context[W], elements: Iterable[IN]) -> Iterable[OUT]:
        """Return the results for one key and window."""

    def clear(self, context: ProcessWindowFunction.Context[W]) -> None:
        """Clear the window's state: called when the window is removed."""

    clear.does_nothing = True  # type: ignore[attr-defined]  # so that operators need not call it


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """Computes results from the elements of a window over a stream that is not keyed, with access to window and state.

    >>> class Count(ProcessAllWindowFunction):
    ...     def process(self, context, elements):
    ...         yield len(list(elements))
    >>> list(Count().process(None, "abc"))
    [3]
    """

    class Context(ABC, Generic[W2]):
        """Information about the window that fires."""

        @abstractmethod
        def window(self) -> W2:
            """Return the window."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """Return state of this window, which `clear` must clear."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """Return state that all windows share."""

    @abstractmethod
    def process(self, context: ProcessAllWindowFunction.Context[W], elements: Iterable[IN]) -> Iterable[OUT]:
        """Return the results for one window."""

    def clear(self, context: ProcessAllWindowFunction.Context[W]) -> None:
        """Clear the window's state: called when the window is removed."""

    clear.does_nothing = True  # type: ignore[attr-defined]  # so that operators need not call it


class PassThroughWindowFunction(WindowFunction[IN, IN, KEY, W]):
    """Returns the elements of the window unchanged.

    >>> list(PassThroughWindowFunction().apply("key", None, [1, 2]))
    [1, 2]
    """

    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[IN]:
        """Return ``inputs``."""
        yield from inputs


class PassThroughAllWindowFunction(AllWindowFunction[IN, IN, W]):
    """Returns the elements of the window unchanged.

    >>> list(PassThroughAllWindowFunction().apply(None, [1, 2]))
    [1, 2]
    """

    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[IN]:
        """Return ``inputs``."""
        yield from inputs
