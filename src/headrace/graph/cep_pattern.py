"""A CEP pattern as frozen data: what `headrace.cep.Pattern` builds and `headrace.operators.cep` compiles.

Defines the vocabulary, the error for an invalid pattern, and the text of a pattern in the grammar of
`headrace.cep.parser`. A pattern is a tuple of steps, first to last; a step that is a group holds another tuple of
steps. Spans are milliseconds. Nothing here looks at an event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from headrace.errors import InvalidProgramError


class MalformedPatternException(InvalidProgramError):
    """An invalid pattern. The message names the step.

    >>> error = MalformedPatternException.at("middle", "Only one until condition can be applied")
    >>> print(error)
    Only one until condition can be applied (pattern 'middle') [MALFORMED_PATTERN]
    >>> isinstance(error, ValueError)
    True
    """

    code = "MALFORMED_PATTERN"

    @classmethod
    def at(cls, name: str, message: str, remedy: str | None = None) -> MalformedPatternException:
        """Return the error for the step `name`."""
        return cls(f"{message} (pattern {name!r})", remedy=remedy)


class Contiguity(Enum):
    """How a step follows the previous one; within a loop, how its events follow each other."""

    STRICT = "next"
    RELAXED = "followed_by"
    ANY = "followed_by_any"
    NOT_NEXT = "not_next"
    NOT_FOLLOWED = "not_followed_by"

    @property
    def negated(self) -> bool:
        """Return whether the step must not occur."""
        return self in (Contiguity.NOT_NEXT, Contiguity.NOT_FOLLOWED)


class Repetition(Enum):
    """How often a step takes an event."""

    ONCE = "once"
    TIMES = "times"
    LOOP = "loop"


class SkipKind(Enum):
    """How other matches are skipped after a match was found."""

    NO_SKIP = "no_skip"
    TO_NEXT = "skip_to_next"
    PAST_LAST = "skip_past_last_event"
    TO_FIRST = "skip_to_first"
    TO_LAST = "skip_to_last"


@dataclass(frozen=True)
class Condition:
    """One condition: `call(event)`, or `call(event, context)` if it is iterative.

    `owner` is the object behind it if it has an `open` or `close` to call once per subtask.
    """

    call: Callable[..., Any]
    iterative: bool = False
    owner: Any = None


@dataclass(frozen=True)
class AllOf:
    """Both conditions hold; the right one is evaluated only if the left one holds."""

    left: ConditionTree
    right: ConditionTree


@dataclass(frozen=True)
class AnyOf:
    """At least one of the conditions holds; the right one is evaluated only if the left one does not."""

    left: ConditionTree
    right: ConditionTree


ConditionTree = Condition | AllOf | AnyOf


@dataclass(frozen=True)
class Step:
    """One step of a pattern.

    `least` and `most` bound `TIMES`; a `LOOP` has `least` only. `window` is the span from the first to the last event
    of the whole match, `gap` the span from the previous event to this step's, `loop_gap` the span inside a loop.
    """

    name: str
    contiguity: Contiguity
    condition: ConditionTree | None = None
    until: ConditionTree | None = None
    repetition: Repetition = Repetition.ONCE
    least: int = 1
    most: int = 1
    optional: bool = False
    greedy: bool = False
    inner: Contiguity = Contiguity.RELAXED
    window: int | None = None
    gap: int | None = None
    loop_gap: int | None = None
    group: tuple[Step, ...] | None = None


@dataclass(frozen=True)
class Skip:
    """An after-match skip strategy; `name` and `strict` (raise on a miss) belong to TO_FIRST and TO_LAST."""

    kind: SkipKind = SkipKind.NO_SKIP
    name: str | None = None
    strict: bool = False


@dataclass(frozen=True)
class PatternData:
    """A whole pattern."""

    steps: tuple[Step, ...]
    skip: Skip = Skip()


_BEFORE = {
    Contiguity.STRICT: "-> ",
    Contiguity.RELAXED: "",
    Contiguity.ANY: "..> ",
    Contiguity.NOT_NEXT: "-> !",
    Contiguity.NOT_FOLLOWED: "!",
}


def text_of(steps: tuple[Step, ...]) -> str:
    """Return the steps, without conditions and time limits.

    >>> loop = Step("b", Contiguity.RELAXED, repetition=Repetition.LOOP, optional=True)
    >>> text_of((Step("a", Contiguity.STRICT), loop, Step("c", Contiguity.STRICT)))
    'a b* -> c'
    """
    words = []
    for position, step in enumerate(steps):
        before = "" if position == 0 else _BEFORE[step.contiguity]
        words.append(before + (step.name if step.group is None else f"({text_of(step.group)})") + _quantifier(step))
    return " ".join(words)


def _quantifier(step: Step) -> str:
    optional = step.optional
    text = ""
    if step.repetition is Repetition.LOOP:
        text = "+" if step.least == 1 else f"{{{step.least},}}"
        if optional and step.least == 1:
            text, optional = "*", False
    elif step.repetition is Repetition.TIMES:
        text = f"{{{step.least}}}" if step.least == step.most else f"{{{step.least},{step.most}}}"
    text += "?" if optional else ""
    if step.repetition is not Repetition.ONCE:
        text += {Contiguity.STRICT: "!", Contiguity.ANY: "%"}.get(step.inner, "")
        text += "&" if step.greedy else ""
    return text
