"""Programs written for PyFlink run after `pyflink` is replaced by `headrace` in their imports, and print what they should."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
IMPORT = re.compile(r"^(\s*(?:from|import)\s+)pyflink\b", re.MULTILINE)

EXPECTED = {
    "word_count": [
        "Printing result to stdout. Use --output to specify output path.",
        *(
            f"({word},{count})"
            for word, count in {
                "a": 1, "against": 1, "and": 1, "arms": 1, "arrows": 1, "be": 1, "be,--that": 1, "fortune": 1, "in": 1,
                "is": 1, "mind": 1, "nobler": 1, "not": 1, "of": 2, "or": 2, "outrageous": 1, "question": 1, "sea": 1,
                "slings": 1, "suffer": 1, "take": 1, "the": 3, "tis": 1, "to": 4, "troubles": 1, "whether": 1,
            }.items()
        ),
    ],
    "state_access": 4 * ["('Alice', 163.3)"] + 4 * ["('Bob', 102.5)"],
    "old_event_time": ["+I[ann,cart=1, home=2]", "+I[bob,home=1]"],
    "connected_streams": ["('ann', 0.5)", "('ann', 9.5)", "('bob', 20.0)"],
    "side_output": [
        "broken> JSONDecodeError: no json",
        'broken> KeyError: {"id": 2, "tel": {"number": 456}}',
        "ok> (1,86)",
    ],
    "broadcast_state": ["a: 11 > 10"],
    "rich_functions": ["last> 3", "once> >", "once> a", "once> b", "once> c", "sum> (>,3)"],
}  # fmt: skip


def migrated(name: str) -> str:
    text = (PROGRAMS / f"{name}.py.txt").read_text(encoding="utf-8")
    swapped, count = IMPORT.subn(r"\1headrace", text)
    assert count and "pyflink" not in swapped
    return swapped


def run(name: str, folder: Path, **environment: str) -> list[str]:
    """The sorted lines that the program prints, without the numbers of subtasks."""
    script = folder / f"{name}.py"
    script.write_text(migrated(name), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script.name],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return sorted(
        re.sub(r"^(\w+:)?\d+> ", lambda m: f"{m[1][:-1]}> " if m[1] else "", line) for line in done.stdout.splitlines()
    )


def test_every_program_has_its_expectation():
    assert {path.name.removesuffix(".py.txt") for path in PROGRAMS.glob("*.txt")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_migrated_program(name, tmp_path):
    assert run(name, tmp_path, HEADRACE_EXECUTOR="local") == sorted(EXPECTED[name])


@pytest.mark.spark
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["old_event_time", "broadcast_state"])
def test_migrated_program_on_spark(name, tmp_path):
    assert run(name, tmp_path, HEADRACE_EXECUTOR="spark") == sorted(EXPECTED[name])
