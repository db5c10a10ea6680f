"""Every Python block in README.md and docs/ works.

The blocks of one file are one program, run in order, on the Spark of the test process; those of the README as a script. A block that opens with ```python no-run is only compiled.
A block keeps the line numbers that it has in its file, so a traceback points to the right line of the page.
"""

from __future__ import annotations

import os
import re
import runpy
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>```+)(?P<info>[^`]*)$")
TIMEOUT_S = 240


@dataclass(frozen=True)
class Block:
    """One Python block of a page; `line` is where its code starts, counted from 1."""

    line: int
    code: tuple[str, ...]
    runs: bool


def python_blocks(text: str) -> list[Block]:
    blocks: list[Block] = []
    opening: re.Match[str] | None = None
    start = 0
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if opening is None:
            if fence:
                opening, start = fence, number
        elif fence and not fence["info"].strip() and len(fence["ticks"]) >= len(opening["ticks"]):
            language, *words = opening["info"].split() or [""]
            if language == "python":
                unknown = set(words) - {"no-run"}
                assert not unknown, f"line {start}: unknown words after ```python: {unknown}"
                indent = len(opening["indent"])
                code = tuple(code[indent:] if code.strip() else "" for code in lines[start : number - 1])
                blocks.append(Block(start + 1, code, "no-run" not in words))
            opening = None
    assert opening is None, f"line {start}: this block is never closed"
    return blocks


def as_program(blocks: list[Block]) -> str:
    """The blocks as one source text, each on the lines that it has in its page."""
    lines: list[str] = []
    for block in blocks:
        lines += [""] * (block.line - 1 - len(lines))
        lines += block.code
    return "\n".join(lines) + "\n"


BLOCKS = {page: python_blocks(page.read_text(encoding="utf-8")) for page in PAGES}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [page for page, blocks in BLOCKS.items() if blocks], ids=name)
def test_blocks_compile(page):
    for block in BLOCKS[page]:
        compile(as_program([block]), name(page), "exec")


RUNNABLE = [page for page, blocks in BLOCKS.items() if any(block.runs for block in blocks)]
SCRIPTS = [page for page in RUNNABLE if page.parent == ROOT or any("spark.stop()" in b.code for b in BLOCKS[page])]
"""The README, and pages that end the Spark which the others share."""


def written(page: Path, folder: Path) -> Path:
    script = folder / f"{page.stem}_md.py"
    script.write_text(as_program([block for block in BLOCKS[page] if block.runs]), encoding="utf-8")
    return script


@pytest.mark.spark
@pytest.mark.parametrize("page", [page for page in RUNNABLE if page not in SCRIPTS], ids=name)
def test_blocks_run(page, spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with patch.dict(os.environ):
        runpy.run_path(str(written(page, tmp_path)), run_name="__main__")


@pytest.mark.spark
@pytest.mark.timeout(TIMEOUT_S + 60)
@pytest.mark.parametrize("page", SCRIPTS, ids=name)
def test_blocks_run_as_a_script(page, run_script, tmp_path):
    finished = run_script(written(page, tmp_path), cwd=tmp_path, timeout_s=TIMEOUT_S)
    assert finished.returncode == 0, finished.report()


def test_blocks_keep_their_line_numbers():
    page = "text\n\n```python\na = 1\n```\n- item\n  ```python no-run\n  b = 2\n  ```\n```text\nc\n```\n"
    blocks = python_blocks(page)
    assert blocks == [Block(4, ("a = 1",), True), Block(8, ("b = 2",), False)]
    assert as_program(blocks).splitlines() == ["", "", "", "a = 1", "", "", "", "b = 2"]
