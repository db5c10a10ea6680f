"""Record what Flink answers to the transcripts: run by hand, with a Python that has apache-flink.

    python tests/table/flink/record.py tests/table/transcripts/*.yaml

Writes `expected` (or `error`) of each case that has none. With --again, all cases are recorded again. Also records the plan
(`EXPLAIN CHANGELOG_MODE`) of streaming queries, beside the transcripts in `plans/`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

import yaml
from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, TableEnvironment


def environment(case, tables, views, folder):
    batch = case.get("batch", False)
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("parallelism.default", "1")
    env.get_config().set("table.local-time-zone", "UTC")
    for key, value in (case.get("conf") or {}).items():
        env.get_config().set(key, value)
    for name, table in tables.items():
        if batch and table.get("kinds"):
            continue
        env.execute_sql(ddl(name, table, folder))
    for name, query in (views or {}).items():
        env.execute_sql(f"CREATE VIEW {name} AS {query}")
    return env


def ddl(name, table, folder):
    path = folder / name
    if not path.exists():
        path.mkdir()
        text = changes(table) if table.get("kinds") else rows(table)
        (path / "data").write_text(text)
    form = "'format' = 'debezium-json'" if table.get("kinds") else "'format' = 'csv', 'csv.null-literal' = 'NULL'"
    return f"CREATE TABLE {name} ({table['schema']}) WITH ('connector' = 'filesystem', 'path' = '{path}', {form})"


def rows(table):
    return "".join(",".join("NULL" if v is None else str(v) for v in row) + "\n" for row in table["rows"])


def changes(table):
    names = [part.split()[0] for part in re.split(r",\s*(?![^()]*\))", table["schema"])]
    lines, before = [], None
    for kind, *values in table["rows"]:
        row = dict(zip(names, values))
        if kind == "-U":
            before = row
        elif kind == "+U":
            lines.append({"before": before, "after": row, "op": "u"})
        else:
            lines.append(
                {"before": row, "after": None, "op": "d"} if kind == "-D" else {"before": None, "after": row, "op": "c"}
            )
    return "".join(json.dumps(line) + "\n" for line in lines)


def text(value):
    if value is None or isinstance(value, str):
        return value
    return get_gateway().jvm.org.apache.flink.util.StringUtils.arrayAwareToString(value)


def answer(env, query):
    result = env._j_tenv.executeSql(query)
    found, iterator = [], result.collect()
    while iterator.hasNext():
        row = iterator.next()
        values = [text(row.getField(i)) for i in range(row.getArity())]
        found.append([row.getKind().shortString(), *values])
    iterator.close()
    return found


def message(error):
    found, cause = [], getattr(error, "java_exception", None)
    while cause is not None and len(found) < 8:
        found.append(f"{cause.getClass().getSimpleName()}: {str(cause.getMessage())[:300]}")
        cause = cause.getCause()
    return " | ".join(found) or str(error)[:300]


def record(path, again):
    """Add Flink's answers to a file of transcripts; return the plans of its streaming queries."""
    source = Path(path).read_text()
    document = yaml.safe_load(source)
    folder = Path(tempfile.mkdtemp())
    plans_file = Path(path).parent.parent / "plans" / f"{Path(path).stem}.json"
    plans = json.loads(plans_file.read_text()) if plans_file.exists() else {}
    for case in document["cases"]:
        if not again and ("expected" in case or "error" in case):
            continue
        case.pop("expected", None)
        case.pop("error", None)
        try:
            env = environment(case, document["tables"], document.get("views"), folder)
            if not case.get("batch"):
                explained = env._j_tenv.executeSql("EXPLAIN CHANGELOG_MODE " + case["query"]).collect().next()
                plans[case["name"]] = str(explained.getField(0)).split("\n\n")[1].split("\n")[1:]
            case["expected"] = answer(env, case["query"])
        except Exception as error:
            case["error"] = message(error)
        print(case["name"], case.get("error", "ok")[:200], file=sys.stderr, flush=True)
    shutil.rmtree(folder)
    head = [line for line in source.split("\n") if line.startswith("#")]
    Path(path).write_text("\n".join([*head, *written(document)]) + "\n")
    plans_file.parent.mkdir(exist_ok=True)
    plans_file.write_text(json.dumps(plans, indent=1) + "\n")


def written(document):
    """Iterate over the lines of a file of transcripts."""
    yield "tables:"
    for name, table in document["tables"].items():
        yield f"  {name}:"
        yield f"    schema: {json.dumps(table['schema'])}"
        if table.get("kinds"):
            yield "    kinds: true"
        yield "    rows:"
        yield from (f"      - {json.dumps(row, ensure_ascii=False)}" for row in table["rows"])
    if "views" in document:
        yield "views:"
        yield from (f"  {name}: {json.dumps(query)}" for name, query in document["views"].items())
    if "compare" in document:
        yield f"compare: {document['compare']}"
    yield "cases:"
    for case in document["cases"]:
        yield f"  - name: {json.dumps(case['name'])}"
        yield from (
            f"    {key}: {json.dumps(case[key])}"
            for key in ("batch", "conf", "skip", "order", "compare")
            if key in case
        )
        yield f"    query: {json.dumps(case['query'], ensure_ascii=False)}"
        if "error" in case:
            yield f"    error: {json.dumps(case['error'], ensure_ascii=False)}"
        if "expected" in case:
            yield "    expected:" + ("" if case["expected"] else " []")
            yield from (f"      - {json.dumps(row, ensure_ascii=False)}" for row in case["expected"])


if __name__ == "__main__":
    for each in sys.argv[1:]:
        if each != "--again":
            record(each, "--again" in sys.argv)
