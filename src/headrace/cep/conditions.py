"""SimpleCondition and IterativeCondition, and the other arguments of `where`, `or_` and `until`.

Decides how a condition is called: with the event, or with the event and a context. A callable that needs two arguments
gets both; everything else gets the event.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace.errors import TypeMismatchError
from headrace.graph.cep_pattern import Condition


class IterativeCondition(ABC):
    """A condition that can see the events its partial match has taken so far.

    >>> class Rising(IterativeCondition):
    ...     def filter(self, value, ctx):
    ...         return all(value > before for before in ctx.get_events_for_pattern("rise"))
    >>> condition_of(Rising(), "rise").iterative
    True
    """

    class Context(ABC):
        """What the condition can see."""

        @abstractmethod
        def get_events_for_pattern(self, name: str) -> list[Any]:
            """Return the events that the step ``name`` has taken in this partial match, in order."""

        @abstractmethod
        def timestamp(self) -> int:
            """Return the time of the event: its timestamp, or in processing time the clock at its arrival."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """Return the clock, in milliseconds."""

    @abstractmethod
    def filter(self, value: Any, ctx: IterativeCondition.Context) -> bool:
        """Return whether the event fits."""


class SimpleCondition(ABC):
    """A condition on the event alone.

    >>> class Failed(SimpleCondition):
    ...     def filter(self, value):
    ...         return value["type"] == "failed"
    >>> condition_of(Failed(), "login").iterative
    False
    """

    @abstractmethod
    def filter(self, value: Any) -> bool:
        """Return whether the event fits."""

    @staticmethod
    def of(predicate: Callable[[Any], Any]) -> SimpleCondition:
        """Make a condition of a function.

        >>> SimpleCondition.of(str.isdigit).filter("7")
        True
        """
        return _Predicate(predicate)


class _Predicate(SimpleCondition):
    def __init__(self, predicate: Callable[[Any], Any]) -> None:
        self._predicate = predicate

    def filter(self, value: Any) -> bool:
        return bool(self._predicate(value))


@dataclass(frozen=True)
class SubtypeCondition:
    """Holds for instances of `cls`; added by `Pattern.subtype`.

    >>> SubtypeCondition(int)(3)
    True
    """

    cls: type | tuple[type, ...]

    def __call__(self, value: Any) -> bool:
        """Check one event."""
        return isinstance(value, self.cls)


def condition_of(given: Any, where: str) -> Condition:
    """Return the condition as data; ``where`` names the step in errors.

    >>> condition_of(lambda event, ctx: True, "a").iterative, condition_of(bool, "a").iterative
    (True, False)
    """
    if isinstance(given, type) and issubclass(given, (SimpleCondition, IterativeCondition)):
        raise TypeMismatchError(
            f"A condition is an object, not a class (pattern {where!r})", seen=given, remedy=f"write {given.__name__}()"
        )
    owner = None
    call = given
    if not isinstance(given, type) and callable(getattr(given, "filter", None)):
        call = given.filter
        lives = any(callable(getattr(given, name, None)) for name in ("open", "close"))
        owner = given if lives else None
    if not callable(call):
        raise TypeMismatchError(
            f"A condition is a callable of (event) or (event, ctx), a SimpleCondition or an IterativeCondition "
            f"(pattern {where!r})",
            seen="None" if given is None else given,
        )
    if isinstance(given, (SimpleCondition, IterativeCondition)):
        return Condition(call, isinstance(given, IterativeCondition), owner)
    return Condition(call, _wants_context(call), owner)


def _wants_context(call: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(call).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = [p for p in parameters if p.kind in positional and p.default is inspect.Parameter.empty]
    return len(needed) == 2
