"""The compiler's working data: its place in a pattern, the conditions on edges at that place, and the states made so far.

The pattern is read from its end to its beginning. Inside a group the conditions depend on the group: its contiguity applies
to its first step, its `until` to all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from headrace.graph.cep_pattern import AllOf, Condition, ConditionTree, Contiguity, PatternData, Repetition, Step
from headrace.operators.cep.decisions import kinds_of
from headrace.operators.cep.nfa import ALWAYS, Action, Atom, Both, Edge, Formula, Not, State, StateKind


class Cursor:
    """A place in a pattern; starts at its last step."""

    def __init__(self, pattern: PatternData) -> None:
        self._chain = pattern.steps
        self._at = len(pattern.steps) - 1
        self._group: Step | None = None
        self._later_round: set[int] = set()
        self._atom_of: dict[int, Atom] = {}
        self.following: Step | None = None
        self.atoms: list[ConditionTree] = []

    @property
    def step(self) -> Step:
        return self._chain[self._at]

    @property
    def is_first(self) -> bool:
        """Whether the current step is the first of its chain."""
        return self._at == 0

    def go_back(self) -> None:
        self.following = self.step
        self._at -= 1

    @contextmanager
    def inside_group(self) -> Iterator[None]:
        """Go to the last step of the group that is the current step, and afterwards back to the group."""
        was = self._chain, self._at, self.following, self._group
        group = self.step
        assert group.group is not None
        self._group, self._chain, self._at = group, group.group, len(group.group) - 1
        yield
        self._chain, self._at, self.following, self._group = was

    def _is_head_of_group(self) -> bool:
        return self._group is not None and self._at == 0

    def _in_first_round(self) -> bool:
        """Return whether the states being made are the first round of the enclosing group."""
        return id(self._group) not in self._later_round

    def mark_round(self, first: bool) -> None:
        """Return whether the states made next are the first round of the current step, if that is a group."""
        if self.step.group is not None:
            (self._later_round.discard if first else self._later_round.add)(id(self.step))

    # -- conditions -----------------------------------------------------------------------------------------------

    def _atom(self, tree: ConditionTree, label: str) -> Atom:
        atom = self._atom_of.get(id(tree))
        if atom is None:
            atom = self._atom_of[id(tree)] = Atom(len(self.atoms), label)
            self.atoms.append(tree)
        return atom

    def _formula(self, tree: ConditionTree, label: str) -> Formula:
        """Return the condition as one atom, or as several if it mixes iterative conditions and others."""
        if isinstance(tree, Condition) or len(kinds_of(tree)) == 1:
            return self._atom(tree, label)
        left, right = self._formula(tree.left, label), self._formula(tree.right, label)
        return Both(left, right) if isinstance(tree, AllOf) else Not(Both(Not(left), Not(right)))

    def _wanted(self, step: Step) -> Formula:
        return ALWAYS if step.condition is None else self._formula(step.condition, f"is({step.name})")

    def until(self) -> Formula | None:
        """Return the condition that ends the loop of the current step."""
        step = self.step
        return None if step.until is None else self._formula(step.until, f"until({step.name})")

    @staticmethod
    def unless(until: Formula | None, when: Formula | None) -> Formula | None:
        """Return `when`, except at an event that ends the loop."""
        return when if until is None or when is None else Both(Not(until), when)

    def _group_until(self) -> Formula | None:
        group = self._group
        return None if group is None or group.until is None else self._formula(group.until, f"until({shown(group)})")

    def true(self) -> Formula:
        """Return ALWAYS, except at an event that ends the group."""
        return self.unless(self._group_until(), ALWAYS) or ALWAYS

    def take_when(self, step: Step | None = None) -> Formula:
        """Return when the current step (or another one of its chain) takes an event."""
        return self.unless(self._group_until(), self._wanted(step or self.step)) or ALWAYS

    def ignore_when(self) -> Formula | None:
        """Return when an event is ignored before the step has taken its first one."""
        how = self.step.contiguity
        if self._is_head_of_group():
            assert self._group is not None
            how = self._group.contiguity if self._in_first_round() else self._group.inner
        return self._ignoring(how)

    def inner_ignore_when(self) -> Formula | None:
        """Return when an event is ignored between two events of the step."""
        how = self.step.inner
        if self._is_head_of_group():
            assert self._group is not None
            how = self._group.inner
        return self._ignoring(how)

    def _ignoring(self, how: Contiguity) -> Formula | None:
        when: Formula | None = None
        if how is Contiguity.RELAXED:
            when = Not(self._wanted(self.step))
        elif how is Contiguity.ANY:
            when = ALWAYS
        return self.unless(self._group_until(), when)

    def heads_optional_group(self) -> bool:
        """Return whether leaving out the current step can mean leaving out the group that it begins."""
        if not self._is_head_of_group() or not self._in_first_round():
            return False
        assert self._group is not None
        return self._group.optional

    def nots_before(self) -> list[tuple[Formula, str]]:
        """Return the not_followed_by steps that guard this one: those before it, across optional steps."""
        found = []
        at = self._at
        while at > 0:
            before = self._chain[at - 1]
            if not before.optional and before.contiguity is not Contiguity.NOT_FOLLOWED:
                break
            at -= 1
            if before.contiguity is Contiguity.NOT_FOLLOWED:
                found.append((self.take_when(before), before.name))
        return found


def shown(step: Step) -> str:
    """Return the name of the step's states."""
    return "GroupPattern" if step.group is not None else step.name


class StateTable:
    """All states made so far; the first state of a name gets the plain name, later ones a number after it."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._stops: dict[str, State] = {}
        self.states: list[State] = []

    def new_state(self, base: str, kind: StateKind) -> State:
        """Make a state without a time limit."""
        name, number = base, 0
        while name in self._names:
            name, number = f"{base}:{number}", number + 1
        self._names.add(name)
        state = State(len(self.states), name, kind)
        self.states.append(state)
        return state

    def waiting_state(self, step: Step, kind: StateKind = StateKind.NORMAL) -> State:
        """Make a state that waits for an event of the current step, with the step's time limit."""
        state = self.new_state(shown(step), kind)
        if step.repetition is Repetition.ONCE:
            state.gap = step.gap
        elif ":" in state.name:
            state.gap = step.loop_gap
        return state

    def stop_state(self, name: str, unwanted: Formula) -> State:
        """Return the one state in which branches end because of the NOT step `name`."""
        stop = self._stops.get(name)
        if stop is None:
            stop = self._stops[name] = self.new_state(name, StateKind.STOP)
            stop.add(Action.TAKE, stop, unwanted)
        return stop

    def copy(self, state: State) -> State:
        """Make a state with the same edges."""
        copy = self.new_state(state.step, state.kind)
        for edge in state.edges:
            copy.add(edge.action, copy if edge.target is state else edge.target, edge.when)
        return copy

    @staticmethod
    def yield_to(sink: State, take: Formula) -> None:
        """Put a greedy step first: the next step takes only events that this one does not."""
        sink.edges[:] = [Edge(e.action, e.source, e.target, Both(e.when, Not(take))) for e in sink.edges]
