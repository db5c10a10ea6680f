"""From a pattern, whose names are checked first, to its NFA.

The pattern is read from its end to its beginning, because a state must know where its edges lead. `_Builder` has one
method per kind of step. The order in which states and edges are made is part of the semantics: it determines the names of
states (and so which of a loop's states have a time limit) and the order of matches.
"""

from __future__ import annotations

from collections.abc import Iterator

from headrace.graph.cep_pattern import Contiguity, MalformedPatternException, PatternData, Repetition, Step
from headrace.operators.cep.cursor import Cursor, StateTable
from headrace.operators.cep.nfa import ALWAYS, Action, Both, Formula, Nfa, Not, State, StateKind

END = "$endState$"
TAKE, IGNORE, PROCEED = Action.TAKE, Action.IGNORE, Action.PROCEED


def compile_pattern(pattern: PatternData) -> Nfa:
    """Compile a pattern and check it. Raise `MalformedPatternException` if it cannot work.

    >>> nfa = compile_pattern(PatternData((Step("a", Contiguity.STRICT), Step("b", Contiguity.RELAXED))))
    >>> [state.name for state in nfa.states]
    ['$endState$', 'b', 'a']
    """
    check_pattern(pattern)
    return _Builder(pattern).build()


class _Builder:
    """The state of one compilation: the place in the pattern, and the states made so far."""

    def __init__(self, pattern: PatternData) -> None:
        self._pattern = pattern
        self._at = Cursor(pattern)
        self._table = StateTable()
        self._before_greedy: dict[str, State] = {}
        self._window: int | None = None

    @property
    def _step(self) -> Step:
        return self._at.step

    def build(self) -> Nfa:
        last = self._step
        end = self._table.new_state(END, StateKind.FINAL)
        self._window = last.window
        start = self._convert(self._middle(end))
        start.kind = StateKind.START
        gaps = [s.gap for s in self._table.states if s.gap is not None]
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
        return Nfa(self._table.states, start, self._at.atoms, window)

    # -- the chain ------------------------------------------------------------------------------------------------

    def _middle(self, sink: State) -> State:
        """Make the states of all steps of the chain except the first."""
        while not self._at.is_first:
            step = self._step
            if step.contiguity is Contiguity.NOT_FOLLOWED:
                sink = self._trailing_not_followed(sink)
            elif step.contiguity is Contiguity.NOT_NEXT:
                sink = self._not_next(sink)
            else:
                sink = self._convert(sink)
            self._at.go_back()
            before = self._step.window
            if before is not None and (self._window is None or before < self._window):
                self._window = before
        return sink

    def _trailing_not_followed(self, sink: State) -> State:
        """Make the state of a NOT step at the end. Elsewhere it becomes edges of the states around it."""
        if not (self._step.gap is not None or (self._window or 0) > 0) or sink.kind is not StateKind.FINAL:
            return sink
        pending = self._table.waiting_state(self._step, StateKind.PENDING)
        unwanted = self._at.take_when()
        pending.add(PROCEED, self._table.stop_state(self._step.name, unwanted), unwanted)
        pending.add(IGNORE, pending, Not(unwanted))
        return pending

    def _not_next(self, sink: State) -> State:
        state = self._table.waiting_state(self._step)
        unwanted = self._at.take_when()
        stop = self._table.stop_state(self._step.name, unwanted)
        # A match must not be complete before the next event is known, so the way to the end is an IGNORE.
        state.add(IGNORE if sink.kind is StateKind.FINAL else PROCEED, sink, Not(unwanted))
        state.add(PROCEED, stop, unwanted)
        return state

    def _convert(self, sink: State) -> State:
        """Make the states of one step that wants events. Return the first of them."""
        step = self._step
        if step.repetition is Repetition.LOOP:
            self._at.mark_round(first=False)
            loop = self._loop(self._without_nots(sink))
            self._at.mark_round(first=True)
            first = self._repeated(loop, sink)
        elif step.repetition is Repetition.TIMES:
            first = self._repeated(sink, sink)
        else:
            first = self._single(sink, sink, self._at.take_when(), self._at.ignore_when(), step.optional)
        self._add_stops(first)
        return first

    # -- kinds of steps -------------------------------------------------------------------------------------------

    def _single(
        self, sink: State, proceed: State | None, take: Formula, ignore: Formula | None, optional: bool
    ) -> State:
        """Make a state that takes one event, then leads to `sink`; if optional, also to `proceed`."""
        step = self._step
        if step.group is not None:
            return self._group_states(sink, proceed, optional)
        state = self._table.waiting_state(self._step)
        sink = self._without_nots(sink)
        state.add(TAKE, sink, take)
        if optional:
            assert proceed is not None
            until = self._at.until() if step.greedy else None
            true = self._at.true()
            if until is None:
                state.add(PROCEED, proceed, true)
            else:
                untouched = self._before_greedy.get(proceed.name)
                if untouched is not None:
                    state.add(PROCEED, untouched, Both(true, until))
                state.add(PROCEED, proceed, Both(true, Not(until)))
        if ignore is not None:
            skipping = state
            if optional or self._at.heads_optional_group():
                # After an event was ignored, the step can no longer be left out.
                skipping = self._table.new_state(step.name, StateKind.NORMAL)
                skipping.add(TAKE, sink, take)
                skipping.add(IGNORE, skipping, ignore)
                self._add_stops(skipping)
            state.add(IGNORE, skipping, ignore)
        return state

    def _repeated(self, sink: State, proceed: State) -> State:
        """Make the counted part of a step: `least` states, and `most - least` optional ones."""
        step = self._step
        self._at.mark_round(first=False)
        until = self._at.until()
        ignore = self._at.unless(until, self._at.inner_ignore_when())
        take = self._at.unless(until, self._at.take_when()) or ALWAYS
        most = step.most if step.repetition is Repetition.TIMES else step.least
        if step.greedy and step.least != most:
            if step.until is not None:
                self._before_greedy[sink.name] = self._table.copy(sink)
            self._table.yield_to(sink, take)
        for _ in range(step.least, most):
            sink = self._single(sink, proceed, take, ignore, True)
            self._add_stop_of_following(sink)
        for _ in range(step.least - 1):
            sink = self._single(sink, None, take, ignore, False)
            self._add_stop_of_following(sink)
        self._at.mark_round(first=True)
        return self._single(sink, proceed, take, self._at.ignore_when(), step.optional)

    def _loop(self, sink: State) -> State:
        """Make the part of a loop that takes any number of events."""
        step = self._step
        if step.group is not None:
            return self._looping_group(sink)
        until = self._at.until()
        ignore = self._at.unless(until, self._at.inner_ignore_when())
        take = self._at.unless(until, self._at.take_when()) or ALWAYS
        true = self._at.true()
        loop = self._table.waiting_state(self._step)
        if step.greedy:
            if until is not None:
                untouched = self._table.copy(sink)
                loop.add(PROCEED, untouched, Both(true, until))
                self._before_greedy[sink.name] = untouched
            loop.add(PROCEED, sink, true if until is None else Both(true, Not(until)))
            self._table.yield_to(sink, self._at.take_when())
        else:
            loop.add(PROCEED, sink, true)
        loop.add(TAKE, loop, take)
        self._add_stop_of_following(loop)
        if ignore is not None:
            skipping = self._table.new_state(step.name, StateKind.NORMAL)
            skipping.add(TAKE, loop, take)
            skipping.add(IGNORE, skipping, ignore)
            loop.add(IGNORE, skipping, ignore)
            self._add_stop_of_following(skipping)
        return loop

    def _group_states(self, sink: State, proceed: State | None, optional: bool) -> State:
        true = self._at.true()
        first = self._inside_group(sink)
        if optional:
            assert proceed is not None
            first.add(PROCEED, proceed, true)
        return first

    def _looping_group(self, sink: State) -> State:
        true = self._at.true()
        again = self._table.waiting_state(self._step)
        first = self._inside_group(again)
        first.add(PROCEED, sink, true)
        again.add(PROCEED, first, true)
        return first

    def _inside_group(self, sink: State) -> State:
        """Make the states of the group's own chain, then return to the same place."""
        with self._at.inside_group():
            return self._convert(self._middle(sink))

    # -- NOT steps ------------------------------------------------------------------------------------------------

    def _add_stops(self, state: State) -> None:
        for unwanted, name in self._at.nots_before():
            state.add(PROCEED, self._table.stop_state(name, unwanted), unwanted)

    def _add_stop_of_following(self, state: State) -> None:
        following = self._at.following
        if following is not None and following.contiguity is Contiguity.NOT_FOLLOWED:
            unwanted = self._at.take_when(following)
            state.add(PROCEED, self._table.stop_state(following.name, unwanted), unwanted)

    def _without_nots(self, sink: State) -> State:
        """Return the state after an optional step that took an event: earlier NOTs no longer apply there."""
        nots = {name for _, name in self._at.nots_before()}
        if not nots or not self._step.optional:
            return sink
        copy = self._table.new_state(sink.name, sink.kind)
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
    headrace.graph.cep_pattern.MalformedPatternException: Duplicate pattern name: a. Names must be unique. (pattern 'a') [MALFORMED_PATTERN]
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
