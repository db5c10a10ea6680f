"""The result of `Pattern.describe`: the compiled states and edges, drawings, and warnings. A dry run, without events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headrace.graph.cep_pattern import PatternData, Repetition, Step, text_of
from headrace.operators.cep.compiler import all_steps, compile_pattern
from headrace.operators.cep.nfa import Action, Nfa, State, StateKind, as_graphviz, as_mermaid, as_text, can_hold


@dataclass(frozen=True)
class PatternDescription:
    """A description of a compiled pattern; `print` shows states, edges and warnings.

    >>> from headrace.cep import Pattern
    >>> description = Pattern.begin("a").where(str.isalpha).one_or_more().followed_by("b").describe()
    >>> description.states
    ('$endState$', 'b', 'a', 'a:0', 'a:1')
    >>> print(description.warnings[0])
    the loop 'a' has no time limit: its partial matches are kept for ever; add within(...)
    """

    text: str
    states: tuple[str, ...]
    edges: tuple[tuple[str, str, str, str], ...]
    """(state, action, target, condition)"""
    warnings: tuple[str, ...]
    _table: str
    _mermaid: str
    _graphviz: str

    def mermaid(self) -> str:
        """Return the drawing as a mermaid flowchart."""
        return self._mermaid

    def graphviz(self) -> str:
        """Return the drawing in graphviz's dot language."""
        return self._graphviz

    def __str__(self) -> str:
        warnings = [f"warning: {w}" for w in self.warnings]
        return "\n".join([f"pattern: {self.text}", self._table, *warnings])


def describe(pattern: PatternData) -> PatternDescription:
    """Compile and describe a pattern."""
    nfa = compile_pattern(pattern)
    edges = tuple((s.name, e.action.value, e.target.name, str(e.when)) for s in nfa.states for e in s.edges)
    return PatternDescription(
        text_of(pattern.steps),
        tuple(s.name for s in nfa.states),
        edges,
        tuple(_warnings(pattern, nfa)),
        as_text(nfa),
        as_mermaid(nfa),
        as_graphviz(nfa),
    )


def _warnings(pattern: PatternData, nfa: Nfa) -> Iterator[str]:
    reached = _reachable(nfa)
    taking = {e.source.step for s in reached for e in s.edges if e.action is Action.TAKE and can_hold(e.when)}
    for step in all_steps(pattern.steps):
        if not step.contiguity.negated and step.name not in taking:
            yield f"the step {step.name!r} can never take an event: a step before it takes all of them"
        if step.contiguity.negated and step.condition is None:
            yield f"the step {step.name!r} has no condition: it forbids every event"
    if not any(s.kind in (StateKind.FINAL, StateKind.PENDING) for s in reached):
        yield "the pattern can never match"
    if not nfa.window:
        yield from _kept_for_ever(pattern, reached)
    last = pattern.steps[-1]
    if last.greedy:
        yield f"greedy() has no effect on the last step {last.name!r}"


def _kept_for_ever(pattern: PatternData, reached: list[State]) -> Iterator[str]:
    waiting = {
        s.step
        for s in reached
        if s.gap is None and s.kind is StateKind.NORMAL
        for e in s.edges
        if e.action is Action.IGNORE and e.target.step == s.step and can_hold(e.when)
    }
    for step in all_steps(pattern.steps):
        if step.name in waiting:
            yield f"{_kind(step)} {step.name!r} has no time limit: its partial matches are kept for ever; add within(...)"


def _kind(step: Step) -> str:
    return "the loop" if step.repetition is Repetition.LOOP else "the step"


def _reachable(nfa: Nfa) -> list[State]:
    found = [nfa.start]
    for state in found:
        found += [e.target for e in state.edges if can_hold(e.when) and e.target not in found]
    return found
