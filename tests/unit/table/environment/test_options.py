"""Options of tables: each of Flink's is honoured, refused, or listed as one without effect."""

from __future__ import annotations

from importlib import resources

import pytest

from headrace.compatibility.ignored_settings import OPTIONS_WITHOUT_EFFECT
from headrace.table import EnvironmentSettings, ExplainDetail, TableEnvironment
from headrace.table.errors import SqlNotSupportedError
from headrace.table.option_effects import HONOURED, ONLY_VALUES

OPTIONS = (resources.files("headrace.config") / "flink_options.txt").read_text().split()


def without_effect(key: str) -> bool:
    return any(key == each or (each.endswith((".", "-")) and key.startswith(each)) for each in OPTIONS_WITHOUT_EFFECT)


@pytest.mark.parametrize("key", sorted(key for key in OPTIONS if key.startswith("table.")))
def test_every_option_of_flink_has_one_effect(key: str) -> None:
    assert [key in HONOURED, key in ONLY_VALUES, without_effect(key)].count(True) == 1


def local() -> TableEnvironment:
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.get_config().set("headrace.executor", "local")
    return tables


def test_a_value_that_cannot_be_honoured_is_refused() -> None:
    with pytest.raises(SqlNotSupportedError, match="TRY_CAST"):
        local().get_config().set("table.exec.legacy-cast-behaviour", "ENABLED")
    with pytest.raises(SqlNotSupportedError, match="listeners"):
        local().execute_sql("SET 'table.catalog-modification.listeners' = 'mine'")


def test_the_width_of_printed_columns(capsys: pytest.CaptureFixture[str]) -> None:
    tables = local()
    tables.get_config().set("table.display.max-column-width", "8")
    tables.execute_sql("SELECT 'abcdefghijklmno' AS word").print()
    assert "| +I | abcde... |" in capsys.readouterr().out


def test_synchronous_inserts(tmp_path) -> None:
    tables = local()
    tables.get_config().set("table.dml-sync", "true")
    tables.execute_sql(
        f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    tables.execute_sql("INSERT INTO t VALUES (1)")
    assert [path.read_text() for path in tmp_path.glob("part*")] == ["1\n"]


def test_the_parallelism_of_operators() -> None:
    tables = local()
    tables.get_config().set("table.exec.resource.default-parallelism", "3")
    tables.execute_sql("CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '9')")
    plan = tables.explain_sql("SELECT a, COUNT(*) FROM t GROUP BY a", ExplainDetail.JSON_EXECUTION_PLAN)
    assert '"parallelism": 3' in plan
