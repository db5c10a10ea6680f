"""Operators, mathematical functions, conditionals and casts answer as Flink 2.3 does, by rows and by columns.

Calls that differ on purpose, or that are not worth their price, are listed in `known_differences_a.json` by reason. The
test fails for other differences, and for listed calls that agree by now.
"""

import json

import pytest
from tests.unit.table.functions.recorded import DATA, RecordedTable, agree, expected, recorded_tables

TABLES = [table for file in ("literals_a.json", "functions_a.json") for table in recorded_tables(file)]
KNOWN = {
    call: reason
    for reason, calls in json.loads((DATA / "known_differences_a.json").read_text()).items()
    for call in calls
}


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_calls_answer_as_flink_does(table: RecordedTable, columns: bool) -> None:
    different = []
    for call, answer in table.data["calls"].items():
        wanted, found = expected(answer), table.answer(call, columns)
        if agree(wanted, found) is (call in KNOWN):
            different.append((call, wanted, found))
    assert different == []


def test_at_least_eight_hundred_calls_are_recorded() -> None:
    assert sum(len(table.data["calls"]) for table in TABLES) >= 800
