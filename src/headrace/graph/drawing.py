"""Draw the chained plan: mermaid (for Markdown), graphviz (for `dot`) and SVG. Pure; called by `env.draw()`.

A box is a task, with its operators and its parallelism; an arrow is an exchange, with its strategy and side output.

In SVG, columns of tasks run from left to right: a task is one column after the last of its inputs. Arrows that skip columns
are not routed around the boxes in between; plans are small enough for that.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass

from headrace.graph.job_graph import JobEdge, JobGraph, JobVertex
from headrace.graph.specs import SourceSpec

_LINE = 18
_CHARACTER = 7.2
_GAP_X, _GAP_Y, _MARGIN, _PADDING = 130, 30, 20, 12
_STYLE = (
    "text{font:12px sans-serif;fill:#1f2937}"
    ".task{fill:#eef2ff;stroke:#4f46e5}"
    ".edge{fill:none;stroke:#6b7280}"
    ".strategy{font-size:10px;fill:#6b7280;text-anchor:middle}"
)


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


# -- SVG ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Box:
    """Position, size and text lines of a task."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


def svg(graph: JobGraph) -> str:
    """Return the plan as one `<svg>` element."""
    boxes = _laid_out(graph)
    width = max(box.x + box.width for box in boxes.values()) + _MARGIN
    height = max(box.y + box.height for box in boxes.values()) + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>{html.escape(graph.name)}</title>",
        f"<style>{_STYLE}</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#6b7280"/></marker></defs>',
    ]
    parts += [_arrow(edge, boxes[edge.source], boxes[edge.target]) for edge in graph.edges]
    parts += [_drawn(box) for box in boxes.values()]
    return "\n".join([*parts, "</svg>"])


def columns(graph: JobGraph) -> dict[str, int]:
    """Return the column of each vertex: the number of exchanges on the longest path to it."""
    found: dict[str, int] = {}
    for vertex in graph.vertices:  # in topological order
        found[vertex] = max((found[edge.source] + 1 for edge in graph.in_edges(vertex)), default=0)
    return found


def _laid_out(graph: JobGraph) -> dict[str, _Box]:
    boxes: dict[str, _Box] = {}
    by_column: dict[int, list[JobVertex]] = {}
    for number, column in columns(graph).items():
        by_column.setdefault(column, []).append(graph.vertices[number])
    x = float(_MARGIN)
    for column in sorted(by_column):
        y = float(_MARGIN)
        for vertex in by_column[column]:
            lines = (*vertex.name.split(" -> "), f"x {vertex.parallelism}")
            width = max(len(line) for line in lines) * _CHARACTER + 2 * _PADDING
            height = len(lines) * _LINE + _PADDING
            boxes[vertex.id] = _Box(x, y, width, height, lines)
            y += height + _GAP_Y
        x = max(boxes[vertex.id].x + boxes[vertex.id].width for vertex in by_column[column]) + _GAP_X
    return boxes


def _drawn(box: _Box) -> str:
    texts = [
        f'<text x="{box.x + _PADDING:.0f}" y="{box.y + (number + 1) * _LINE:.0f}">{html.escape(line)}</text>'
        for number, line in enumerate(box.lines)
    ]
    rectangle = (
        f'<rect class="task" x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}" rx="6"/>'
    )
    return "<g>" + rectangle + "".join(texts) + "</g>"


def _arrow(edge: JobEdge, source: _Box, target: _Box) -> str:
    x1, y1 = source.x + source.width, source.y + source.height / 2
    x2, y2 = target.x, target.y + target.height / 2
    bend = (x1 + x2) / 2
    curve = f"M{x1:.0f} {y1:.0f} C{bend:.0f} {y1:.0f} {bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    return (
        f'<path class="edge" marker-end="url(#head)" d="{curve}"/>'
        f'<text class="strategy" x="{bend:.0f}" y="{(y1 + y2) / 2 - 5:.0f}">{html.escape(_arrow_text(edge))}</text>'
    )


PICTURES: dict[str, Callable[[JobGraph], str]] = {"mermaid": mermaid, "graphviz": graphviz, "svg": svg}
"""The function that draws each kind of picture."""
