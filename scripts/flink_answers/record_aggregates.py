"""Ask Flink for the answers to the aggregate calls, and write them to `tests/data/table/aggregates.json`.

Run it like `record.py`. The answer of a call is its type and its value by the first column of the query, which names the
group; of a stream, the values after the last change count. A call that fails when it runs has `fails` instead.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from aggregates import CALLS, GROUPS, OVER_CALLS, QUERIES, STREAMING
from record import Recorder, reason

BATCH = 20


class AggregateRecorder(Recorder):
    """Asks for the answers in one kind of query."""

    def __init__(self, query: str, streaming: bool) -> None:
        super().__init__(GROUPS, streaming)
        self.query = query

    def record(self, calls: list[str]) -> dict[str, Any]:
        """Return the answers by call."""
        valid = []
        for call in calls:
            try:
                found = self.environment._j_tenv.sqlQuery(self.query.replace("?", call)).getResolvedSchema()
                kind = found.getColumns().get(1).getDataType().getLogicalType().asSummaryString()
                self.answers[call] = {"type": kind}
                valid.append(call)
            except Exception as error:
                self.answers[call] = {"refused": reason(error)}
        for place in range(0, len(valid), BATCH):
            self.attempt(valid[place : place + BATCH], "")
            print(place, flush=True)
        return self.answers

    def attempt(self, calls: list[str], condition: str) -> None:
        """Run calls; on failure run parts of them."""
        try:
            result = self.environment._j_tenv.executeSql(self.query.replace("?", ", ".join(calls)))
            groups: dict[str, list[str | None]] = {}
            iterator = result.collect()
            while iterator.hasNext():
                row = iterator.next()
                texts = self.texts(row)
                if row.getKind().shortString() in ("+I", "+U"):
                    groups[str(texts[0])] = texts[1:]
                elif groups.get(str(texts[0])) == texts[1:]:
                    del groups[str(texts[0])]
            iterator.close()
        except Exception as error:
            if len(calls) > 1:
                step = max(1, len(calls) // 4)
                for place in range(0, len(calls), step):
                    self.attempt(calls[place : place + step], condition)
            else:
                self.answers[calls[0]]["fails"] = reason(error)
            return
        for place, call in enumerate(calls):
            self.answers[call]["values"] = {group: texts[place] for group, texts in sorted(groups.items())}


def main() -> None:
    """Record all queries."""
    path = Path(sys.argv[1])
    columns = [[each.name, each.sql] for each in GROUPS.columns]
    found: dict[str, Any] = {"columns": columns, "rows": GROUPS.rows(), "queries": QUERIES, "streaming": STREAMING}
    for name, query in QUERIES.items():
        print(name, flush=True)
        recorder = AggregateRecorder(query, name in STREAMING)
        found[f"calls in {name}"] = recorder.record(OVER_CALLS if name == "over" else CALLS)
        path.write_text(json.dumps(found, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main()
