"""Ask Flink for the types and values of calls of built-in functions, and record the answers as test data.

    python scripts/record_functions.py [--all]

Needs an interpreter with apache-flink. Reads the templates in tests/data/table/function_calls.txt (literals) and
function_columns.txt (columns of function_rows.json), writes functions_b.json and function_columns.json beside them. Only
calls that are not recorded yet are asked, unless `--all` is given.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "data" / "table"
CHOICE = re.compile(r"<<(.*?)>>")
BATCH = 32
Answer = dict[str, Any]


def calls(name: str) -> list[tuple[str, str]]:
    """Return the calls of a file of templates, each with its time zone."""
    found: dict[tuple[str, str], None] = {}
    zone = "UTC"
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("# zone "):
            zone = line.removeprefix("# zone ")
        elif line and not line.startswith("#"):
            found.update(((call, zone), None) for call in expand(line))
    return list(found)


def expand(template: str) -> Iterator[str]:
    """Return one call for each combination of alternatives `<<a ;; b>>`.

    >>> list(expand("LEFT(<<s ;; t>>, <<1 ;; 2>>)"))
    ['LEFT(s, 1)', 'LEFT(s, 2)', 'LEFT(t, 1)', 'LEFT(t, 2)']
    """
    parts = CHOICE.split(template)
    choices = [part.split(" ;; ") if index % 2 else [part] for index, part in enumerate(parts)]
    return map("".join, itertools.product(*choices))


class Flink:
    """Batch table environments of Flink, one for each time zone."""

    def __init__(self, rows: dict[str, Any], folder: Path) -> None:
        """`rows` is the content of function_rows.json; the folder gets its rows as a file."""
        from pyflink.java_gateway import get_gateway

        self._jvm = get_gateway().jvm
        self._rows = rows
        self._folder = folder
        self._environments: dict[str, Any] = {}
        lines = [json.dumps(dict(zip(rows["raw"], row))) for row in rows["rows"]]
        (folder / "rows.json").write_text("\n".join(lines))

    def environment(self, zone: str) -> Any:
        """Return an environment that has the view `v` of the rows."""
        if zone not in self._environments:
            from pyflink.table import EnvironmentSettings, TableEnvironment

            made = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
            made.get_config().set("parallelism.default", "1")
            made.get_config().set("table.local-time-zone", zone)
            columns = ", ".join(f"{name} STRING" for name in self._rows["raw"])
            made.execute_sql(
                f"CREATE TABLE raw ({columns}) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{self._folder}')"
            )
            made.execute_sql(f"CREATE VIEW v AS {view(self._rows)}")
            self._environments[zone] = made
        return self._environments[zone]

    def ask(self, asked: list[str], zone: str, source: str) -> list[Answer]:
        """Return the types and the columns of values, or raise what Flink raises."""
        text = ", ".join(f"{each} AS c{index}" for index, each in enumerate(asked))
        result = self.environment(zone)._j_tenv.executeSql(f"SELECT {text}{source}")  # noqa: SLF001
        types = [
            each.getDataType().getLogicalType().asSummaryString() for each in result.getResolvedSchema().getColumns()
        ]
        found = []
        rows = result.collect()
        while rows.hasNext():
            row = rows.next()
            found.append([self._text(row.getField(index)) for index in range(len(asked))])
        rows.close()
        return [{"type": kind, "values": [row[index] for row in found]} for index, kind in enumerate(types)]

    def _text(self, value: Any) -> str | None:
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, (bytes, bytearray)):
            return str([each - 256 if each > 127 else each for each in value])
        return str(self._jvm.org.apache.flink.util.StringUtils.arrayAwareToString(value))


def view(rows: dict[str, Any]) -> str:
    """Return the query that gives the raw columns their types."""
    return "SELECT " + ", ".join(f"{text} AS {name}" for name, text in rows["columns"].items()) + " FROM raw"  # noqa: S608


def failure(error: Exception) -> str:
    """Return `refused` or `fails` with the last message of a Java exception."""
    messages: list[str] = []
    cause = getattr(error, "java_exception", None)
    while cause is not None and len(messages) < 20:
        messages.append(f"{cause.getClass().getSimpleName()}: {cause.getMessage()}")
        cause = cause.getCause()
    if any("OutOfMemory" in each for each in messages) or not messages:
        raise error
    refused = any(each.startswith(("ValidationException", "SqlParserException")) for each in messages)
    return ("refused: " if refused else "fails: ") + " ".join(messages[-1].split())[:160]


def record(
    asked: list[tuple[str, str]],
    known: dict[tuple[str, str], Answer],
    flink: Flink,
    source: str,
    save: Callable[[], None],
) -> None:
    """Add the answers of the calls that are not known. Calls that fail are found by halving."""

    def go(group: list[str], zone: str) -> None:
        try:
            answers = flink.ask(group, zone, source)
        except Exception as error:
            if len(group) == 1:
                known[group[0], zone] = {"error": failure(error)}
                return
            quarter = max(1, len(group) // 4)
            for start in range(0, len(group), quarter):
                go(group[start : start + quarter], zone)
        else:
            known.update(((each, zone), answer) for each, answer in zip(group, answers))

    for zone in dict.fromkeys(zone for _, zone in asked):
        group = [call for call, its in asked if its == zone and (call, zone) not in known]
        for start in range(0, len(group), BATCH):
            go(group[start : start + BATCH], zone)
            save()
            print(source, zone, start + BATCH, "of", len(group), file=sys.stderr, flush=True)


def main() -> None:
    """Record both files."""
    rows = json.loads((FOLDER / "function_rows.json").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        flink = Flink(rows, Path(folder))
        for templates, target, source in (
            ("function_calls.txt", "functions_b.json", ""),
            ("function_columns.txt", "function_columns.json", " FROM v"),
        ):
            asked = calls(templates)
            known = {} if "--all" in sys.argv else read(target)
            record(asked, known, flink, source, partial(write, target, asked, known))
            write(target, asked, known)


def read(name: str) -> dict[tuple[str, str], Answer]:
    """Return the recorded answers by call and time zone."""
    if not (FOLDER / name).exists():
        return {}
    return {(each["sql"], each.get("zone", "UTC")): each for each in json.loads((FOLDER / name).read_text("utf-8"))}


def write(name: str, asked: list[tuple[str, str]], known: dict[tuple[str, str], Answer]) -> None:
    """Write the answers, one call in a line."""
    lines = []
    for call, zone in asked:
        if (call, zone) in known:
            answer = {"sql": call} | ({} if zone == "UTC" else {"zone": zone})
            answer |= {key: known[call, zone][key] for key in ("type", "values", "error") if key in known[call, zone]}
            lines.append(json.dumps(answer, ensure_ascii=False))
    (FOLDER / name).write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
