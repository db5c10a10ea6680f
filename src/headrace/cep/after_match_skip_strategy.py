"""AfterMatchSkipStrategy: which other matches in progress a found match drops."""

from __future__ import annotations

from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.graph.cep_pattern import Skip, SkipKind


class AfterMatchSkipStrategy:
    """An argument of `Pattern.begin`; without one nothing is skipped.

    >>> AfterMatchSkipStrategy.skip_to_last("b").throw_exception_on_miss()
    AfterMatchSkipStrategy.skip_to_last('b').throw_exception_on_miss()
    """

    def __init__(self, data: Skip) -> None:
        """Programs call the static methods."""
        self.data = data

    @staticmethod
    def no_skip() -> AfterMatchSkipStrategy:
        """Return every match.

        >>> AfterMatchSkipStrategy.no_skip().is_skip_strategy()
        False
        """
        return AfterMatchSkipStrategy(Skip())

    @staticmethod
    def skip_to_next() -> AfterMatchSkipStrategy:
        """Drop every partial match that started with the same event.

        >>> AfterMatchSkipStrategy.skip_to_next()
        AfterMatchSkipStrategy.skip_to_next()
        """
        return AfterMatchSkipStrategy(Skip(SkipKind.TO_NEXT))

    @staticmethod
    def skip_past_last_event() -> AfterMatchSkipStrategy:
        """Drop every partial match that started before the match ended.

        >>> AfterMatchSkipStrategy.skip_past_last_event().is_skip_strategy()
        True
        """
        return AfterMatchSkipStrategy(Skip(SkipKind.PAST_LAST))

    @staticmethod
    def skip_to_first(pattern_name: str) -> AfterMatchSkipStrategy:
        """Drop every partial match that started before the first event of the step ``pattern_name``.

        >>> AfterMatchSkipStrategy.skip_to_first("b").get_pattern_name()
        'b'
        """
        return AfterMatchSkipStrategy(Skip(SkipKind.TO_FIRST, _checked(pattern_name)))

    @staticmethod
    def skip_to_last(pattern_name: str) -> AfterMatchSkipStrategy:
        """Drop every partial match that started before the last event of the step ``pattern_name``.

        >>> AfterMatchSkipStrategy.skip_to_last("b").get_pattern_name()
        'b'
        """
        return AfterMatchSkipStrategy(Skip(SkipKind.TO_LAST, _checked(pattern_name)))

    def throw_exception_on_miss(self) -> AfterMatchSkipStrategy:
        """Fail if a match has no event of the step, or if that is the match's first event.

        >>> AfterMatchSkipStrategy.skip_to_next().throw_exception_on_miss()
        Traceback (most recent call last):
        ...
        headrace.errors.InvalidProgramError: Only skip_to_first and skip_to_last can miss [INVALID_PROGRAM]
          seen:     AfterMatchSkipStrategy.skip_to_next()
        """
        if self.data.name is None:
            raise InvalidProgramError("Only skip_to_first and skip_to_last can miss", seen=repr(self))
        return AfterMatchSkipStrategy(Skip(self.data.kind, self.data.name, strict=True))

    def is_skip_strategy(self) -> bool:
        """Return whether anything is ever skipped."""
        return self.data.kind is not SkipKind.NO_SKIP

    def get_pattern_name(self) -> str | None:
        """Return the step that is skipped to, if there is one."""
        return self.data.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AfterMatchSkipStrategy) and other.data == self.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __repr__(self) -> str:
        named = "" if self.data.name is None else repr(self.data.name)
        missing = ".throw_exception_on_miss()" if self.data.strict else ""
        return f"AfterMatchSkipStrategy.{self.data.kind.value}({named}){missing}"


def _checked(name: object) -> str:
    if not isinstance(name, str):
        raise TypeMismatchError("A skip strategy names a step of the pattern", seen=name, expected="a str")
    return name
