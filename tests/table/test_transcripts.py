"""SQL transcripts: tables, a query and its changelog as Flink has it, run on the local executor."""

from __future__ import annotations

import pytest
from plan_kit import local_environment
from transcript_kit import cases, final, run

from headrace.errors import HeadraceError


@pytest.mark.parametrize("case", cases())
def test_transcript(case):
    if "skip" in case or not ("expected" in case or "error" in case):
        pytest.skip(case.get("skip", "not recorded"))
    if "differs" in case:  # a known difference; this fails when it is gone
        with pytest.raises((AssertionError, pytest.fail.Exception, HeadraceError)):
            _check(case)
    else:
        _check(case)


def _check(case):
    if "error" in case:
        with pytest.raises(HeadraceError):
            run(case)
        return
    found = run(case)
    expected = [tuple(row) for row in case["expected"]]
    if case["compare"] == "final":
        assert final(found) == final(expected)
    elif case.get("order", "exact") == "exact":
        assert found == expected
    else:
        assert sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("case", cases())
def test_transcript_with_two_subtasks(case):
    if {"skip", "differs", "one subtask"} & set(case) or "expected" not in case or "limit" in case["name"]:
        pytest.skip("needs one subtask")
    found = run(case, local_environment(2))
    assert final(found) == final([tuple(row) for row in case["expected"]])
