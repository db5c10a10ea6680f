"""Pattern: what to look for, built step by step; GroupPattern: a whole pattern as one step of another.

As in Flink, `next` and its relatives return a new step after this one; all other methods change this step and return it.
`StepBuilder` decides what is legal; `data()` returns the whole pattern as frozen data, for the compiler and the operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from headrace.cep.after_match_skip_strategy import AfterMatchSkipStrategy
from headrace.cep.conditions import SubtypeCondition, condition_of
from headrace.cep.step_builder import StepBuilder, WithinType
from headrace.errors import TypeMismatchError
from headrace.graph.cep_pattern import (
    Condition,
    Contiguity,
    MalformedPatternException,
    PatternData,
    Repetition,
    text_of,
)
from headrace.types.time import Duration, millis_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from headrace.cep.description import PatternDescription

_RESERVED = "$endState$"
_OPTIONAL_BEFORE_NOT = (
    "Specifying a pattern with an optional path to NOT condition is not supported yet. You can simulate such pattern "
    "with two independent patterns, one with and the other without the optional part."
)


class Pattern:
    """One step of a pattern, with the steps before it.

    >>> pattern = (
    ...     Pattern.begin("start")
    ...     .where(lambda event: event["id"] == 42)
    ...     .next("middle")
    ...     .where(lambda event: event["volume"] >= 10.0)
    ...     .followed_by("end")
    ...     .where(lambda event: event["name"] == "end")
    ...     .within(Duration.of_seconds(10))
    ... )
    >>> pattern
    Pattern('start -> middle end')
    """

    def __init__(self, step: StepBuilder, previous: Pattern | None, skip_strategy: AfterMatchSkipStrategy) -> None:
        """Programs call `Pattern.begin` and the methods of patterns."""
        self.step = step
        self._previous = previous
        self._skip_strategy = skip_strategy

    @staticmethod
    def begin(name_or_pattern: str | Pattern, skip_strategy: AfterMatchSkipStrategy | None = None) -> Pattern:
        """Start a pattern with a step, or with a group.

        >>> Pattern.begin("start", AfterMatchSkipStrategy.skip_past_last_event()).get_name()
        'start'
        """
        if skip_strategy is None:
            skip_strategy = AfterMatchSkipStrategy.no_skip()
        elif not isinstance(skip_strategy, AfterMatchSkipStrategy):
            raise TypeMismatchError(
                "begin takes a skip strategy", seen=skip_strategy, expected="an AfterMatchSkipStrategy"
            )
        return _step(name_or_pattern, None, Contiguity.STRICT, skip_strategy)

    @staticmethod
    def parse(
        text: str, conditions: Mapping[str, Any] | None = None, skip_strategy: AfterMatchSkipStrategy | None = None
    ) -> Pattern:
        """Build a pattern from a string such as ``"a b+ c? within 10s"``; see `headrace.cep.parser` for the grammar.

        >>> Pattern.parse("login fail{3}! within 1 min", {"fail": lambda event: event == "fail"})
        Pattern('login fail{3}!')
        """
        from headrace.cep.parser import parse_pattern

        return parse_pattern(text, conditions or {}, skip_strategy)

    def next(self, name: str | Pattern) -> Pattern:
        """Continue with a step (or group) whose first event is the very next one."""
        return _step(name, self, Contiguity.STRICT, self._skip_strategy)

    def followed_by(self, name: str | Pattern) -> Pattern:
        """Continue with a step (or group); events that do not fit may come before it."""
        return _step(name, self, Contiguity.RELAXED, self._skip_strategy)

    def followed_by_any(self, name: str | Pattern) -> Pattern:
        """Continue with a step (or group); any events may come before it, and each that fits makes separate matches."""
        return _step(name, self, Contiguity.ANY, self._skip_strategy)

    def not_next(self, name: str) -> Pattern:
        """Require that the very next event does not fit."""
        return self._not(name, Contiguity.NOT_NEXT)

    def not_followed_by(self, name: str) -> Pattern:
        """Require that no event fits until the next step takes one, or until the window ends."""
        return self._not(name, Contiguity.NOT_FOLLOWED)

    def _not(self, name: str, contiguity: Contiguity) -> Pattern:
        if isinstance(name, Pattern):
            raise MalformedPatternException.at(name.get_name(), "A group cannot be a NOT pattern")
        if self.step.is_optional:
            self.step.refuse(_OPTIONAL_BEFORE_NOT)
        return _step(name, self, contiguity, self._skip_strategy)

    def where(self, condition: Any) -> Self:
        """Require that an event of this step fits ``condition``, and all earlier conditions.

        >>> Pattern.begin("a").where(str.isdigit).where(lambda event, ctx: True)
        Pattern('a')
        """
        self.step.add_all_of(condition_of(condition, self.get_name()))
        return self

    def or_(self, condition: Any) -> Self:
        """Accept events that fit ``condition``, besides those that fit earlier conditions."""
        self.step.add_any_of(condition_of(condition, self.get_name()))
        return self

    def subtype(self, subtype_class: Any) -> Self:
        """Require that events are instances of a class (or of one of a tuple of classes).

        >>> Pattern.begin("number").subtype(int).where(lambda number: number > 3)
        Pattern('number')
        """
        classes = subtype_class if isinstance(subtype_class, tuple) else (subtype_class,)
        if not classes or not all(isinstance(c, type) for c in classes):
            raise TypeMismatchError(f"subtype takes a class (pattern {self.get_name()!r})", seen=subtype_class)
        self.step.add_all_of(Condition(SubtypeCondition(subtype_class)))
        return self

    def until(self, condition: Any) -> Self:
        """End a loop at the first event that fits ``condition``: it is not part of the loop, and the loop stops waiting."""
        self.step.check_can_have_until()
        self.step.until = condition_of(condition, self.get_name())
        return self

    def times(self, from_: int, to: int | Duration | None = None, window_time: Duration | None = None) -> Self:
        """Take exactly ``from_`` events, or from ``from_`` to ``to``; ``window_time`` limits the gaps between them.

        >>> Pattern.begin("a").times(2), Pattern.begin("a").times(2, 4), Pattern.begin("a").times(0, 2)
        (Pattern('a{2}'), Pattern('a{2,4}'), Pattern('a{1,2}?'))
        """
        if to is not None and not isinstance(to, int):
            to, window_time = None, to
        self.step.check_count(from_, 1 if to is None else 0)
        least = max(from_, 1)
        self.step.repeat(Repetition.TIMES, least, least if to is None else to, window_time)
        self.step.is_optional = from_ == 0
        return self

    def times_or_more(self, times: int, window_time: Duration | None = None) -> Self:
        """Take ``times`` events or more."""
        self.step.repeat(Repetition.LOOP, times, times, window_time)
        return self

    def one_or_more(self, window_time: Duration | None = None) -> Self:
        """Take one event or more: a loop, with a match for every number of events."""
        self.step.repeat(Repetition.LOOP, 1, 1, window_time)
        return self

    def optional(self) -> Self:
        """Make the step optional."""
        self.step.make_optional(None if self._previous is None else self._previous.step)
        return self

    def greedy(self) -> Self:
        """Let a loop take all it can before the next step takes anything; no effect on the last step."""
        self.step.make_greedy()
        return self

    def consecutive(self) -> Self:
        """Require that the events of a loop follow each other directly."""
        self.step.set_inner(Contiguity.STRICT, "Consecutive")
        return self

    def allow_combinations(self) -> Self:
        """Let a loop skip events that fit: every combination is a match."""
        self.step.set_inner(Contiguity.ANY, "Combinations")
        return self

    def within(self, window_time: Duration | None, within_type: WithinType = WithinType.FIRST_AND_LAST) -> Self:
        """Limit the time: of the whole match, or from the previous event to this step's.

        The end is exclusive. The smallest limit of all steps applies to the whole match.
        """
        if not isinstance(within_type, WithinType):
            raise TypeMismatchError("within takes a WithinType", seen=within_type)
        if window_time is not None:
            self.step.windows[within_type] = millis_of(window_time, "within")
        return self

    def get_name(self) -> str:
        """Return the name of this step; of a group, its contents."""
        return self.step.name

    def get_previous(self) -> Pattern | None:
        """Return the step before this one."""
        return self._previous

    def get_after_match_skip_strategy(self) -> AfterMatchSkipStrategy:
        """Return the skip strategy that the pattern began with."""
        return self._skip_strategy

    def data(self) -> PatternData:
        """Return the whole pattern, from its first step to this one, as frozen data."""
        steps = []
        at: Pattern | None = self
        while at is not None:
            steps.append(at.step.as_step())
            at = at.get_previous()
        return PatternData(tuple(reversed(steps)), self._skip_strategy.data)

    def describe(self) -> PatternDescription:
        """Compile the pattern. Return its states and edges, drawings, and warnings.

        >>> print(Pattern.begin("a").followed_by("b").describe())  # doctest: +ELLIPSIS
        pattern: a b
        ...
        """
        from headrace.cep.description import describe

        return describe(self.data())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({text_of(self.data().steps)!r})"


def _step(
    name: object, previous: Pattern | None, contiguity: Contiguity, skip_strategy: AfterMatchSkipStrategy
) -> Pattern:

    if isinstance(name, Pattern):
        return GroupPattern(name, previous, contiguity, skip_strategy)
    if not isinstance(name, str):
        raise TypeMismatchError(
            "A step is given by its name, or by a pattern",
            seen="None" if name is None else name,
            expected="a str or a Pattern",
        )
    if not name or ":" in name or name == _RESERVED:
        raise MalformedPatternException.at(
            name, "A pattern name must not be empty, must not contain ':' and must not be $endState$"
        )
    return Pattern(StepBuilder(name, contiguity), previous, skip_strategy)


class GroupPattern(Pattern):
    """A step that is a pattern; it can be repeated and optional, but has no conditions itself.

    >>> pair = Pattern.begin("a").followed_by("b")
    >>> group = Pattern.begin("start").followed_by(pair).times(2)
    >>> isinstance(group, GroupPattern)
    True
    >>> group.where(bool)
    Traceback (most recent call last):
    ...
    headrace.graph.cep_pattern.MalformedPatternException: GroupPattern does not support where clause. (pattern '(a b)') [MALFORMED_PATTERN]
      remedy:   write the condition on a step inside of the group
    """  # noqa: E501 - the message is Flink's

    def __init__(
        self,
        raw_pattern: Pattern,
        previous: Pattern | None,
        contiguity: Contiguity,
        skip_strategy: AfterMatchSkipStrategy,
    ) -> None:
        """Programs pass a pattern to `Pattern.begin`, `next`, `followed_by` or `followed_by_any`."""
        name = f"({text_of(raw_pattern.data().steps)})"
        step = StepBuilder(name, contiguity, lambda: raw_pattern.data().steps)
        super().__init__(step, previous, skip_strategy)
        self._raw_pattern = raw_pattern

    def get_raw_pattern(self) -> Pattern:
        """Return the pattern inside."""
        return self._raw_pattern

    def where(self, condition: Any) -> NoReturn:
        """Refuse: conditions belong to the steps inside."""
        self._refuse("where")

    def or_(self, condition: Any) -> NoReturn:
        """Refuse: conditions belong to the steps inside."""
        self._refuse("or")

    def subtype(self, subtype_class: Any) -> NoReturn:
        """Refuse: conditions belong to the steps inside."""
        self._refuse("subtype")

    def _refuse(self, clause: str) -> NoReturn:
        self.step.refuse(
            f"GroupPattern does not support {clause} clause.", "write the condition on a step inside of the group"
        )
