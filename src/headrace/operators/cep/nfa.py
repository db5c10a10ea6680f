"""The states and edges of a compiled pattern. Pure: `compiler` makes them, `decisions` reads them. Also as drawings.

A state waits for an event. An edge TAKE consumes it (it becomes part of the match), IGNORE skips it, PROCEED leads
to another state with the same event. Conditions on edges are formulas over atoms; an atom is one condition of
the program, asked at most once per event and branch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import product

from headrace.graph.cep_pattern import ConditionTree


class StateKind(Enum):
    """The kinds of states. PENDING: the match is complete if the window ends here."""

    START = "start"
    NORMAL = "normal"
    PENDING = "pending"
    STOP = "stop"
    FINAL = "final"


class Action(Enum):
    """What an edge does with the event."""

    TAKE = "take"
    IGNORE = "ignore"
    PROCEED = "proceed"


@dataclass(frozen=True)
class Always:
    """Holds for every event."""

    def __str__(self) -> str:
        return "true"


@dataclass(frozen=True)
class Atom:
    """A condition of the program: `index` in `Nfa.atoms`, `label` for descriptions."""

    index: int
    label: str

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Not:
    """Holds if the other formula does not."""

    of: Formula

    def __str__(self) -> str:
        return f"not {self.of}"


@dataclass(frozen=True)
class Both:
    """Both hold; the right one is asked only if the left one holds."""

    left: Formula
    right: Formula

    def __str__(self) -> str:
        return f"{self.left} and {self.right}"


Formula = Always | Atom | Not | Both
ALWAYS = Always()


@dataclass(eq=False)
class Edge:
    """An edge that leads out of a state."""

    action: Action
    source: State
    target: State
    when: Formula


@dataclass(eq=False)
class State:
    """One state. `step` is the name of the pattern step it belongs to, `name` is unique: `b`, `b:0`, `b:1`..."""

    index: int
    name: str
    kind: StateKind
    edges: list[Edge] = field(default_factory=list)
    gap: int | None = None
    """The longest time since the previous event while a branch waits here."""

    @property
    def step(self) -> str:
        """The step's name in matches."""
        return self.name.split(":", 1)[0]

    def add(self, action: Action, target: State, when: Formula) -> None:
        """Add an edge; the order of edges is the order in which branches are made."""
        self.edges.append(Edge(action, self, target, when))


@dataclass
class Nfa:
    """A compiled pattern."""

    states: list[State]
    start: State
    atoms: list[ConditionTree]
    window: int
    """The longest time from the first to the last event, 0 for no limit."""

    @property
    def has_gaps(self) -> bool:
        """Whether any state limits the time since the previous event."""
        return any(s.gap is not None for s in self.states)


MANY = 10


def atoms_in(formula: Formula) -> set[int]:
    """Return the numbers of its conditions."""
    if isinstance(formula, Atom):
        return {formula.index}
    if isinstance(formula, Both):
        return atoms_in(formula.left) | atoms_in(formula.right)
    return set() if isinstance(formula, Always) else atoms_in(formula.of)


def holds(formula: Formula, answers: dict[int, bool]) -> bool:
    """Return the value of the formula; a missing answer raises KeyError with the condition's number."""
    if isinstance(formula, Always):
        return True
    if isinstance(formula, Atom):
        return answers[formula.index]
    if isinstance(formula, Both):
        return holds(formula.left, answers) and holds(formula.right, answers)
    return not holds(formula.of, answers)


def can_hold(formula: Formula) -> bool:
    """Return whether some answers to its conditions make it true.

    >>> from headrace.operators.cep.nfa import ALWAYS, Not
    >>> a = Atom(0, "a")
    >>> can_hold(a), can_hold(Both(a, Not(a))), can_hold(Not(ALWAYS))
    (True, False, False)
    """
    atoms = sorted(atoms_in(formula))
    if len(atoms) > MANY:
        return True
    return any(holds(formula, dict(zip(atoms, answers))) for answers in product((True, False), repeat=len(atoms)))


_SHAPES = {StateKind.FINAL: "doublecircle", StateKind.STOP: "octagon", StateKind.PENDING: "hexagon"}


def as_text(nfa: Nfa) -> str:
    """Return one line per state and per edge; the first state first."""
    lines = []
    for state in _in_order(nfa):
        limit = "" if state.gap is None else f", at most {state.gap} ms after the event before"
        lines.append(f"{state.name} ({state.kind.value}{limit})")
        lines += [f"  {e.action.value:<7} -> {e.target.name}  if {e.when}" for e in state.edges]
    return "\n".join(lines)


def as_mermaid(nfa: Nfa) -> str:
    """Return a mermaid flowchart.

    >>> from headrace.graph.cep_pattern import Contiguity, PatternData, Step
    >>> from headrace.operators.cep.compiler import compile_pattern
    >>> print(as_mermaid(compile_pattern(PatternData((Step("a", Contiguity.STRICT),)))))
    flowchart LR
      s1(["a"])
      s0((("$endState$")))
      s1 -->|"take"| s0
    """
    lines = ["flowchart LR"]
    for state in _in_order(nfa):
        left, right = {
            StateKind.START: ("([", "])"),
            StateKind.FINAL: ("(((", ")))"),
            StateKind.STOP: ("{{", "}}"),
        }.get(state.kind, ("[", "]"))
        lines.append(f'  s{state.index}{left}"{_quoted(state.name)}"{right}')
    for state in _in_order(nfa):
        for edge in state.edges:
            arrow = "-.->" if edge.action is Action.PROCEED else "-->"
            lines.append(f'  s{state.index} {arrow}|"{_label(edge.action, edge.when)}"| s{edge.target.index}')
    return "\n".join(lines)


def as_graphviz(nfa: Nfa) -> str:
    """Return a graphviz digraph."""
    lines = ["digraph pattern {", "  rankdir=LR;"]
    for state in _in_order(nfa):
        shape = _SHAPES.get(state.kind, "circle")
        bold = ", style=bold" if state.kind is StateKind.START else ""
        lines.append(f'  s{state.index} [label="{_quoted(state.name)}", shape={shape}{bold}];')
    for state in _in_order(nfa):
        for edge in state.edges:
            style = ", style=dashed" if edge.action is Action.PROCEED else ""
            label = _label(edge.action, edge.when)
            lines.append(f'  s{state.index} -> s{edge.target.index} [label="{label}"{style}];')
    return "\n".join([*lines, "}"])


def _in_order(nfa: Nfa) -> list[State]:
    """Return the states that can be reached from the start."""
    found = [nfa.start]
    for state in found:
        found += [t for t in dict.fromkeys(e.target for e in state.edges) if t not in found]
    return found


def _label(action: Action, when: object) -> str:
    return action.value if isinstance(when, Always) else f"{action.value}: {_quoted(str(when))}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', "'")
