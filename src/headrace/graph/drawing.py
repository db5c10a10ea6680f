"""Draw the chained plan: mermaid (for Markdown), graphviz (for `dot`) and SVG. Pure; called by `env.draw()`.

A box is a task, with its operators and its parallelism; an arrow is an exchange, with its strategy and side output.
"""

from __future__ import annotations

import html
from collections.abc import Callable

from headrace.graph.job_graph import JobEdge, JobGraph, JobVertex
from headrace.graph.specs import SourceSpec
from headrace.graph.svg_drawing import svg


def mermaid(graph: JobGraph) -> str:
    """Return the plan as a mermaid flowchart."""
    names = _short_names(graph)
    lines = ["flowchart LR"]
    for vertex in graph.vertices.values():
        opening, closing = _mermaid_shape(vertex)
        text = html.escape(vertex.name, quote=True).replace(" -&gt; ", "<br/>")
        lines.append(f'    {names[vertex.id]}{opening}"{text}<br/>x {vertex.parallelism}"{closing}')
    lines += [f"    {names[e.source]} -->|{_arrow_text(e)}| {names[e.target]}" for e in graph.edges]
    return "\n".join(lines)


def graphviz(graph: JobGraph) -> str:
    """Return the plan as a graphviz digraph."""
    names = _short_names(graph)
    lines = [f"digraph {_quoted(graph.name)} {{", "    rankdir=LR;", "    node [shape=box, style=rounded];"]
    for vertex in graph.vertices.values():
        text = vertex.name.replace(" -> ", "\n") + f"\nx {vertex.parallelism}"
        lines.append(f"    {names[vertex.id]} [label={_quoted(text)}];")
    lines += [f"    {names[e.source]} -> {names[e.target]} [label={_quoted(_arrow_text(e))}];" for e in graph.edges]
    return "\n".join([*lines, "}"])


PICTURES: dict[str, Callable[[JobGraph], str]] = {"mermaid": mermaid, "graphviz": graphviz, "svg": svg}
"""The function that draws each kind of picture."""


def _short_names(graph: JobGraph) -> dict[str, str]:
    return {vertex: f"v{number}" for number, vertex in enumerate(graph.vertices, start=1)}


def _mermaid_shape(vertex: JobVertex) -> tuple[str, str]:
    if isinstance(vertex.head.spec, SourceSpec):
        return "([", "])"
    return ("[[", "]]") if vertex.nodes[-1].is_sink else ("[", "]")


def _arrow_text(edge: JobEdge) -> str:
    strategy = edge.edge.partitioner.name
    return strategy if edge.edge.tag is None else f"{strategy} {edge.edge.tag}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
