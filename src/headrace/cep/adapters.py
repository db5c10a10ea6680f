"""`select` and `flat_select` as process functions: the CEP operator knows only `process_match`.

Made by `PatternStream`. An adapter without a timeout function has no `process_timed_out_match`, so timed-out matches
are not even assembled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from headrace.cep.functions import PatternProcessFunction, TimedOutPartialMatchHandler
from headrace.common.output_tag import OutputTag
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.functions import Function
from headrace.functions.checks import check_or_callable

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
