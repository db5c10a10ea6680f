"""Record what Flink answers to the Nexmark queries: run by hand, with a Python that has apache-flink and PyYAML.

    python tests/table/nexmark/record.py

Writes `answers.json`: of each query the columns with their types and the rows of the table that its changelog leaves.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import yaml
from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))
from auction_site import write_events, write_rates  # noqa: E402
from final_table import final_table  # noqa: E402


def answer(case, tables, paths):
    batch = case.get("batch", False)
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    environment = TableEnvironment.create(settings)
    environment.get_config().set("parallelism.default", "1")
    environment.get_config().set("table.local-time-zone", "UTC")
    for statement in [*tables, *case.get("setup", ())]:
        for name, path in paths.items():
            statement = statement.replace(f"{{{name}}}", str(path))
        result = environment.execute_sql(statement)
        if statement.startswith("INSERT"):
            result.wait()
    try:
        return collected(environment._j_tenv.executeSql(case.get("flink", case["query"])), case.get("key", ()))
    except Exception as error:
        return {"error": str(getattr(error, "java_exception", error)).splitlines()[0][:300]}


def collected(result, key):
    columns = result.getResolvedSchema().getColumns()
    shown = [[each.getName(), each.getDataType().getLogicalType().asSummaryString()] for each in columns]
    text = get_gateway().jvm.org.apache.flink.util.StringUtils.arrayAwareToString
    changes = []
    iterator = result.collect()
    while iterator.hasNext():
        row = iterator.next()
        values = [row.getField(number) for number in range(row.getArity())]
        kept = tuple(value if value is None or isinstance(value, str) else text(value) for value in values)
        changes.append((row.getKind().shortString(), kept))
    iterator.close()
    return {"columns": shown, "rows": sorted(final_table(changes, key).elements(), key=repr)}


def main():
    document = yaml.safe_load((FOLDER / "queries.yaml").read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_events(folder / "events.json", 300)
        write_rates(folder / "rates.csv", 60)
        paths = {"events": folder / "events.json", "rates": folder / "rates.csv", "log": folder / "log"}
        answers = {case["name"]: answer(case, document["tables"], paths) for case in document["queries"]}
    lines = (f"{json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}" for name, value in answers.items())
    (FOLDER / "answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
