"""The functions that turn matches into results.

A match is a dict from step names, in pattern order, to lists of events, in order; steps without events are absent.
Functions emit by yielding or by returning an iterable; a `select` returns its one result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.functions import Function


class PatternProcessFunction(Function):
    """Handles matches, with access to time and side outputs.

    >>> class Names(PatternProcessFunction):
    ...     def process_match(self, match, ctx):
    ...         yield list(match)
    >>> list(Names().process_match({"a": [1], "b": [2]}, None))
    [['a', 'b']]
    """

    class Context(ABC):
        """What the function can see besides the match."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the time of the event that completed the match, or when the window of a timed-out one ended."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the clock, in milliseconds."""

        @abstractmethod
        def output(self, output_tag: OutputTag, value: Any) -> None:
            """Emit to a side output; ``yield output_tag, value`` does the same."""

    @abstractmethod
    def process_match(self, match: dict[str, list[Any]], ctx: PatternProcessFunction.Context) -> Iterable[Any] | None:
        """Handle one match."""


class TimedOutPartialMatchHandler(ABC):
    """A mixin for a `PatternProcessFunction` that handles partial matches whose window has ended.

    >>> class Unpaid(PatternProcessFunction, TimedOutPartialMatchHandler):
    ...     def process_match(self, match, ctx):
    ...         yield "paid"
    ...
    ...     def process_timed_out_match(self, match, ctx):
    ...         yield OutputTag("unpaid"), match["order"][0]
    >>> isinstance(Unpaid(), TimedOutPartialMatchHandler)
    True
    """

    @abstractmethod
    def process_timed_out_match(
        self, match: dict[str, list[Any]], ctx: PatternProcessFunction.Context
    ) -> Iterable[Any] | None:
        """Handle one timed-out partial match: all events it has taken."""


class PatternSelectFunction(Function):
    """Turns each match into one result.

    >>> class First(PatternSelectFunction):
    ...     def select(self, match):
    ...         return match["a"][0]
    >>> First().select({"a": [1]})
    1
    """

    @abstractmethod
    def select(self, match: dict[str, list[Any]]) -> Any:
        """Return the result for a match."""


class PatternFlatSelectFunction(Function):
    """Turns each match into any number of results.

    >>> class Each(PatternFlatSelectFunction):
    ...     def flat_select(self, match):
    ...         yield from match["a"]
    >>> list(Each().flat_select({"a": [1, 2]}))
    [1, 2]
    """

    @abstractmethod
    def flat_select(self, match: dict[str, list[Any]]) -> Iterable[Any] | None:
        """Return the results for a match."""


class PatternTimeoutFunction(Function):
    """Turns each timed-out partial match into one element of a side output.

    >>> class Started(PatternTimeoutFunction):
    ...     def timeout(self, match, timeout_timestamp):
    ...         return match["a"][0], timeout_timestamp
    >>> Started().timeout({"a": [1]}, 17)
    (1, 17)
    """

    @abstractmethod
    def timeout(self, match: dict[str, list[Any]], timeout_timestamp: int) -> Any:
        """Return the element for a partial match whose window ended at ``timeout_timestamp``."""


class PatternFlatTimeoutFunction(Function):
    """Turns each timed-out partial match into any number of elements of a side output.

    >>> class Each(PatternFlatTimeoutFunction):
    ...     def timeout(self, match, timeout_timestamp):
    ...         yield from match["a"]
    >>> list(Each().timeout({"a": [1, 2]}, 17))
    [1, 2]
    """

    @abstractmethod
    def timeout(self, match: dict[str, list[Any]], timeout_timestamp: int) -> Iterable[Any] | None:
        """Return the elements for a partial match whose window ended at ``timeout_timestamp``."""
