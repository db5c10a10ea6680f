#!/usr/bin/env python3
"""Writes the generated parts of docs/internals/job-machine.md: the picture of the job machine and its table."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from headrace.driver.machine_drawing import markdown_table, svg  # noqa: E402

PICTURE = ROOT / "docs" / "pictures" / "job-machine.svg"
PAGE = ROOT / "docs" / "internals" / "job-machine.md"
BEGIN, END = "<!-- generated: table -->\n", "<!-- end -->\n"


def page(text: str) -> str:
    """Return the page with its table as the code has it now."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + markdown_table() + "\n" + END + rest.split(END)[1]


def main() -> None:
    """Write both files."""
    PICTURE.write_text(svg())
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main()
