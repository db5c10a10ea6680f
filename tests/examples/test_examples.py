"""Every program in examples/ runs and prints what examples/expected/NAME.txt says.

The first line of an expectation may be a directive: `# compare: sorted` when the order of the lines is free,
`# compare: exact` (the default) when it is not. A program without an expectation fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EXPECTED = EXAMPLES / "expected"
PROGRAMS = sorted(EXAMPLES.glob("*.py"))
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


@pytest.mark.spark
@pytest.mark.timeout(TIMEOUT_S + 60)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_example_prints_what_is_expected(program, run_script, tmp_path):
    expectation = EXPECTED / f"{program.stem}.txt"
    assert expectation.exists(), f"examples/{program.name} has no examples/expected/{expectation.name}"
    any_order, expected = read_expectation(expectation)
    finished = run_script(program, cwd=tmp_path, timeout_s=TIMEOUT_S)
    assert finished.returncode == 0, finished.report()
    printed = finished.stdout.splitlines()
    if any_order:
        printed, expected = sorted(printed), sorted(expected)
    assert printed == expected, finished.report()


def test_every_expectation_has_its_example():
    assert PROGRAMS, "examples/ holds no programs"
    assert {path.stem for path in EXPECTED.glob("*.txt")} <= {program.stem for program in PROGRAMS}
