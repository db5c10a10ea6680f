"""Answers of real Flink to aggregate calls, and the answers of this engine to the same queries.

The file was written by `scripts/flink_answers/record_aggregates.py`, which explains its form.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.unit.table.functions.flink_text import flink_text
from tests.unit.table.functions.recorded import FAILS, REFUSED

from headrace.errors import HeadraceError
from headrace.table import EnvironmentSettings, TableEnvironment
from headrace.table.functions.type_text import sql_text

BATCH = 20
INSERTS = (0, 2)


class AggregateQueries:
    """Runs calls in one of the recorded queries."""

    def __init__(self, data: dict[str, Any], name: str, folder: Path) -> None:
        self.query = data["queries"][name]
        streaming = name in data["streaming"]
        settings = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
        self.environment = TableEnvironment.create(settings)
        config = self.environment.get_config()
        config.set("headrace.executor", "local")
        config.set("parallelism.default", "1")
        config.set("table.local-time-zone", "UTC")
        rows = [{f"x{i}": text for i, text in enumerate(row)} for row in data["rows"]]
        (folder / "rows.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
        columns = ", ".join(f"x{i} STRING" for i in range(len(data["columns"])))
        self.environment.execute_sql(
            f"CREATE TABLE source ({columns}) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}')"
        )
        values = ", ".join(f"{sql.replace('?', f'x{i}')} AS {name}" for i, (name, sql) in enumerate(data["columns"]))
        self.environment.execute_sql(f"CREATE VIEW t AS SELECT {values} FROM source")

    def answers(self, calls: list[str]) -> dict[str, Any]:
        """Return the answers by call, in batches of calls."""
        found: dict[str, Any] = {}
        for place in range(0, len(calls), BATCH):
            self._attempt(calls[place : place + BATCH], found)
        return found

    def _attempt(self, calls: list[str], found: dict[str, Any]) -> None:
        try:
            table = self.environment.sql_query(self.query.replace("?", ", ".join(calls)))
        except HeadraceError:
            if len(calls) == 1:
                found[calls[0]] = REFUSED
            else:
                for call in calls:
                    self._attempt([call], found)
            return
        types = table.get_schema().get_field_data_types()[1:]
        try:
            groups = self._groups(table, types)
        except HeadraceError:
            if len(calls) == 1:
                found[calls[0]] = FAILS
            else:
                for call in calls:
                    self._attempt([call], found)
            return
        for place, call in enumerate(calls):
            values = {group: texts[place] for group, texts in sorted(groups.items())}
            found[call] = (sql_text(types[place]), values)

    def _groups(self, table: Any, types: list[Any]) -> dict[str, list[Any]]:
        """Return the texts of each group after the last change."""
        result = table.execute()
        groups: dict[str, list[Any]] = {}
        for row in result._take():
            key, *values = row[: len(types) + 1]
            texts = [flink_text(value, kind) for value, kind in zip(values, types, strict=True)]
            if len(row) == len(types) + 1 or row[-1] in INSERTS:
                groups[key] = texts
            elif groups.get(key) == texts:
                del groups[key]
        return groups


def wanted(answer: dict[str, Any]) -> Any:
    """Return a recorded answer without messages."""
    if "values" in answer:
        return answer["type"], answer["values"]
    return REFUSED if REFUSED in answer else FAILS


ORDERED = ("FIRST_VALUE", "LAST_VALUE", "LISTAGG", "ARRAY_AGG", "JSON_ARRAYAGG", "JSON_OBJECTAGG")
"""Functions whose value depends on the order of the rows, which batch queries do not keep."""


def same(name: str, call: str, one: Any, other: Any) -> bool:
    """Return whether two answers agree."""
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        # Flink refuses some calls only when it plans the query.
        return one == other or (one in (REFUSED, FAILS) and other in (REFUSED, FAILS))
    if one[0] != other[0]:
        return False
    if name in ("batch", "none") and call.startswith(ORDERED):
        return {group: text is None for group, text in one[1].items()} == {g: t is None for g, t in other[1].items()}
    if one[0].startswith("MULTISET"):
        return {group: _parts(text) for group, text in one[1].items()} == {g: _parts(t) for g, t in other[1].items()}
    return bool(one[1] == other[1])


def _parts(text: str | None) -> list[str] | None:
    return None if text is None else sorted(text[1:-1].split(", "))
