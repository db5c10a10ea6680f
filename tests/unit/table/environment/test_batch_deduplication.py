"""Deduplication by a time attribute in batch mode: each key has one row, not the changes that lead to it."""

from __future__ import annotations

import pytest

from headrace.table import EnvironmentSettings, TableEnvironment


@pytest.mark.parametrize(("order", "kept"), [("ASC", {(1, "a"), (2, "b")}), ("DESC", {(1, "d"), (2, "c")})])
def test_one_row_per_key_is_kept(order: str, kept: set[tuple[int, str]], tmp_path) -> None:
    rows = [(1, "a", 1), (2, "b", 2), (2, "c", 3), (1, "d", 4)]
    lines = [f'{{"k": {k}, "v": "{v}", "ts": "2024-01-01 00:00:0{second}"}}' for k, v, second in rows]
    (tmp_path / "rows.json").write_text("\n".join(lines))
    tables = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    tables.get_config().set("headrace.executor", "local")
    tables.execute_sql(
        "CREATE TABLE t (k INT, v STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json')"
    )
    query = (
        f"SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts {order}) AS n FROM t) WHERE n = 1"
    )
    with tables.execute_sql(query).collect() as found:
        assert sorted(map(tuple, found)) == sorted(kept)
