"""The states of an NFA while it is compiled: unique names, copies, stop states, time limits. Makes no edges of steps."""

from __future__ import annotations

from headrace.graph.cep_pattern import Repetition, Step
from headrace.operators.cep.cursor import shown
from headrace.operators.cep.nfa import Action, Both, Edge, Formula, Not, State, StateKind


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
