"""Draws the table of the job machine as an SVG picture and a Markdown table. Used by `make_pictures.py`.

Only the places of the states are chosen here; the arrows come from the table. What all working states have in common is
drawn once, from the frame around them. Events after which a state stays are left to the Markdown table.
"""

from __future__ import annotations

from html import escape

from headrace.driver.transitions import ENDED, STATUS, TABLE, State

__all__ = ["job_machine", "markdown_table"]

_WIDTH, _HEIGHT, _LINE, _MOST_NAMES = 150, 46, 13, 4
_PLACES: dict[State, tuple[int, int]] = {
    State.CREATED: (20, 110),
    State.STARTING: (240, 110),
    State.RECOVERING: (240, 220),
    State.RESCALING: (500, 110),
    State.RUNNING: (500, 220),
    State.FINISHING: (760, 220),
    State.RESTARTING: (240, 420),
    State.CANCELLING: (760, 420),
    State.CLOSING: (1060, 220),
    State.FINISHED: (1300, 110),
    State.FAILED: (1300, 220),
    State.CANCELED: (1300, 330),
}
_WORKING = (State.STARTING, State.RECOVERING, State.RESCALING, State.RUNNING, State.FINISHING)
Box = tuple[float, float, float, float]
_FRAME: Box = (215.0, 60.0, 720.0, 270.0)
_BENDS = {
    (State.STARTING, State.CLOSING): -90,
    (State.RECOVERING, State.CLOSING): 70,
    (State.RUNNING, State.CLOSING): 110,
    (State.RESTARTING, State.CLOSING): 230,
}
_STYLE = (
    "text{font:12px sans-serif;fill:#1f2937}.small{font-size:10px;fill:#4b5563}"
    ".state{fill:#eef2ff;stroke:#4f46e5}.end{fill:#ecfdf5;stroke:#047857}.frame{fill:none;stroke:#9ca3af;stroke-dasharray:6 4}"
    ".arrow{fill:none;stroke:#6b7280}.event{font-size:10px;fill:#374151;text-anchor:middle;paint-order:stroke;stroke:#fff;"
    "stroke-width:3px}"
)


def arrows() -> dict[tuple[State | None, State], list[str]]:
    """Return the names of the events that lead from one state to another; None is the frame of the working states."""
    found: dict[tuple[State | None, State], list[str]] = {}
    common = set.intersection(
        *({(event.__name__, after) for event, states in TABLE[s].items() for after in states} for s in _WORKING)
    )
    for state, row in TABLE.items():
        for event, states in row.items():
            for after in states:
                shared = state in _WORKING and (event.__name__, after) in common
                names = found.setdefault((None if shared else state, after), [])
                if event.__name__ not in names:
                    names.append(event.__name__)
    return {(before, after): names for (before, after), names in found.items() if before is not after}


def job_machine() -> str:
    """Return the picture as one `<svg>` element."""
    width, height = 1470, 600
    x, y, w, h = _FRAME
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">',
        "<title>The states of a job</title>",
        f"<style>{_STYLE}</style>",
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z" fill="#6b7280"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<rect class="frame" x="{x:.0f}" y="{y:.0f}" width="{w:.0f}" height="{h:.0f}" rx="10"/>',
        *(_arrow(before, after, names) for (before, after), names in arrows().items()),
        *(_box(state) for state in State),
    ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _box(state: State) -> str:
    x, y = _PLACES[state]
    status = STATUS[state]
    shown = "status as before" if status is None else f"status {status.name}"
    return (
        f'<g><rect class="{"end" if state in ENDED else "state"}" x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
        f'<text x="{x + 10}" y="{y + 19}">{state.name}</text>'
        f'<text class="small" x="{x + 10}" y="{y + 36}">{shown}</text><title>{escape(state.value)}</title></g>'
    )


def _arrow(before: State | None, after: State, names: list[str]) -> str:
    source: Box = _FRAME if before is None else (*_PLACES[before], _WIDTH, _HEIGHT)
    target: Box = (*_PLACES[after], _WIDTH, _HEIGHT)
    x1, y1, x2, y2 = _ends(source, target, back=before is not None and (after, before) in arrows())
    bend = 0 if before is None else _BENDS.get((before, after), 0)
    if bend:  # leave and arrive at the upper or lower edge
        x1, x2 = source[0] + source[2] / 2, target[0] + target[2] / 2
        y1, y2 = (source[1], target[1]) if bend < 0 else (source[1] + source[3], target[1] + target[3])
    middle, level = (x1 + x2) / 2, (y1 + y2) / 2 + bend * 0.75
    if len(names) > _MOST_NAMES:
        names = [f"{len(names)} events"]
    label = "".join(
        f'<text class="event" x="{middle:.0f}" y="{level + 3 + (n - (len(names) - 1) / 2) * _LINE:.0f}">{name}</text>'
        for n, name in enumerate(names)
    )
    curve = f"M{x1:.0f} {y1:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 + bend:.0f} {x2:.0f} {y2:.0f}"
    return f'<path class="arrow" marker-end="url(#head)" d="{curve}"/>{label}'


def _ends(source: Box, target: Box, back: bool) -> tuple[float, float, float, float]:
    """Return where a straight arrow leaves and arrives; one that has a twin in the other direction is moved aside."""
    (sx, sy, sw, sh), (tx, ty, tw, th) = source, target
    aside = 18.0 if back else 0.0
    if sx + sw <= tx:
        if source is _FRAME:
            return sx + sw, ty + th - 6, tx, ty + th - 6
        return sx + sw, sy + sh / 2 - aside, tx, ty + th / 2 - aside
    if tx + tw <= sx:
        return sx, sy + sh / 2 + aside, tx + tw, ty + th / 2 + aside
    x = tx + tw / 2 + (aside * 2 if sy < ty else -aside * 2)
    if source is _FRAME:
        x += 40
    return (x, sy + sh, x, ty) if sy < ty else (x, sy, x, ty + th)


def markdown_table() -> str:
    """Return the whole table as Markdown: a row for each state and event."""
    lines = ["| state | status | event | next state |", "| --- | --- | --- | --- |"]
    for state, row in TABLE.items():
        status = STATUS[state]
        for number, (event, states) in enumerate(row.items()):
            after = ", ".join("stays" if s is state else f"`{s.name}`" for s in states)
            shown = "as before" if status is None else f"`{status.name}`"
            lines.append(
                f"| {f'`{state.name}`' if not number else ''} | {shown if not number else ''} | {event.__name__} | {after} |"
            )
    return "\n".join(lines) + "\n"
