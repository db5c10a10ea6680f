"""Draw the pictures of docs/pictures that are made from the code. Run it after a change of the rooms or the job machine.

    python scripts/make_pictures.py

`tests/docs/test_pictures.py` checks that the committed pictures are up to date.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "src")]

from job_machine_picture import job_machine, markdown_table  # noqa: E402

JOB_MACHINE_PAGE = ROOT / "docs" / "internals" / "job-machine.md"
BEGIN, END = "<!-- generated: table -->\n", "<!-- end -->\n"
PICTURES = ROOT / "docs" / "pictures"
WIDTH, ROW, BOX, GAP, LEFT = 760, 46, 32, 10, 130
STYLE = (
    "text{font:13px sans-serif;fill:#1f2937}"
    ".room{fill:#eef2ff;stroke:#4f46e5}"
    ".side{font-size:11px;fill:#6b7280}"
    ".floor{stroke:#e5e7eb}"
)
WHERE = {
    "__main__": "tools",
    "cep": "programs",
    "submission": "driver",
    "worker": "workers",
    "connectors": "driver and workers",
    "common": "shared",
}
"""Where a room and those below it run, up to the next entry."""


def layers() -> list[list[str]]:
    """Return the rooms of each layer, the highest layer first, as the import contract lists them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(c for c in settings["tool"]["importlinter"]["contracts"] if c["id"] == "rooms")
    return [layer.replace(":", "|").replace(" ", "").split("|") for layer in contract["layers"]]


def rooms() -> str:
    """Return the picture of the rooms: a room imports only rooms on lower floors."""
    floors = layers()
    height = len(floors) * ROW + 2 * GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
        "<title>The rooms of headrace</title>",
        f"<style>{STYLE}</style>",
    ]
    for number, floor in enumerate(floors):
        y = GAP + number * ROW
        where = next((WHERE[room] for room in floor if room in WHERE), None)
        if where is not None:
            parts.append(f'<path class="floor" d="M0 {y - 7} H{WIDTH}"/>')
            parts.append(f'<text class="side" x="{GAP}" y="{y + 20}">{escape(where)}</text>')
        width = (WIDTH - LEFT - GAP * len(floor)) / len(floor)
        for place, room in enumerate(floor):
            x = LEFT + place * (width + GAP)
            parts.append(f'<rect class="room" x="{x:.0f}" y="{y}" width="{width:.0f}" height="{BOX}" rx="4"/>')
            parts.append(f'<text x="{x + width / 2:.0f}" y="{y + 21}" text-anchor="middle">{escape(room)}</text>')
    return "\n".join([*parts, "</svg>", ""])


DRAWN = {"rooms.svg": rooms, "job-machine.svg": job_machine}


def job_machine_page() -> str:
    """Return the page of the job machine with its table as the code has it now."""
    before, rest = JOB_MACHINE_PAGE.read_text(encoding="utf-8").split(BEGIN)
    return before + BEGIN + "\n" + markdown_table() + "\n" + END + rest.split(END)[1]


if __name__ == "__main__":
    for name, draw in DRAWN.items():
        (PICTURES / name).write_text(draw(), encoding="utf-8")
    JOB_MACHINE_PAGE.write_text(job_machine_page(), encoding="utf-8")
