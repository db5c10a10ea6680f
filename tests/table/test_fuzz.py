"""Random queries have the same answers as in DuckDB; `scripts/sql-fuzz` runs many more."""

from __future__ import annotations

import pytest

pytest.importorskip("duckdb")


@pytest.mark.parametrize("seed", range(4))
def test_random_queries_agree_with_duckdb(seed: int) -> None:
    from fuzz_kit.trials import differences

    assert list(differences(seed, 50)) == []
