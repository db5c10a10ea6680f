"""MAX of values that only grow never goes back while rows are updated; other aggregates take back old values."""

from __future__ import annotations

import pytest
from plan_kit import Tables

from headrace.table.plan.settings import PlanSettings

ROWS = [("a",), ("b",), ("a",), ("a",), ("b",)]
COUNTS = "(SELECT k, COUNT(*) AS n FROM s GROUP BY k)"


@pytest.mark.parametrize(
    ("query", "values"),
    [
        (f"SELECT MAX(n) FROM {COUNTS}", [1, 2, 3]),
        (f"SELECT MAX(n) FROM {COUNTS} WHERE n < 3", [1, 2, 1, 2]),
    ],
)
def test_maximum_of_counts(query, values):
    tables = Tables()
    tables.create("s (k STRING)", ROWS)
    rows = tables.rows(query, PlanSettings.of({}, False), 1)
    assert [row[0] for row in rows if row[-1] in (0, 2)] == values
