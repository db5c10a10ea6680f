"""Changelog inference, upsert keys, sinks."""

import pytest
from plan_kit import Tables, find, labels

from headrace.table.changelog_mode import ChangelogMode
from headrace.table.errors import SqlNotSupportedError
from headrace.table.plan.settings import PlanSettings


@pytest.fixture
def tables():
    found = Tables()
    found.create("t (a INT, b BIGINT, c STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)")
    found.create("cdc (id INT PRIMARY KEY NOT ENFORCED, v BIGINT, g STRING)", mode=ChangelogMode.all())
    found.create("ups (id INT PRIMARY KEY NOT ENFORCED, v BIGINT, g STRING)", mode=ChangelogMode.upsert())
    found.create("appended (k INT, n BIGINT)", takes=ChangelogMode.insert_only())
    found.create("upserted (k INT PRIMARY KEY NOT ENFORCED, n BIGINT)", takes=ChangelogMode.upsert())
    found.create("retracted (k INT, n BIGINT)", takes=ChangelogMode.all())
    found.create("strict (k INT NOT NULL, n BIGINT)")
    return found


@pytest.mark.parametrize(
    ("query", "mode"),
    [
        ("SELECT a + 1 FROM t", "I"),
        ("SELECT a, COUNT(*) FROM t GROUP BY a", "I,UB,UA"),
        ("SELECT DISTINCT a FROM t", "I"),
        ("SELECT COUNT(*) FROM cdc GROUP BY g", "I,UB,UA,D"),
        ("SELECT * FROM cdc", "I,UB,UA,D"),
        ("SELECT * FROM ups", "I,UB,UA,D"),
        ("SELECT a FROM t LEFT JOIN cdc ON a = id", "I,UB,UA,D"),
        ("SELECT x.a FROM t AS x JOIN t AS y ON x.a = y.a", "I"),
        ("SELECT a FROM t UNION ALL SELECT id FROM cdc", "I,UB,UA,D"),
        ("SELECT a FROM t UNION SELECT a FROM t", "I"),
        ("SELECT a, SUM(b) OVER (PARTITION BY a ORDER BY ts) FROM t", "I"),
        ("SELECT * FROM t LIMIT 3", "I"),
        ("SELECT MAX(n) FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a)", "I,UB,UA,D"),
    ],
)
def test_modes_of_queries(tables, query, mode):
    assert ",".join(tables.plan(query).root.changelog) == mode


def test_batch_mode_only_adds(tables):
    plan = tables.plan("SELECT a, COUNT(*) FROM t LEFT JOIN t AS u USING (a) GROUP BY a", PlanSettings(batch=True))
    assert plan.changelog_mode.is_insert_only


def test_an_upsert_sink_needs_only_new_rows(tables):
    plan = tables.plan("INSERT INTO upserted SELECT a, COUNT(*) FROM t GROUP BY a")
    assert (plan.root.materialize, find(plan.root, "GroupAggregate").changelog) == (False, ("I", "UA"))


def test_a_filter_on_changing_columns_needs_old_rows(tables):
    plan = tables.plan("INSERT INTO upserted SELECT a, COUNT(*) FROM t GROUP BY a HAVING COUNT(*) < 10")
    assert find(plan.root, "GroupAggregate").update_before
    plan = tables.plan("INSERT INTO upserted SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM t GROUP BY a) WHERE a < 10")
    assert not find(plan.root, "GroupAggregate").update_before


def test_another_primary_key_than_the_upsert_key_is_materialised(tables):
    query = "INSERT INTO upserted SELECT a, n FROM (SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b)"
    plan = tables.plan(query)
    assert (plan.root.materialize, find(plan.root, "GroupAggregate").update_before) == (True, True)
    assert not tables.plan(query, PlanSettings(upsert_materialize="NONE")).root.materialize
    same = "INSERT INTO upserted SELECT a, COUNT(*) FROM t GROUP BY a"
    assert tables.plan(same, PlanSettings(upsert_materialize="FORCE")).root.materialize


def test_a_retracting_sink_gets_everything(tables):
    plan = tables.plan("INSERT INTO retracted SELECT a, COUNT(*) FROM t GROUP BY a")
    assert plan.root.changelog == ("I", "UB", "UA")


def test_an_append_only_sink_refuses_updates(tables):
    with pytest.raises(
        SqlNotSupportedError, match="appended' doesn't support consuming update changes which is produced"
    ):
        tables.plan("INSERT INTO appended SELECT a, COUNT(*) FROM t GROUP BY a")
    with pytest.raises(SqlNotSupportedError, match="doesn't support consuming update and delete changes"):
        tables.plan("INSERT INTO appended SELECT id, v FROM cdc")


def test_append_only_operators_refuse_updates(tables):
    tables.create("timed (id INT PRIMARY KEY NOT ENFORCED, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)",
                  mode=ChangelogMode.all())  # fmt: skip
    with pytest.raises(SqlNotSupportedError, match="OverAggregate doesn't support consuming update and delete changes"):
        tables.plan("SELECT id, SUM(v) OVER (PARTITION BY id ORDER BY ts) FROM timed")


def test_old_rows_of_a_source_are_dropped_if_nothing_needs_them(tables):
    plan = tables.plan("INSERT INTO upserted SELECT id, v FROM cdc")
    assert labels(plan.root) == ["Sink", "Calc", "DropUpdateBefore", "TableSourceScan"]


def test_top_n_strategies(tables):
    top = "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY {} DESC) AS n FROM ({})) WHERE n <= 3"
    counts = "SELECT a, COUNT(*) AS c, SUM(b) AS s FROM t GROUP BY a"
    assert find(tables.plan(top.format("b", "SELECT * FROM t")).root, "Rank").strategy == "AppendFastStrategy"
    assert find(tables.plan(top.format("c", counts)).root, "Rank").strategy == "UpdateFastStrategy"
    assert find(tables.plan(top.format("s", counts)).root, "Rank").strategy == "RetractStrategy"
    assert find(tables.plan(top.format("v", "SELECT * FROM cdc")).root, "Rank").strategy == "RetractStrategy"


def test_unique_keys_of_joins(tables):
    join = find(tables.plan("SELECT * FROM t JOIN cdc ON a = id JOIN ups ON cdc.v = ups.v").root, "Join")
    assert (join.left_unique, join.right_unique) == (None, (0,))
    inner = find(join.inputs[0], "Join")
    assert (inner.left_unique, inner.right_unique) == (None, (0,))


def test_null_checks_of_a_sink(tables):
    assert tables.plan("INSERT INTO strict SELECT a, b FROM t").root.not_null == ((0, "k"),)
    assert tables.plan("INSERT INTO strict SELECT 1, b FROM t").root.not_null == ()


def test_time_to_live_of_state(tables):
    settings = PlanSettings.of({"table.exec.state.ttl": "1 h"})
    assert find(tables.plan("SELECT a, COUNT(*) FROM t GROUP BY a", settings).root, "GroupAggregate").ttl == 3_600_000


def test_time_to_live_of_the_sides_of_a_join(tables):
    settings = PlanSettings.of({"table.exec.state.ttl": "1 h"})
    for hint, expected in {
        "/*+ STATE_TTL('t' = '1 d', 'cdc' = '2 d') */": (86_400_000, 172_800_000),
        "/*+ STATE_TTL('cdc' = '1 min') */": (3_600_000, 60_000),
        "": (3_600_000, 3_600_000),
    }.items():
        join = find(tables.plan(f"SELECT {hint} a FROM t JOIN cdc ON a = id", settings).root, "Join")
        assert (join.left_ttl, join.right_ttl) == expected
    groups = tables.plan("SELECT /*+ STATE_TTL('t' = '1 d') */ a, COUNT(*) FROM t GROUP BY a", settings)
    assert find(groups.root, "GroupAggregate").ttl == 86_400_000
