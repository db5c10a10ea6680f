"""GroupPattern: a whole pattern as one step of another."""

from __future__ import annotations

from typing import Any, NoReturn

from headrace.cep.after_match_skip_strategy import AfterMatchSkipStrategy
from headrace.cep.pattern import Pattern
from headrace.cep.step_builder import StepBuilder
from headrace.graph.cep_pattern import Contiguity, text_of


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
