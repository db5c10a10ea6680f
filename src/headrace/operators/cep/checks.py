"""Checks of a pattern before it is compiled: names are unique and legal, the skip strategy names a step."""

from __future__ import annotations

from collections.abc import Iterator

from headrace.graph.cep_pattern import PatternData, Step
from headrace.graph.malformed_pattern import MalformedPatternException

RESERVED = "$endState$"


def all_steps(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Return the steps, with the steps of groups instead of the groups."""
    for step in steps:
        if step.group is None:
            yield step
        else:
            yield from all_steps(step.group)


def check_pattern(pattern: PatternData) -> None:
    """Raise `MalformedPatternException` for names that clash or are missing.

    >>> from headrace.graph.cep_pattern import Contiguity
    >>> check_pattern(PatternData((Step("a", Contiguity.STRICT), Step("a", Contiguity.STRICT))))
    Traceback (most recent call last):
    ...
    headrace.graph.malformed_pattern.MalformedPatternException: Duplicate pattern name: a. Names must be unique. (pattern 'a') [MALFORMED_PATTERN]
    """  # noqa: E501 - the message is Flink's
    seen = {RESERVED}
    for step in all_steps(pattern.steps):
        if step.name in seen:
            raise MalformedPatternException.at(step.name, f"Duplicate pattern name: {step.name}. Names must be unique.")
        seen.add(step.name)
    wanted = pattern.skip.name
    if wanted is not None and wanted not in {step.name for step in pattern.steps if step.group is None}:
        raise MalformedPatternException.at(
            wanted,
            "The pattern name specified in AfterMatchSkipStrategy can not be found in the given Pattern",
            remedy="name a step of the pattern itself (steps inside of a group cannot be skipped to)",
        )
