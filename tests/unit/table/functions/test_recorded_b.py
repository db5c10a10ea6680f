"""Calls of functions whose types and values were recorded from Flink 2.3: strings, JSON, collections, dates and times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.table.functions.expressions import evaluate

from headrace.errors import HeadraceError
from headrace.table.functions.definition import Session

DATA = Path(__file__).parents[3] / "data/table"
CASES: list[dict[str, Any]] = json.loads((DATA / "functions_b.json").read_text("utf-8"))
DIFFERENCES: dict[str, str] = {
    call: group["reason"]
    for group in json.loads((DATA / "function_differences.json").read_text("utf-8"))
    for call in group["calls"]
}
PART = 500


def normal(kind: str, value: str | None) -> str | None:
    """Return a value as text; the entries of a map have no order."""
    if value is None or not kind.startswith("MAP"):
        return value
    return "{" + ", ".join(sorted(value[1:-1].split(", "))) + "}"


def outcome(case: dict[str, Any]) -> tuple[str, str | None] | str:
    try:
        kind, value = evaluate(case["sql"], Session(case.get("zone", "UTC")))
    except HeadraceError:
        return "error"
    return kind, normal(kind, value)


def expected(case: dict[str, Any]) -> tuple[str, str | None] | str:
    return "error" if "error" in case else (case["type"], normal(case["type"], case["values"][0]))


@pytest.mark.parametrize("start", range(0, len(CASES), PART))
def test_calls_agree_with_flink(start: int) -> None:
    """Only the listed calls differ, and a call that agrees must not be listed."""
    wrong = []
    for case in CASES[start : start + PART]:
        found = outcome(case)
        if (found == expected(case)) is (case["sql"] in DIFFERENCES):
            wrong.append(f"{case['sql']}: expected {expected(case)}, got {found}")
    assert not wrong, "\n".join(wrong)


def test_differences_have_reasons_and_are_few() -> None:
    assert all(DIFFERENCES.values())
    assert len(CASES) >= 3800
    assert len(DIFFERENCES) <= len(CASES) * 0.025
