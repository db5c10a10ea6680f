"""From a pattern to its NFA.

The pattern is read from its end to its beginning, because a state must know where its edges lead. What each kind of step
becomes is in `_Builder`, one method per kind; the order in which states and edges are made is part of the meaning: it
decides the names of states (and with them which of a loop's states have a time limit) and the order of matches.
"""

from __future__ import annotations

from headrace.graph.cep_pattern import (
    AllOf,
    Condition,
    ConditionTree,
    Contiguity,
    PatternData,
    Repetition,
    Step,
)
from headrace.graph.malformed_pattern import MalformedPatternException
from headrace.operators.cep.checks import check_pattern
from headrace.operators.cep.conditions import kinds_of
from headrace.operators.cep.nfa import ALWAYS, Action, Atom, Both, Edge, Formula, Nfa, Not, State, StateKind

END = "$endState$"
TAKE, IGNORE, PROCEED = Action.TAKE, Action.IGNORE, Action.PROCEED


def compile_pattern(pattern: PatternData) -> Nfa:
    """Compiles and checks; raises `MalformedPatternException`.

    >>> nfa = compile_pattern(PatternData((Step("a", Contiguity.STRICT), Step("b", Contiguity.RELAXED))))
    >>> [state.name for state in nfa.states]
    ['$endState$', 'b', 'a']
    """
    check_pattern(pattern)
    return _Builder(pattern).build()


class _Builder:
    """The state of one compilation: where in the pattern it is, and what has been made so far."""

    def __init__(self, pattern: PatternData) -> None:
        self._pattern = pattern
        self._chain = pattern.steps
        self._at = len(pattern.steps) - 1
        self._following: Step | None = None
        self._group: Step | None = None
        self._later_round: set[int] = set()
        self._names: set[str] = set()
        self._states: list[State] = []
        self._stops: dict[str, State] = {}
        self._before_greedy: dict[str, State] = {}
        self._atoms: list[ConditionTree] = []
        self._atom_of: dict[int, Atom] = {}
        self._window: int | None = None

    def build(self) -> Nfa:
        last = self._step
        end = self._new_state(END, StateKind.FINAL)
        self._window = last.window
        start = self._convert(self._middle(end))
        start.kind = StateKind.START
        gaps = [s.gap for s in self._states if s.gap is not None]
        if self._window is not None and any(gap > self._window for gap in gaps):
            raise MalformedPatternException.at(
                self._pattern.steps[0].name,
                "The window length between the previous and current event cannot be larger than the window length "
                "between the first and last event for a Pattern.",
            )
        window = self._window or 0
        if last.contiguity is Contiguity.NOT_FOLLOWED and not window and not last.gap:
            raise MalformedPatternException.at(
                last.name,
                "NotFollowedBy is not supported without windowTime as a last part of a Pattern!",
                remedy="add within(...)",
            )
        return Nfa(self._states, start, self._atoms, window)

    # -- where we are ---------------------------------------------------------------------------------------------

    @property
    def _step(self) -> Step:
        return self._chain[self._at]

    def _is_head_of_group(self) -> bool:
        return self._group is not None and self._at == 0

    def _in_first_round(self) -> bool:
        """Whether the states being made are the first round of the group that we are in."""
        return id(self._group) not in self._later_round

    def _mark_round(self, first: bool) -> None:
        if self._step.group is not None:
            (self._later_round.discard if first else self._later_round.add)(id(self._step))

    # -- the chain ------------------------------------------------------------------------------------------------

    def _middle(self, sink: State) -> State:
        """States of all steps of the chain but its first."""
        while self._at > 0:
            step = self._step
            if step.contiguity is Contiguity.NOT_FOLLOWED:
                sink = self._trailing_not_followed(sink)
            elif step.contiguity is Contiguity.NOT_NEXT:
                sink = self._not_next(sink)
            else:
                sink = self._convert(sink)
            self._following = step
            self._at -= 1
            before = self._step.window
            if before is not None and (self._window is None or before < self._window):
                self._window = before
        return sink

    def _trailing_not_followed(self, sink: State) -> State:
        """Only at the end it is a state: elsewhere it becomes edges of the states around it."""
        if not (self._step.gap is not None or (self._window or 0) > 0) or sink.kind is not StateKind.FINAL:
            return sink
        pending = self._waiting_state(StateKind.PENDING)
        unwanted = self._take_when()
        pending.add(PROCEED, self._stop_state(self._step.name, unwanted), unwanted)
        pending.add(IGNORE, pending, Not(unwanted))
        return pending

    def _not_next(self, sink: State) -> State:
        state = self._waiting_state()
        unwanted = self._take_when()
        stop = self._stop_state(self._step.name, unwanted)
        # A match must not be complete before the next event is known, so the way to the end is an IGNORE.
        state.add(IGNORE if sink.kind is StateKind.FINAL else PROCEED, sink, Not(unwanted))
        state.add(PROCEED, stop, unwanted)
        return state

    def _convert(self, sink: State) -> State:
        """The states of one step that wants events; gives the first of them."""
        step = self._step
        if step.repetition is Repetition.LOOP:
            self._mark_round(first=False)
            loop = self._loop(self._without_nots(sink))
            self._mark_round(first=True)
            first = self._repeated(loop, sink)
        elif step.repetition is Repetition.TIMES:
            first = self._repeated(sink, sink)
        else:
            first = self._single(sink, sink, self._take_when(), self._ignore_when(), step.optional)
        self._add_stops(first)
        return first

    # -- kinds of steps -------------------------------------------------------------------------------------------

    def _single(
        self, sink: State, proceed: State | None, take: Formula, ignore: Formula | None, optional: bool
    ) -> State:
        """A state that takes one event, then goes to `sink`; if optional, it may also go on to `proceed`."""
        step = self._step
        if step.group is not None:
            return self._group_states(sink, proceed, optional)
        state = self._waiting_state()
        sink = self._without_nots(sink)
        state.add(TAKE, sink, take)
        if optional:
            assert proceed is not None
            until = self._until() if step.greedy else None
            true = self._true()
            if until is None:
                state.add(PROCEED, proceed, true)
            else:
                untouched = self._before_greedy.get(proceed.name)
                if untouched is not None:
                    state.add(PROCEED, untouched, Both(true, until))
                state.add(PROCEED, proceed, Both(true, Not(until)))
        if ignore is not None:
            skipping = state
            if optional or self._heads_optional_group():
                # Once an event has been let pass the step can no longer be left out.
                skipping = self._new_state(step.name, StateKind.NORMAL)
                skipping.add(TAKE, sink, take)
                skipping.add(IGNORE, skipping, ignore)
                self._add_stops(skipping)
            state.add(IGNORE, skipping, ignore)
        return state

    def _repeated(self, sink: State, proceed: State) -> State:
        """The counted part of a step: `least` states, and `most - least` that may be left."""
        step = self._step
        self._mark_round(first=False)
        until = self._until()
        ignore = self._unless(until, self._inner_ignore_when())
        take = self._unless(until, self._take_when()) or ALWAYS
        most = step.most if step.repetition is Repetition.TIMES else step.least
        if step.greedy and step.least != most:
            if step.until is not None:
                self._before_greedy[sink.name] = self._copy(sink)
            self._yield_to(sink, take)
        for _ in range(step.least, most):
            sink = self._single(sink, proceed, take, ignore, True)
            self._add_stop_of_following(sink)
        for _ in range(step.least - 1):
            sink = self._single(sink, None, take, ignore, False)
            self._add_stop_of_following(sink)
        self._mark_round(first=True)
        return self._single(sink, proceed, take, self._ignore_when(), step.optional)

    def _loop(self, sink: State) -> State:
        """The part of a loop that takes any number of events."""
        step = self._step
        if step.group is not None:
            return self._looping_group(sink)
        until = self._until()
        ignore = self._unless(until, self._inner_ignore_when())
        take = self._unless(until, self._take_when()) or ALWAYS
        true = self._true()
        loop = self._waiting_state()
        if step.greedy:
            if until is not None:
                untouched = self._copy(sink)
                loop.add(PROCEED, untouched, Both(true, until))
                self._before_greedy[sink.name] = untouched
            loop.add(PROCEED, sink, true if until is None else Both(true, Not(until)))
            self._yield_to(sink, self._take_when())
        else:
            loop.add(PROCEED, sink, true)
        loop.add(TAKE, loop, take)
        self._add_stop_of_following(loop)
        if ignore is not None:
            skipping = self._new_state(step.name, StateKind.NORMAL)
            skipping.add(TAKE, loop, take)
            skipping.add(IGNORE, skipping, ignore)
            loop.add(IGNORE, skipping, ignore)
            self._add_stop_of_following(skipping)
        return loop

    def _group_states(self, sink: State, proceed: State | None, optional: bool) -> State:
        true = self._true()
        first = self._inside_group(sink)
        if optional:
            assert proceed is not None
            first.add(PROCEED, proceed, true)
        return first

    def _looping_group(self, sink: State) -> State:
        true = self._true()
        again = self._waiting_state()
        first = self._inside_group(again)
        first.add(PROCEED, sink, true)
        again.add(PROCEED, first, true)
        return first

    def _inside_group(self, sink: State) -> State:
        """The states of the group's own chain; afterwards we are where we were."""
        was = self._chain, self._at, self._following, self._group
        group = self._step
        assert group.group is not None
        self._group, self._chain, self._at = group, group.group, len(group.group) - 1
        first = self._convert(self._middle(sink))
        self._chain, self._at, self._following, self._group = was
        return first

    # -- conditions -----------------------------------------------------------------------------------------------

    def _atom(self, tree: ConditionTree, label: str) -> Atom:
        atom = self._atom_of.get(id(tree))
        if atom is None:
            atom = self._atom_of[id(tree)] = Atom(len(self._atoms), label)
            self._atoms.append(tree)
        return atom

    def _formula(self, tree: ConditionTree, label: str) -> Formula:
        """One atom; more where conditions on the event and iterative ones are mixed, so that the former stand alone."""
        if isinstance(tree, Condition) or len(kinds_of(tree)) == 1:
            return self._atom(tree, label)
        left, right = self._formula(tree.left, label), self._formula(tree.right, label)
        return Both(left, right) if isinstance(tree, AllOf) else Not(Both(Not(left), Not(right)))

    def _wanted(self, step: Step) -> Formula:
        return ALWAYS if step.condition is None else self._formula(step.condition, f"is({step.name})")

    def _until(self) -> Formula | None:
        step = self._step
        return None if step.until is None else self._formula(step.until, f"until({step.name})")

    @staticmethod
    def _unless(until: Formula | None, when: Formula | None) -> Formula | None:
        return when if until is None or when is None else Both(Not(until), when)

    def _group_until(self) -> Formula | None:
        group = self._group
        return None if group is None or group.until is None else self._formula(group.until, f"until({_shown(group)})")

    def _true(self) -> Formula:
        return self._unless(self._group_until(), ALWAYS) or ALWAYS

    def _take_when(self, step: Step | None = None) -> Formula:
        return self._unless(self._group_until(), self._wanted(step or self._step)) or ALWAYS

    def _ignore_when(self) -> Formula | None:
        """When an event may pass before the step has taken its first one."""
        how = self._step.contiguity
        if self._is_head_of_group():
            assert self._group is not None
            how = self._group.contiguity if self._in_first_round() else self._group.inner
        return self._ignoring(how)

    def _inner_ignore_when(self) -> Formula | None:
        """When an event may pass between two events of the step."""
        how = self._step.inner
        if self._is_head_of_group():
            assert self._group is not None
            how = self._group.inner
        return self._ignoring(how)

    def _ignoring(self, how: Contiguity) -> Formula | None:
        when: Formula | None = None
        if how is Contiguity.RELAXED:
            when = Not(self._wanted(self._step))
        elif how is Contiguity.ANY:
            when = ALWAYS
        return self._unless(self._group_until(), when)

    def _heads_optional_group(self) -> bool:
        if not self._is_head_of_group() or not self._in_first_round():
            return False
        assert self._group is not None
        return self._group.optional

    # -- NOT steps ------------------------------------------------------------------------------------------------

    def _nots_before(self) -> list[tuple[Formula, str]]:
        """The not_followed_by steps that guard this one: those before it, across optional steps."""
        found = []
        at = self._at
        while at > 0:
            before = self._chain[at - 1]
            if not before.optional and before.contiguity is not Contiguity.NOT_FOLLOWED:
                break
            at -= 1
            if before.contiguity is Contiguity.NOT_FOLLOWED:
                found.append((self._take_when(before), before.name))
        return found

    def _add_stops(self, state: State) -> None:
        for unwanted, name in self._nots_before():
            state.add(PROCEED, self._stop_state(name, unwanted), unwanted)

    def _add_stop_of_following(self, state: State) -> None:
        following = self._following
        if following is not None and following.contiguity is Contiguity.NOT_FOLLOWED:
            unwanted = self._take_when(following)
            state.add(PROCEED, self._stop_state(following.name, unwanted), unwanted)

    def _without_nots(self, sink: State) -> State:
        """Where an optional step goes after it took an event: there the NOTs before it count no longer."""
        nots = {name for _, name in self._nots_before()}
        if not nots or not self._step.optional:
            return sink
        copy = self._new_state(sink.name, sink.kind)
        for edge in sink.edges:
            target = edge.target
            if edge.action is PROCEED:
                if target.kind is StateKind.STOP:
                    if target.name in nots:
                        continue
                else:
                    target = self._without_nots(target)
            elif target is sink:
                target = copy
            copy.add(edge.action, target, edge.when)
        return copy

    # -- states ---------------------------------------------------------------------------------------------------

    def _new_state(self, base: str, kind: StateKind) -> State:
        name, number = base, 0
        while name in self._names:
            name, number = f"{base}:{number}", number + 1
        self._names.add(name)
        state = State(len(self._states), name, kind)
        self._states.append(state)
        return state

    def _waiting_state(self, kind: StateKind = StateKind.NORMAL) -> State:
        """A state that waits for an event of the current step, with the step's time limit."""
        step = self._step
        state = self._new_state(_shown(step), kind)
        if step.repetition is Repetition.ONCE:
            state.gap = step.gap
        elif ":" in state.name:
            state.gap = step.loop_gap
        return state

    def _stop_state(self, name: str, unwanted: Formula) -> State:
        stop = self._stops.get(name)
        if stop is None:
            stop = self._stops[name] = self._new_state(name, StateKind.STOP)
            stop.add(TAKE, stop, unwanted)
        return stop

    def _copy(self, state: State) -> State:
        copy = self._new_state(state.step, state.kind)
        for edge in state.edges:
            copy.add(edge.action, copy if edge.target is state else edge.target, edge.when)
        return copy

    @staticmethod
    def _yield_to(sink: State, take: Formula) -> None:
        """A greedy step comes first: what follows takes only what the step does not."""
        sink.edges[:] = [Edge(e.action, e.source, e.target, Both(e.when, Not(take))) for e in sink.edges]


def _shown(step: Step) -> str:
    return "GroupPattern" if step.group is not None else step.name
