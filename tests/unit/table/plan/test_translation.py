"""Plans as jobs: ids, names, parallelism, shared parts; and their texts."""

import json

import pytest
from plan_kit import Tables, local_environment

from headrace.graph.table_specs import TableKey
from headrace.graph.transformations import TransformationKind
from headrace.table.changelog_mode import ChangelogMode
from headrace.table.errors import SqlValidationError
from headrace.table.plan.explain import explain
from headrace.table.plan.planner import translate, translate_all

COUNTS = "SELECT a, COUNT(*) AS n FROM t GROUP BY a"


@pytest.fixture
def tables():
    found = Tables()
    found.create("t (a INT, b BIGINT, c STRING)", [(1, 2, "x"), (1, 3, "y")])
    found.create("sink1 (a INT, n BIGINT)", takes=ChangelogMode.all())
    found.create("sink2 (a INT, n BIGINT)", takes=ChangelogMode.all())
    return found


def operators(env):
    return [t for t in env.registry if t.kind is TransformationKind.OPERATOR]


def test_ids_come_from_the_plan(tables):
    found = []
    for _ in range(2):
        env = local_environment(2)
        translate(tables.plan(COUNTS), env)
        found.append([t.uid for t in operators(env)])
    assert found[0] == found[1] == ["query/1-t", "query/2-Calc", "query/3-GroupAggregate"]


def test_ids_stay_unique_if_a_query_is_used_twice(tables):
    env = local_environment(2)
    for _ in range(2):
        translate(tables.plan(COUNTS), env).stream.print()
    uids = [t.uid for t in operators(env) if t.uid is not None]
    assert len(uids) == len(set(uids)) == 6


def test_parallelism_follows_keys(tables):
    env = local_environment(4)
    translate(tables.plan(COUNTS), env).stream.print()
    translate(tables.plan("SELECT COUNT(*) FROM t"), env).stream.print()
    aggregates = [t for t in operators(env) if t.name.startswith("GroupAggregate")]
    assert [(t.parallelism, t.non_parallel) for t in aggregates] == [(None, False), (1, True)]
    keys = [t.partitioner.selector for t in env.registry if t.kind is TransformationKind.PARTITION]
    assert keys == [TableKey((0,)), TableKey(())]


def test_changes_are_never_divided_without_their_key(tables):
    env = local_environment(4)
    translate_all([tables.plan("INSERT INTO sink1 SELECT 1, COUNT(*) FROM t")], env)
    assert [t.parallelism for t in operators(env)][-2:] == [1, 1]
    env = local_environment(4)
    union = f"SELECT a + 1, n FROM (SELECT a, b AS n FROM t UNION ALL {COUNTS}) WHERE n > 1"
    translate_all([tables.plan(f"INSERT INTO sink1 {union}")], env)
    assert operators(env)[-1].parallelism == 1


def test_sinks_of_a_set_share_what_they_read(tables):
    env = local_environment()
    plans = [
        tables.plan(f"INSERT INTO sink1 {COUNTS}"),
        tables.plan(f"INSERT INTO sink2 SELECT a, n + 1 FROM ({COUNTS}) WHERE n > 1"),
    ]
    translate_all(plans, env)
    names = [t.name.split("(")[0] for t in operators(env)]
    assert names.count("GroupAggregate") == names.count("Source: t") == 1


def test_a_set_of_rows_and_changes_has_kinds(tables):
    rows = tables.rows(f"SELECT a, CAST(b AS BIGINT) FROM t UNION ALL {COUNTS}", parallelism=2)
    assert sorted(rows) == [(1, 1, 0), (1, 1, 1), (1, 2, 0), (1, 2, 2), (1, 3, 0)]


def test_explain_in_the_layout_of_flink(tables):
    text = explain([tables.plan(f"{COUNTS} HAVING COUNT(*) > 1")], ["CHANGELOG_MODE"])
    assert (
        text
        == """\
== Abstract Syntax Tree ==
LogicalProject(a=[$0], n=[$1])
+- LogicalFilter(condition=[>($1, 1:BIGINT)])
   +- LogicalAggregate(group=[{0}], EXPR$0=[COUNT(*)])
      +- LogicalTableScan(table=[[default_catalog, default_database, t]])

== Optimized Physical Plan ==
Calc(select=[a, EXPR$0 AS n], where=[>(EXPR$0, 1:BIGINT)], changelogMode=[I,UB,UA])
+- GroupAggregate(groupBy=[a], select=[a, COUNT(*) AS EXPR$0], changelogMode=[I,UB,UA])
   +- Exchange(distribution=[hash[a]], changelogMode=[I])
      +- Calc(select=[a], changelogMode=[I])
         +- TableSourceScan(table=[[default_catalog, default_database, t]], fields=[a, b, c], changelogMode=[I])

== Optimized Execution Plan ==
Calc(select=[a, EXPR$0 AS n], where=[(EXPR$0 > 1)])
+- GroupAggregate(groupBy=[a], select=[a, COUNT(*) AS EXPR$0])
   +- Exchange(distribution=[hash[a]])
      +- Calc(select=[a])
         +- TableSourceScan(table=[[default_catalog, default_database, t]], fields=[a, b, c])
"""
    )


def test_explain_shows_shared_parts_and_the_job(tables):
    plans = [tables.plan(f"INSERT INTO sink1 {COUNTS}"), tables.plan(f"INSERT INTO sink2 {COUNTS}")]
    text = explain(plans, ["JSON_EXECUTION_PLAN"], local_environment())
    assert "(reuse_id=[1])" in text
    assert "Reused(reference_id=[1])" in text
    nodes = json.loads(text.split("== Physical Execution Plan ==\n")[1])["nodes"]
    assert [node["type"].split("(")[0] for node in nodes].count("GroupAggregate") == 1
    with pytest.raises(SqlValidationError, match="Unknown detail"):
        explain(plans, ["COLOUR"])


def test_state_without_limit_is_a_warning(tables, caplog):
    tables.resolve(("t",)).source.source(None).bounded = False
    translate(tables.plan(COUNTS), local_environment())
    assert ["GroupAggregate" in each.message for each in caplog.records] == [True]
    assert "== Warnings ==\nThe state of GroupAggregate(groupBy=[a]" in explain([tables.plan(COUNTS)])
    assert "== Warnings ==" not in explain([tables.plan("SELECT a FROM t")])
