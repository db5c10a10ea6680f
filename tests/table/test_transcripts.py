"""SQL transcripts: tables, a query and its changelog as Flink has it, run on the local executor."""

from __future__ import annotations

import pytest
from plan_kit import local_environment
from transcript_kit import cases, final, run

from headrace.errors import HeadraceError
from headrace.table.errors import SqlNotSupportedError, SqlValidationError


@pytest.mark.parametrize("case", cases())
def test_transcript(case, request):
    if "differs" in case:  # strict: a difference that is gone must leave the list
        request.applymarker(pytest.mark.xfail(reason=case["differs"], strict=True))
    if "skip" in case or not ("expected" in case or "error" in case):
        pytest.skip(case.get("skip", "not recorded"))
    if "error" in case:
        with pytest.raises((SqlNotSupportedError, SqlValidationError, HeadraceError)):
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
    if {"skip", "differs"} & case.keys() or "expected" not in case or "one subtask" in case or "limit" in case["name"]:
        pytest.skip("needs one subtask")
    found = run(case, local_environment(2))
    assert final(found) == final([tuple(row) for row in case["expected"]])
