"""The operators emit what Flink's emitted for the same rows in the same order.

Each case has the steps of the operator's input and, for each step, the changes that Flink 2.3 emitted. Changes of one step
may come in another order only where Flink iterates over a hash map: the matches of a row in a join.
"""

import json
from pathlib import Path

import pytest
from tests.unit.operators.table.driving import play
from tests.unit.operators.table.recorded import keys_of, spec_of, steps_of

CASES = json.loads(Path(__file__).parents[3].joinpath("data/table/operators_b.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
@pytest.mark.parametrize("mode", ["heap", "restart"])
def test_like_flink(case, mode):
    results, _ = play(spec_of(case), keys_of(case), steps_of(case), mode)
    expected = [[tuple(row) for row in rows] for rows in case["expected"]]
    if case.get("any_order"):
        results, expected = [[sorted(rows, key=repr) for rows in each] for each in (results, expected)]
    assert results == expected


def test_there_are_many_cases():
    assert len(CASES) >= 80
