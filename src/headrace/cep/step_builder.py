"""The settings of one step while a pattern is being built, and which settings are legal at each point.

Decides nothing about other steps except one rule (`optional` after a greedy step). Used by `Pattern`; becomes a frozen
`Step` when the pattern is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NoReturn

from headrace.errors import TypeMismatchError
from headrace.graph.cep_pattern import (
    AllOf,
    AnyOf,
    ConditionTree,
    Contiguity,
    MalformedPatternException,
    Repetition,
    Step,
)
from headrace.types.time import Duration, millis_of


class WithinType(Enum):
    """Between which events `Pattern.within` measures.

    >>> WithinType.FIRST_AND_LAST.name
    'FIRST_AND_LAST'
    """

    FIRST_AND_LAST = 0
    """From the first event of the match to its last."""
    PREVIOUS_AND_CURRENT = 1
    """From the previous event to the event of the step that has the limit."""


class StepBuilder:
    """A step that can still change; refuses meaningless settings with Flink's messages and the step's name.

    >>> builder = StepBuilder("a", Contiguity.STRICT)
    >>> builder.repeat(Repetition.LOOP, 1, 1, None)
    >>> builder.as_step().repetition
    <Repetition.LOOP: 'loop'>
    """

    def __init__(self, name: str, contiguity: Contiguity, group: Callable[[], tuple[Step, ...]] | None = None) -> None:
        # A group returns its steps at the end: the pattern inside may change until then.
        self.name = name
        self.contiguity = contiguity
        self.group = group
        self.condition: ConditionTree | None = None
        self.until: ConditionTree | None = None
        self.repetition = Repetition.ONCE
        self.least = self.most = 1
        self.loop_gap: int | None = None
        self.is_optional = self.is_greedy = False
        self.inner = Contiguity.RELAXED
        self.windows: dict[WithinType, int] = {}

    def as_step(self) -> Step:
        """Return the step as it is now."""
        return Step(
            name=self.name,
            contiguity=self.contiguity,
            condition=self.condition,
            until=self.until,
            repetition=self.repetition,
            least=self.least,
            most=self.most,
            optional=self.is_optional,
            greedy=self.is_greedy,
            inner=self.inner,
            window=self.windows.get(WithinType.FIRST_AND_LAST),
            gap=self.windows.get(WithinType.PREVIOUS_AND_CURRENT),
            loop_gap=self.loop_gap,
            group=None if self.group is None else self.group(),
        )

    def add_all_of(self, given: ConditionTree) -> None:
        """Add a condition that must hold too."""
        self.condition = given if self.condition is None else AllOf(self.condition, given)

    def add_any_of(self, given: ConditionTree) -> None:
        """Add a condition that may hold instead."""
        self.condition = given if self.condition is None else AnyOf(self.condition, given)

    def check_can_have_until(self) -> None:
        """Set the `until` condition of a loop."""
        if self.until is not None:
            self.refuse("Only one until condition can be applied.")
        if self.repetition is not Repetition.LOOP:
            self.refuse(
                "The until condition is only applicable to looping states.",
                "call one_or_more() or times_or_more() first",
            )

    def repeat(self, repetition: Repetition, least: int, most: int, window_time: Duration | None) -> None:
        """Set the quantifier; as in Flink this undoes an earlier `optional`."""
        self._check_wants_events()
        if self.repetition is not Repetition.ONCE:
            self.refuse(f"Already applied quantifier to this Pattern. Current quantifier is: {self.repetition.value}")
        self.check_count(least, 1)
        self.check_count(most, 1)
        if most < least:
            self.refuse(f"The to should be a number greater than or equal to from: {least}.")
        self.repetition, self.least, self.most = repetition, least, most
        self.loop_gap = None if window_time is None else millis_of(window_time, "window_time")
        self.is_optional = False

    def make_optional(self, previous: StepBuilder | None) -> None:
        """Make the step optional."""
        if previous is not None and previous.is_greedy:
            self.refuse("Optional pattern cannot be preceded by greedy pattern")
        if self.is_optional:
            self.refuse("Optional already applied!")
        if self.contiguity.negated:
            self.refuse("NOT pattern cannot be optional")
        self.is_optional = True

    def make_greedy(self) -> None:
        """Make the loop greedy."""
        self._check_wants_events()
        if self.group is not None:
            self.refuse("Option not applicable to group pattern")
        if self.inner is Contiguity.ANY:
            self.refuse("Option not applicable to FollowedByAny pattern")
        if self.repetition is Repetition.ONCE:
            self.refuse("Option not applicable to singleton quantifier", "call one_or_more() or times(...) first")
        self.is_greedy = True

    def set_inner(self, inner: Contiguity, what: str) -> None:
        """Set how the events of a loop follow each other."""
        if self.repetition is Repetition.ONCE:
            self.refuse(f"{what} not applicable to a single pattern!", "call one_or_more() or times(...) first")
        if self.inner is inner:
            self.refuse(f"{what} already applied!")
        if self.inner is not Contiguity.RELAXED:
            self.refuse("You can apply either combinations or consecutive, not both!")
        self.inner = inner

    def check_count(self, count: object, lowest: int) -> None:
        """Check that a count is an integer and large enough."""
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeMismatchError(f"times takes whole numbers (pattern {self.name!r})", seen=count, expected="int")
        if count < lowest:
            self.refuse("You should give a positive number greater than 0.")

    def _check_wants_events(self) -> None:
        if self.contiguity.negated:
            self.refuse("Option not applicable to NOT pattern")

    def refuse(self, message: str, remedy: str | None = None) -> NoReturn:
        """Raise an error that names this step."""
        raise MalformedPatternException.at(self.name, message, remedy)
