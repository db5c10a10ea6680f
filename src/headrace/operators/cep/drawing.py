"""An NFA as a string, and as drawings for mermaid and graphviz. Pure; `Pattern.describe` shows the results."""

from __future__ import annotations

from headrace.operators.cep.nfa import Action, Always, Nfa, State, StateKind

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
