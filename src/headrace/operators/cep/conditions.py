"""Conditions as callables, and the context of iterative ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from headrace.graph.cep_pattern import AllOf, Condition, ConditionTree, PatternData, Step
from headrace.operators.cep.shared_buffer import Link


class ConditionContext:
    """The `ctx` of an iterative condition: the events of its own branch, without the current one."""

    __slots__ = ("_now", "link", "time")

    def __init__(self, now: Callable[[], int]) -> None:
        self.link: Link | None = None
        self.time = 0
        self._now = now

    def get_events_for_pattern(self, name: str) -> list[Any]:
        """Return the events that the step `name` has taken so far in this partial match, in order."""
        events = []
        link = self.link
        while link is not None:
            if link[0] == name:
                events.append(link[2])
            link = link[3]
        events.reverse()
        return events

    def timestamp(self) -> int:
        """Return the time of the current event."""
        return self.time

    def current_processing_time(self) -> int:
        """Return the clock."""
        return self._now()


def callable_of(tree: ConditionTree) -> tuple[Callable[..., Any], bool]:
    """Return one callable for the tree, and whether it is iterative: then it takes the event and the context.

    >>> call, iterative = callable_of(AllOf(Condition(str.isalpha), Condition(str.isupper)))
    >>> call("A"), call("a"), call("1"), iterative
    (True, False, False, False)
    """
    if isinstance(tree, Condition):
        return tree.call, tree.iterative
    (left, left_iterates), (right, right_iterates) = callable_of(tree.left), callable_of(tree.right)
    both = isinstance(tree, AllOf)
    if not left_iterates and not right_iterates:
        if both:
            return lambda event: left(event) and right(event), False
        return lambda event: left(event) or right(event), False
    first, second = _with_context(left, left_iterates), _with_context(right, right_iterates)
    if both:
        return lambda event, ctx: first(event, ctx) and second(event, ctx), True
    return lambda event, ctx: first(event, ctx) or second(event, ctx), True


def kinds_of(tree: ConditionTree) -> set[bool]:
    """Return which kinds of conditions are in the tree: iterative ones (True), others (False).

    >>> kinds_of(AllOf(Condition(str.isalpha), Condition(str.isupper)))
    {False}
    """
    return {tree.iterative} if isinstance(tree, Condition) else kinds_of(tree.left) | kinds_of(tree.right)


def _with_context(call: Callable[..., Any], iterates: bool) -> Callable[..., Any]:
    return call if iterates else lambda event, ctx: call(event)


def owners_of(pattern: PatternData) -> list[Any]:
    """Return the condition objects that have an `open` or `close`, each once."""
    found: dict[int, Any] = {}
    for tree in _trees(pattern.steps):
        waiting = [tree]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, Condition):
                waiting += [part.left, part.right]
            elif part.owner is not None:
                found[id(part.owner)] = part.owner
    return list(found.values())


def _trees(steps: tuple[Step, ...]) -> Iterator[ConditionTree]:
    for step in steps:
        if step.group is not None:
            yield from _trees(step.group)
        if step.condition is not None:
            yield step.condition
        if step.until is not None:
            yield step.until
