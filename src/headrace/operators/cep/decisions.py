"""The moves of a branch in a state for an event: a tree of questions with moves at its leaves.

The questions are the conditions on the state's edges (and on those of the states it proceeds to), in the order and with
the short cuts of the formulas; each is asked at most once. A tree grows on demand: only answers that occurred have nodes,
so a pattern with many optional steps does not explode. Pure; the matcher walks the trees. Conditions are callables; iterative
ones also get a context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from headrace.graph.cep_pattern import AllOf, Condition, ConditionTree, PatternData, Step
from headrace.operators.cep.nfa import Action, Edge, Formula, Nfa, State, StateKind, holds
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


LEAF = -1
NOWHERE = -1

Move = tuple["str | None", int, bool]
"""(step that takes the event, or None if it is ignored; state of the new branch, or NOWHERE; whether the match is complete)"""


class Decision:
    """A question (`atom` is the number of a condition) or a leaf (`atom` is LEAF) with the moves of the branch."""

    __slots__ = ("answers", "atom", "discards", "moves", "no", "state", "stays", "yes")

    def __init__(self, state: State, answers: dict[int, bool]) -> None:
        self.state = state
        self.answers = answers
        self.atom = LEAF
        self.yes: Decision | None = None
        self.no: Decision | None = None
        self.moves: tuple[Move, ...] = ()
        self.stays = False
        self.discards = False

    def after(self, answer: bool) -> Decision:
        """Return the node for this answer, made at the first call."""
        node = self.yes if answer else self.no
        if node is None:
            node = decide(self.state, {**self.answers, self.atom: answer})
            if answer:
                self.yes = node
            else:
                self.no = node
        return node


class _UnknownError(Exception):
    """Raised if a condition must be asked first."""

    def __init__(self, atom: int) -> None:
        super().__init__(atom)
        self.atom = atom


def decide(state: State, answers: dict[int, bool]) -> Decision:
    """Return the node of `state`'s tree at which these answers are known.

    >>> from headrace.graph.cep_pattern import Condition, Contiguity, PatternData, Step
    >>> from headrace.operators.cep.compiler import compile_pattern
    >>> first = Step("a", Contiguity.STRICT, Condition(str.islower))
    >>> nfa = compile_pattern(PatternData((first, Step("b", Contiguity.RELAXED, Condition(str.isdigit)))))
    >>> root = decide(nfa.states[1], {})
    >>> root.atom, root.after(True).moves, root.after(False).stays
    (0, (('b', -1, True),), True)
    """
    decision = Decision(state, answers)
    try:
        _fill(decision)
    except _UnknownError as unknown:
        decision.atom = unknown.atom
    return decision


def roots(nfa: Nfa) -> list[Decision]:
    """Return the roots of the trees, by state."""
    return [decide(state, {}) for state in nfa.states]


def _fill(decision: Decision) -> None:
    state, answers = decision.state, decision.answers
    moves: list[Move] = []
    for edge in _open_edges(state, answers):
        target = edge.target
        if edge.action is Action.IGNORE:
            if state.kind is StateKind.START:
                continue
            step = None
            final = target.kind is StateKind.FINAL
        else:
            step = edge.source.step
            final = target.kind is StateKind.FINAL or _completes(target, answers)
        if target.kind is StateKind.STOP:
            decision.discards = True
            target_index = NOWHERE
        else:
            target_index = NOWHERE if target.kind is StateKind.FINAL else target.index
        if target_index != NOWHERE or final:
            moves.append((step, target_index, final))
    if decision.discards:
        # A NOT came true: the branch is dropped, complete matches are not.
        moves = [(step, NOWHERE, final) for step, _, final in moves if final]
    decision.moves = tuple(moves)
    decision.stays = moves == [(None, state.index, False)]


def _open_edges(state: State, answers: dict[int, bool]) -> list[Edge]:
    """Return the TAKE and IGNORE edges that hold, of the state and of those it proceeds to, latest PROCEED first."""
    edges: list[Edge] = []
    stack: list[tuple[State, frozenset[int]]] = [(state, frozenset())]
    while stack:
        current, way = stack.pop()
        for edge in current.edges:
            if not _holds(edge.when, answers):
                continue
            if edge.action is not Action.PROCEED:
                edges.append(edge)
            elif edge.target.index not in way:
                stack.append((edge.target, way | {current.index}))
    return edges


def _completes(state: State, answers: dict[int, bool]) -> bool:
    """Return whether nothing but PROCEED edges lies between `state` and the end."""
    stack: list[tuple[State, frozenset[int]]] = [(state, frozenset())]
    while stack:
        current, way = stack.pop()
        for edge in current.edges:
            if edge.action is Action.PROCEED and edge.target.index not in way and _holds(edge.when, answers):
                if edge.target.kind is StateKind.FINAL:
                    return True
                stack.append((edge.target, way | {current.index}))
    return False


def _holds(formula: Formula, answers: dict[int, bool]) -> bool:
    try:
        return holds(formula, answers)
    except KeyError as missing:
        raise _UnknownError(missing.args[0]) from None
