"""The functions that turn matches into results.

A match is a dict from step names, in pattern order, to lists of events, in order; steps without events are absent.
Functions emit by yielding or by returning an iterable; a `select` returns its one result. `PatternStream` adapts `select` and
`flat_select` to process functions. Without a timeout function, timed-out matches are not even assembled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions import Function
from headrace.functions.checks import check_or_callable


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


Match = dict[str, list[Any]]
Context = PatternProcessFunction.Context


def check_pair(timeout_tag: object, timeout_fn: object, wanted: type[Function]) -> None:
    """Refuse a timeout function without a tag, and vice versa.

    >>> check_pair(None, None, Function)
    """
    if timeout_tag is None and timeout_fn is None:
        return
    if timeout_tag is None or timeout_fn is None:
        raise InvalidProgramError(
            "Timed-out matches need both a tag and a function",
            seen=f"timeout_tag={timeout_tag!r}, timeout_fn={timeout_fn!r}",
            remedy="give both timeout_tag and timeout_fn, or none of them",
        )
    if not isinstance(timeout_tag, OutputTag):
        raise TypeMismatchError("timeout_tag is an OutputTag", seen=timeout_tag)
    check_or_callable(timeout_fn, wanted, f"timeout_fn must be a {wanted.__name__} or a callable function")


class _Adapter(PatternProcessFunction):
    """Opens and closes the functions that it wraps."""

    method = ""

    def __init__(self, func: Any, timeout_tag: OutputTag | None, timeout_fn: Any) -> None:
        self._parts = [f for f in (func, timeout_fn) if f is not None]
        self._call = getattr(func, self.method, func)
        self._tag: Any = timeout_tag
        self._timeout = getattr(timeout_fn, "timeout", timeout_fn)

    def open(self, runtime_context: Any) -> None:
        """Open the functions that have an `open`."""
        for part in self._parts:
            opener = getattr(part, "open", None)
            if callable(opener):
                opener(runtime_context)

    def close(self) -> None:
        """Close the functions that have a `close`."""
        for part in self._parts:
            closer = getattr(part, "close", None)
            if callable(closer):
                closer()


class SelectAdapter(_Adapter):
    """One result per match.

    >>> adapter = SelectAdapter.of(lambda match: match["a"], None, None)
    >>> adapter.process_match({"a": [1]}, None)
    ([1],)
    """

    method = "select"

    @staticmethod
    def of(func: Any, timeout_tag: OutputTag | None, timeout_fn: Any) -> SelectAdapter:
        """Return the adapter with or without timeouts."""
        kind = SelectAdapter if timeout_fn is None else _TimeoutSelectAdapter
        return kind(func, timeout_tag, timeout_fn)

    def process_match(self, match: Match, ctx: Context) -> Iterable[Any]:
        """Call the select function."""
        return (self._call(match),)


class _TimeoutSelectAdapter(SelectAdapter, TimedOutPartialMatchHandler):
    def process_timed_out_match(self, match: Match, ctx: Context) -> None:
        ctx.output(self._tag, self._timeout(match, ctx.timestamp()))


class FlatSelectAdapter(_Adapter):
    """Any number of results per match."""

    method = "flat_select"

    @staticmethod
    def of(func: Any, timeout_tag: OutputTag | None, timeout_fn: Any) -> FlatSelectAdapter:
        """Return the adapter with or without timeouts."""
        kind = FlatSelectAdapter if timeout_fn is None else _TimeoutFlatSelectAdapter
        return kind(func, timeout_tag, timeout_fn)

    def process_match(self, match: Match, ctx: Context) -> Iterable[Any] | None:
        """Call the flat select function."""
        given: Iterable[Any] | None = self._call(match)
        return given


class _TimeoutFlatSelectAdapter(FlatSelectAdapter, TimedOutPartialMatchHandler):
    def process_timed_out_match(self, match: Match, ctx: Context) -> None:
        given = self._timeout(match, ctx.timestamp())
        for value in given if given is not None else ():
            ctx.output(self._tag, value)
