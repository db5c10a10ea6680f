"""The moves of a branch in a state for an event: a tree of questions with moves at its leaves.

The questions are the conditions on the state's edges (and on those of the states it proceeds to), in the order and with
the short cuts of the formulas; each is asked at most once. A tree grows on demand: only answers that occurred have nodes,
so a pattern with many optional steps does not explode. Pure; the matcher walks the trees.
"""

from __future__ import annotations

from headrace.operators.cep.nfa import Action, Edge, Formula, Nfa, State, StateKind, holds

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
