"""Queries that Flink accepts are accepted, with the same names and types of columns; those that it refuses are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from verdicts.statements import is_query, statements

from headrace.errors import HeadraceError
from headrace.table import EnvironmentSettings, TableEnvironment
from headrace.table.functions.type_text import sql_text

_FOLDER = Path(__file__).parent / "verdicts"
_ANSWERS = json.loads((_FOLDER / "answers.json").read_text())
_DIFFERENCES = {each["statement"]: each for each in yaml.safe_load((_FOLDER / "differences.yaml").read_text())}


@pytest.fixture(scope="module")
def environment() -> TableEnvironment:
    found = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    found.get_config().set("headrace.executor", "local").set("table.local-time-zone", "UTC")
    for statement in statements(_FOLDER / "tables.sql"):
        found.execute_sql(statement)
    return found


@pytest.mark.parametrize("statement", statements(_FOLDER / "queries.sql"))
def test_verdict(environment, statement):
    answer, difference = _ANSWERS[statement], _DIFFERENCES.get(statement)
    found = _verdict(environment, statement)
    same = found == answer if "columns" in answer else found == "refused"
    assert same == (difference is None), (found, answer)


def test_differences_are_of_recorded_statements():
    assert set(_DIFFERENCES) <= set(_ANSWERS)
    assert all(each["reason"] for each in _DIFFERENCES.values())


def _verdict(environment: TableEnvironment, statement: str) -> Any:
    """Return the columns, or that the statement is refused; only errors that are meant for users count as refusals."""
    try:
        if not is_query(statement):
            environment.explain_sql(statement)
            return {"columns": []}
        table = environment.sql_query(statement)
        table.explain()
    except HeadraceError:
        return "refused"
    schema = table.get_schema()
    return {"columns": [[n, sql_text(t)] for n, t in zip(schema.get_field_names(), schema.get_field_data_types())]}
