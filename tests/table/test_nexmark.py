"""The Nexmark queries over an auction site: columns, types and results are those that Flink has."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from nexmark.auction_site import write_events, write_rates
from nexmark.final_table import final_table
from nexmark.java_text import java_text

from headrace.table import DataTypes, EnvironmentSettings, TableEnvironment
from headrace.table.errors import SqlNotSupportedError
from headrace.table.functions.type_text import sql_text
from headrace.table.udf import udf

_FOLDER = Path(__file__).parent / "nexmark"
_DOCUMENT = yaml.safe_load((_FOLDER / "queries.yaml").read_text())
_ANSWERS = json.loads((_FOLDER / "answers.json").read_text())
_CASES = [pytest.param(case, id=case["name"]) for case in _DOCUMENT["queries"]]
_ON_SPARK = ["q5", "q9", "q13"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nexmark")
    write_events(folder / "events.json", 300)
    write_rates(folder / "rates.csv", 60)
    return {"events": str(folder / "events.json"), "rates": str(folder / "rates.csv")}


@pytest.mark.parametrize("case", _CASES)
def test_query(case, files, tmp_path):
    _compare(case, {**files, "log": str(tmp_path / "log")}, executor="local", parallelism="1")


@pytest.mark.parametrize("case", _CASES)
def test_query_with_two_subtasks(case, files, tmp_path):
    _compare(case, {**files, "log": str(tmp_path / "log")}, executor="local", parallelism="2")


@pytest.mark.spark
@pytest.mark.parametrize("case", [case for case in _CASES if case.id in _ON_SPARK])
def test_query_on_spark(case, files, tmp_path, spark):
    _compare(case, {**files, "log": str(tmp_path / "log")}, executor="spark", parallelism="2")


def test_partitions_of_the_log_are_committed(files, tmp_path):
    case = next(case for case in _DOCUMENT["queries"] if case["name"] == "q10")
    environment = _environment(case, {**files, "log": str(tmp_path / "log")}, "local", "1")
    rows = list(environment.execute_sql("SELECT DISTINCT at_day, at_minute FROM bid_log").collect())
    committed = {(path.parent.parent.name, path.parent.name) for path in (tmp_path / "log").rglob("_SUCCESS")}
    assert committed == {(f"at_day={row[0]}", f"at_minute={quote(row[1])}") for row in rows}


def _compare(case: dict[str, Any], paths: dict[str, str], executor: str, parallelism: str) -> None:
    answer = _ANSWERS[case["name"]]
    environment = _environment(case, paths, executor, parallelism)
    if "error" in answer:
        with pytest.raises(SqlNotSupportedError):
            environment.execute_sql(case["query"])
        return
    result = environment.execute_sql(case["query"])
    schema = result.get_table_schema()
    columns = [[name, sql_text(kind)] for name, kind in zip(schema.get_field_names(), schema.get_field_data_types())]
    assert columns == answer["columns"]
    with result.collect() as rows:
        changes = [(str(row.get_row_kind()), tuple(java_text(value) for value in row)) for row in rows]
    found, expected = final_table(changes, case.get("key", ())), Counter(tuple(row) for row in answer["rows"])
    kept = case.get("compare", range(len(columns)))
    assert _chosen(found, kept) == _chosen(expected, kept)


def _chosen(table: Counter[tuple[Any, ...]], columns: Sequence[int]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row[number] for number in columns) for row in table.elements())


def _environment(case: dict[str, Any], paths: dict[str, str], executor: str, parallelism: str) -> TableEnvironment:
    batch = case.get("batch", False)
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    environment = TableEnvironment.create(settings)
    for key, value in {
        "headrace.executor": executor,
        "parallelism.default": parallelism,
        "table.local-time-zone": "UTC",
    }.items():
        environment.get_config().set(key, value)
    environment.create_temporary_function(
        "count_char", udf(lambda text, sign: text.count(sign), result_type=DataTypes.BIGINT())
    )
    for statement in [*_DOCUMENT["tables"], *case.get("setup", ())]:
        for name, path in paths.items():
            statement = statement.replace(f"{{{name}}}", path)
        result = environment.execute_sql(statement)
        if statement.startswith("INSERT"):
            result.wait()
    return environment
