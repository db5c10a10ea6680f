"""SQL transcripts: tables, a query and its changelog as Flink has it, run on the local executor."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from plan_kit import Tables

from headrace.table.changelog_mode import ChangelogMode
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.plan.settings import PlanSettings
from headrace.types import logical_types as types

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_KINDS = ["+I", "-U", "+U", "-D"]
_FILES = sorted((Path(__file__).parent / "transcripts").glob("*.yaml"))
_INTEGERS = (types.TinyIntType, types.SmallIntType, types.IntType, types.BigIntType)


def _cases() -> list[Any]:
    found = []
    for path in _FILES:
        document = yaml.safe_load(path.read_text())
        for case in document["cases"]:
            merged = {"compare": document.get("compare", "exact"), **case}
            merged |= {"tables": document["tables"], "views": document.get("views", {})}
            found.append(pytest.param(merged, id=f"{path.stem}: {case['name']}"))
    return found


@pytest.mark.parametrize("case", _cases())
def test_transcript(case):
    if "skip" in case or not ("expected" in case or "error" in case):
        pytest.skip(case.get("skip", "not recorded"))
    tables = _tables(case)
    settings = PlanSettings.of(case.get("conf", {}), case.get("batch", False))
    if "error" in case:
        with pytest.raises((SqlNotSupportedError, SqlValidationError)):
            tables.plan(case["query"], settings)
        return
    found = _run(tables, case["query"], settings)
    expected = [tuple(row) for row in case["expected"]]
    if case["compare"] == "final":
        assert _final(found) == _final(expected)
    elif case.get("order", "exact") == "exact":
        assert found == expected
    else:
        assert sorted(found, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("case", _cases())
def test_transcript_with_two_subtasks(case):
    if "skip" in case or "expected" not in case or "limit" in case["name"]:
        pytest.skip("needs one subtask")
    settings = PlanSettings.of(case.get("conf", {}), case.get("batch", False))
    found = _run(_tables(case), case["query"], settings, parallelism=2)
    assert _final(found) == _final([tuple(row) for row in case["expected"]])


def _tables(case: dict[str, Any]) -> Tables:
    tables = Tables()
    for name, table in case["tables"].items():
        changes = table.get("kinds", False)
        tables.create(f"{name} ({table['schema']})", (), ChangelogMode.all() if changes else None)
        schema = tables.resolve((name,)).schema
        kinds = schema.source_type.field_types()
        rows = []
        for row in table["rows"]:
            values = row[1:] if changes else row
            kept = tuple(_internal(value, kind) for value, kind in zip(values, kinds))
            rows.append((*kept, _KINDS.index(row[0])) if changes else kept)
        tables.create(f"{name} ({table['schema']})", rows, ChangelogMode.all() if changes else None)
    for name, query in case["views"].items():
        tables.view(name, query)
    return tables


def _run(tables: Tables, query: str, settings: PlanSettings, parallelism: int = 1) -> list[tuple[Any, ...]]:
    plan = tables.plan(query, settings)
    rows = tables.rows(query, settings, parallelism)
    shown = plan.row_type.field_types()
    kinds = [] if plan.changelog_mode.is_insert_only else [row[-1] for row in rows]
    return [
        (_KINDS[kinds[number]] if kinds else "+I", *(_text(v, k) for v, k in zip(row, shown)))
        for number, row in enumerate(rows)
    ]


def _final(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Return the table that a changelog leaves."""
    found: Counter[tuple[Any, ...]] = Counter()
    for kind, *row in rows:
        found[tuple(row)] += 1 if kind in ("+I", "+U") else -1
    return Counter({row: count for row, count in found.items() if count})


def _internal(value: Any, kind: Any) -> Any:
    """Return a value of a transcript in internal form."""
    if value is None or value == "NULL":
        return None
    match kind:
        case types.TimestampType() | types.LocalZonedTimestampType():
            moment = datetime.fromisoformat(str(value)).replace(tzinfo=timezone.utc)
            return (moment - _EPOCH) // timedelta(microseconds=1)
        case types.DecimalType(scale=scale):
            return Decimal(str(value)).quantize(Decimal(1).scaleb(-scale))
        case types.DoubleType() | types.FloatType():
            return float(value)
        case types.BooleanType():
            return str(value).lower() == "true"
    return int(value) if isinstance(kind, _INTEGERS) else str(value)


def _text(value: Any, kind: Any) -> str | None:
    """Return a value as Java shows it."""
    if value is None:
        return None
    match kind:
        case types.TimestampType() | types.LocalZonedTimestampType():
            moment = _EPOCH + timedelta(microseconds=value)
            zone = "Z" if isinstance(kind, types.LocalZonedTimestampType) else ""
            seconds = f":{moment.second:02}" if moment.second or moment.microsecond or zone else ""
            fraction = f".{moment.microsecond // 1000:03}" if moment.microsecond else ""
            return f"{moment:%Y-%m-%dT%H:%M}{seconds}{fraction}{zone}"
        case types.BooleanType():
            return str(value).lower()
    return str(value)
