"""Ask Flink for the answers to the calls, and write them to `tests/data/table/functions_a.json`.

Run it with the Python of an environment that has apache-flink 2.3.0 and a Java runtime:

    JAVA_TOOL_OPTIONS=-XX:ReservedCodeCacheSize=1g python scripts/flink_answers/record.py OUT.json [TABLE...]

Calls that OUT.json has already are not asked again.

Each call is validated on its own; the valid ones run in large batches over a table that Flink reads from a file, so that
no call is computed while the query is planned. When a batch fails, its calls run again in smaller batches, and at last
one call and one row at a time. A call's answer is one of

    {"refused": "why"}                      the query is not valid
    {"type": "INT", "values": [...]}        the text of the value in each row, as Java prints it; null for NULL
    {"type": ..., "values": [..., {"fails": "why"}]}    this row makes the query fail
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from calls import CALLS
from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment
from tables import TABLES, Table

BATCH = 40
REASON = 120


def reason(error: Exception) -> str:
    """Return the innermost cause of a Java exception."""
    java = getattr(error, "java_exception", None)
    if java is None:
        return f"{type(error).__name__}: {error}"[:REASON]
    while java.getCause() is not None:
        java = java.getCause()
    return f"{java.getClass().getSimpleName()}: {java.getMessage()}"[:REASON]


class Recorder:
    """Asks for the answers over one table."""

    def __init__(self, table: Table, streaming: bool = False) -> None:
        self.gateway = get_gateway()
        self.table = table
        self.count = len(table.rows())
        settings = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
        self.environment = TableEnvironment.create(settings)
        config = self.environment.get_config()
        config.set("parallelism.default", "1")
        config.set("table.local-time-zone", table.time_zone)
        folder = tempfile.mkdtemp()
        with open(os.path.join(folder, "rows.json"), "w") as file:
            for number, row in enumerate(table.rows()):
                file.write(json.dumps({"place": number, **{f"x{i}": text for i, text in enumerate(row)}}) + "\n")
        columns = ", ".join(f"x{i} STRING" for i in range(len(table.columns)))
        self.environment.execute_sql(
            f"CREATE TABLE source (place INT, {columns}) "
            f"WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}')"
        )
        values = ", ".join(f"{each.sql.replace('?', f'x{i}')} AS {each.name}" for i, each in enumerate(table.columns))
        self.environment.execute_sql(f"CREATE VIEW t AS SELECT place, {values} FROM source")
        self.answers: dict[str, Any] = {}
        self.done: set[str] = set()

    def record(self, calls: list[str], save: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Return the answers by call; `save` is called from time to time."""
        valid = []
        for call in calls:
            try:
                found = self.environment._j_tenv.sqlQuery(f"SELECT {call} FROM t").getResolvedSchema()
                kind = found.getColumns().get(0).getDataType().getLogicalType().asSummaryString()
                self.answers[call] = {"type": kind, "values": [None] * self.count}
                valid.append(call)
            except Exception as error:
                self.answers[call] = {"refused": reason(error)}
        print(self.table.name, len(calls), "calls,", len(valid), "valid", flush=True)
        start = time.time()
        for place in range(0, len(valid), BATCH):
            self.attempt(valid[place : place + BATCH], "")
            print(place, round(time.time() - start), flush=True)
            self.done |= set(valid[place : place + BATCH])
            save()
        return self.answers

    def attempt(self, calls: list[str], condition: str) -> None:
        """Run calls; on failure run parts of them."""
        try:
            rows = self.run(calls, condition)
        except Exception as error:
            if len(calls) > 1:
                step = max(1, len(calls) // 4)
                for place in range(0, len(calls), step):
                    self.attempt(calls[place : place + step], condition)
            elif not condition and self.count <= 10:
                for number in range(self.count):
                    self.attempt(calls, f" WHERE place = {number}")
            elif condition:
                self.answers[calls[0]]["values"][int(condition.rsplit(maxsplit=1)[-1])] = {"fails": reason(error)}
            else:
                self.answers[calls[0]] = {"type": self.answers[calls[0]]["type"], "fails": reason(error)}
            return
        for row in rows:
            for call, text in zip(calls, row[1:], strict=True):
                self.answers[call]["values"][int(row[0])] = text

    def run(self, calls: list[str], condition: str) -> list[list[str | None]]:
        """Return the texts of the rows."""
        result = self.environment._j_tenv.executeSql(f"SELECT place, {', '.join(calls)} FROM t{condition}")
        rows, iterator = [], result.collect()
        while iterator.hasNext():
            rows.append(self.texts(iterator.next()))
        iterator.close()
        return rows

    def texts(self, row: Any) -> list[str | None]:
        """Return the text of each field; bytes and arrays as lists."""
        found: list[str | None] = []
        for place in range(row.getArity()):
            places = self.gateway.new_array(self.gateway.jvm.int, 1)
            places[0] = place
            one = self.gateway.jvm.org.apache.flink.types.Row.project(row, places)
            text = one.toString()[3:-1]
            found.append(None if text == "null" and one.getField(0) is None else text)
        return found


def main() -> None:
    """Record the tables named on the command line, or all."""
    path, names = Path(sys.argv[1]), sys.argv[2:]
    recorded = json.loads(path.read_text()) if path.exists() else {}
    for table in TABLES:
        if names and table.name not in names:
            continue
        columns = [[each.name, each.sql] for each in table.columns]
        data = recorded.setdefault(table.name, {"time_zone": table.time_zone, "columns": columns, "rows": table.rows()})
        known = data.setdefault("calls", {})
        recorder = Recorder(table)

        def save(recorder: Recorder = recorder, known: dict[str, Any] = known) -> None:
            known.update({k: v for k, v in recorder.answers.items() if "refused" in v or k in recorder.done})
            path.write_text(json.dumps(recorded, ensure_ascii=False, separators=(",", ":")))

        recorder.record([call for call in CALLS[table.name] if call not in known], save)
        save()


if __name__ == "__main__":
    main()
