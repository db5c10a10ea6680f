"""Every program in examples/ runs and prints what examples/expected/NAME.txt says.

Most of them share the Spark of the test process, as cells of a notebook would; some run as scripts, as a reader starts them.

The first line of an expectation may be a directive: `# compare: sorted` when the order of the lines is free,
`# compare: exact` (the default) when it is not. A program without an expectation fails.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXPECTED = EXAMPLES / "expected"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
SCRIPTS = {"streaming_word_count"}
DIRECTIVE = "# compare:"
TIMEOUT_S = 240


def read_expectation(path: Path) -> tuple[bool, list[str]]:
    """Whether the order is free, and the lines."""
    lines = path.read_text(encoding="utf-8").splitlines()
    how = "exact"
    if lines and lines[0].startswith(DIRECTIVE):
        how = lines.pop(0).removeprefix(DIRECTIVE).strip()
    assert how in {"exact", "sorted"}, f"{path.name}: unknown directive '{DIRECTIVE} {how}'"
    return how == "sorted", lines


def expected_of(program: Path) -> tuple[bool, list[str]]:
    expectation = EXPECTED / f"{program.stem}.txt"
    assert expectation.exists(), f"examples/{program.name} has no examples/expected/{expectation.name}"
    return read_expectation(expectation)


def assert_printed(text: str, program: Path, report: str) -> None:
    any_order, expected = expected_of(program)
    printed = text.splitlines()
    if any_order:
        printed, expected = sorted(printed), sorted(expected)
    assert printed == expected, report


@pytest.mark.spark
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.stem not in SCRIPTS], ids=lambda program: program.stem)
def test_example_prints_what_is_expected(program, spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(program)])
    runpy.run_path(str(program), run_name="__main__")
    printed = capsys.readouterr()
    assert_printed(printed.out, program, f"--- stdout\n{printed.out}\n--- stderr\n{printed.err}")


@pytest.mark.spark
@pytest.mark.timeout(TIMEOUT_S + 60)
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.stem in SCRIPTS], ids=lambda program: program.stem)
def test_example_as_a_script_prints_what_is_expected(program, run_script, tmp_path):
    finished = run_script(program, cwd=tmp_path, timeout_s=TIMEOUT_S)
    assert finished.returncode == 0, finished.report()
    assert_printed(finished.stdout, program, finished.report())


def test_every_expectation_has_its_example():
    assert PROGRAMS, "examples/ holds no programs"
    assert {path.stem for path in EXPECTED.glob("*.txt")} <= {program.stem for program in PROGRAMS}
