"""Record what Flink answers to the transcripts: run by hand, with a Python that has apache-flink.

    python tests/table/flink/record.py tests/table/transcripts/*.yaml

Writes `expected` (or `error`) of each case that has none. With --again, all cases are recorded again. Also records the plan
(`EXPLAIN CHANGELOG_MODE`) of streaming queries, beside the transcripts in `plans/`.

Tables with `kinds` are read as Debezium JSON. With `mode: upsert`, rows come from a stream of changes without old rows.
A case with a `sink` records what a sink with that schema and changelog mode receives from the query.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

import yaml
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway
from pyflink.table import EnvironmentSettings, StreamTableEnvironment

MODES = {"append": "insertOnly", "upsert": "upsert", "all": "all"}


@cache
def cluster():
    """Start one cluster for all cases: starting it costs more than running a case. Return its port."""
    package = get_gateway().jvm.org.apache.flink.runtime.minicluster
    settings = get_gateway().jvm.org.apache.flink.configuration.Configuration()
    settings.setString("rest.port", "0")
    builder = package.MiniClusterConfiguration.Builder()
    built = builder.setConfiguration(settings).setNumTaskManagers(1).setNumSlotsPerTaskManager(8).build()
    found = package.MiniCluster(built)
    found.start()
    return found.getRestAddress().get().getPort()


def environment(case, tables, views, folder):
    batch = case.get("batch", False)
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    jvm = get_gateway().jvm
    of = jvm.org.apache.flink.streaming.api.environment.StreamExecutionEnvironment
    remote = of.createRemoteEnvironment("localhost", cluster(), java_array(jvm.java.lang.String, []))
    streams = StreamExecutionEnvironment(remote).set_parallelism(1)
    env = StreamTableEnvironment.create(streams, settings)
    env.get_config().set("table.local-time-zone", "UTC")
    for key, value in (case.get("conf") or {}).items():
        env.get_config().set(key, value)
    for name, table in tables.items():
        if batch and table.get("kinds"):
            continue
        if table.get("mode") == "upsert":
            upserts(streams, env, name, table)
        else:
            env.execute_sql(ddl(name, table, folder))
    for name, query in (views or {}).items():
        env.execute_sql(f"CREATE TEMPORARY VIEW {name} AS {query}")
    return env


def ddl(name, table, folder):
    path = folder / name
    if not path.exists():
        path.mkdir()
        text = changes(table) if table.get("kinds") else rows(table)
        (path / "data").write_text(text)
    form = "debezium-json" if table.get("kinds") else "json"
    options = f"'connector' = 'filesystem', 'path' = '{path}', 'format' = '{form}'"
    return f"CREATE TABLE {name} ({table['schema']}) WITH ({options})"


def columns(schema):
    """Return the parts of a schema, and the names of its physical columns."""
    parts = [part.strip() for part in re.split(r",\s*(?![^()<]*[)>])", schema)]
    others = ("WATERMARK ", "PRIMARY KEY")
    physical = [part for part in parts if not part.startswith(others) and not re.match(r"\w+ AS ", part)]
    return parts, [part.split()[0] for part in physical]


def rows(table):
    names = columns(table["schema"])[1]
    return "".join(json.dumps(dict(zip(names, row))) + "\n" for row in table["rows"])


def java_schema(text):
    builder = get_gateway().jvm.org.apache.flink.table.api.Schema.newBuilder()
    for part in columns(text)[0]:
        if found := re.match(r"WATERMARK FOR (\w+) AS (.*)", part):
            builder.watermark(*found.groups())
        elif found := re.match(r"PRIMARY KEY \((.*)\) NOT ENFORCED", part):
            builder.primaryKey(java_array(get_gateway().jvm.java.lang.String, re.split(r",\s*", found[1])))
        elif found := re.match(r"(\w+) AS (.*)", part):
            builder.columnByExpression(*found.groups())
        else:
            builder.column(*part.split(" ", 1))
    return builder.build()


def java_array(kind, values):
    found = get_gateway().new_array(kind, len(values))
    for number, value in enumerate(values):
        found[number] = value
    return found


def upserts(streams, env, name, table):
    jvm = get_gateway().jvm
    kinds = {"+I": "INSERT", "+U": "UPDATE_AFTER", "-D": "DELETE", "-U": "UPDATE_BEFORE"}
    names, types = [], []
    for part in columns(table["schema"])[0]:
        if part.split()[0] in columns(table["schema"])[1]:
            names.append(part.split()[0])
            types.append(part.split()[1].partition("(")[0])
    of = jvm.org.apache.flink.api.common.typeinfo.Types
    known = {
        "INT": of.INT,
        "BIGINT": of.LONG,
        "STRING": of.STRING,
        "TIMESTAMP": of.LOCAL_DATE_TIME,
        "DOUBLE": of.DOUBLE,
    }
    kind = jvm.org.apache.flink.api.common.typeinfo.TypeInformation
    array = java_array(kind, [known[each] for each in types])
    info = of.ROW_NAMED(java_array(get_gateway().jvm.java.lang.String, names), array)
    found = jvm.java.util.ArrayList()
    for kind, *values in table["rows"]:
        fields = java_array(jvm.Object, [None] * len(values))
        for number, (value, each) in enumerate(zip(values, types)):
            if value is not None and each == "TIMESTAMP":
                value = jvm.java.time.LocalDateTime.parse(value.replace(" ", "T"))
            elif value is not None and each == "BIGINT":
                # The gateway would make an Integer of a Long.
                boxed = jvm.java.util.stream.LongStream.of(value).boxed().toArray()
                jvm.System.arraycopy(boxed, 0, fields, number, 1)
                continue
            fields[number] = value
        kind = getattr(jvm.org.apache.flink.types.RowKind, kinds[kind])
        found.add(jvm.org.apache.flink.types.Row.ofKind(kind, fields))
    stream = streams._j_stream_execution_environment.fromData(found, info)
    mode = jvm.org.apache.flink.table.connector.ChangelogMode.upsert()
    env._j_tenv.createTemporaryView(name, env._j_tenv.fromChangelogStream(stream, java_schema(table["schema"]), mode))


def changes(table):
    names = columns(table["schema"])[1]
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


def answer(env, case):
    if "sink" in case:
        mode = getattr(get_gateway().jvm.org.apache.flink.table.connector.ChangelogMode, MODES[case["sink"]["mode"]])()
        table = env._j_tenv.sqlQuery(case["query"])
        stream = env._j_tenv.toChangelogStream(table, java_schema(case["sink"]["schema"]), mode)
        iterator = stream.executeAndCollect()
    else:
        iterator = env._j_tenv.executeSql(case["query"]).collect()
    found = []
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
            case["expected"] = answer(env, case)
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
        if "mode" in table:
            yield f"    mode: {table['mode']}"
        yield "    rows:" + ("" if table["rows"] else " []")
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
            for key in ("batch", "conf", "sink", "skip", "differs", "one subtask", "order", "compare")
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
