"""Every path on the page "Where does it live?" exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "internals" / "where-does-it-live.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and "`" in line]
PATHS = sorted({path for row in ROWS for path in re.findall(r"`([\w./-]+[/.][\w./-]*)`", row)})


@pytest.mark.parametrize("path", PATHS)
def test_path_exists(path):
    assert (ROOT / path).exists() or (ROOT / "src" / "headrace" / path).exists()


def test_page_names_twenty_changes():
    assert len(ROWS) >= 20
