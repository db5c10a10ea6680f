#!/usr/bin/env python3
"""The workloads of `flink_sql`, with its SQL unchanged, on `headrace.table`.

Runs beside the benchmark's own engines: `bench/compare.py --engines headrace_sql,flink_sql --workloads W4,W10`.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from common import HERE, main, sql_hash

sys.path.insert(0, HERE)
import flink_sql

sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != HERE]  # it holds a headrace.py

SETTINGS = {
    "table.local-time-zone": "UTC",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.mini-batch.size": "100000",
}
"""Those of `flink_sql`: the checksum's aggregate sends one update per mini-batch, not one per row."""


def run(a: Any) -> dict[str, Any]:
    from headrace.common import RowKind
    from headrace.table import EnvironmentSettings, TableEnvironment

    t = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    for key, value in {"parallelism.default": str(a.parallelism), **SETTINGS}.items():
        t.get_config().set(key, value)
    if os.environ.get("HEADRACE_TARGET"):  # "local": without Spark, to profile
        t.get_config().set("headrace.executor", os.environ["HEADRACE_TARGET"])
    ddl, columns, query = flink_sql.job(a)
    for statement in ddl:
        t.execute_sql(statement)
    started = time.time()
    last: tuple[Any, ...] = (0, 0)
    checked = f"SELECT COUNT(*), SUM({sql_hash(flink_sql.mod, *columns)}) FROM ({query})"
    with t.execute_sql(checked).collect() as rows:
        for row in rows:
            if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                last = tuple(row)
    return {"count": last[0], "checksum": last[1], "run_s": time.time() - started}


if __name__ == "__main__":
    main("headrace_sql", run, flink_sql.WORKLOADS)
