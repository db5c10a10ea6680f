"""Record which queries Flink accepts, with the names and types of their columns: run by hand, with a Python that has apache-flink.

    python tests/table/verdicts/record.py

Writes `answers.json`: of each statement either its columns or the error with which Flink refuses it. Nothing is run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyflink.table import EnvironmentSettings, TableEnvironment

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))
from statements import is_query, statements  # noqa: E402


def verdict(environment, statement):
    try:
        if not is_query(statement):
            environment.explain_sql(statement)
            return {"columns": []}
        table = environment.sql_query(statement)
        table.explain()
        columns = table._j_table.getResolvedSchema().getColumns()
        return {
            "columns": [[each.getName(), each.getDataType().getLogicalType().asSummaryString()] for each in columns]
        }
    except Exception as error:
        return {"error": " | ".join(messages(error))[:400]}


def messages(error):
    cause = getattr(error, "java_exception", None)
    if cause is None:
        yield f"{type(error).__name__}: {error}"
    while cause is not None:
        yield f"{cause.getClass().getSimpleName()}: {str(cause.getMessage())[:200]}"
        cause = cause.getCause()


def main():
    environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    environment.get_config().set("table.local-time-zone", "UTC")
    for statement in statements(FOLDER / "tables.sql"):
        environment.execute_sql(statement)
    answers = {each: verdict(environment, each) for each in statements(FOLDER / "queries.sql")}
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in answers.items())
    (FOLDER / "answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
