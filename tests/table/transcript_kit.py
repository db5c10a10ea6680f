"""Transcripts: cases in YAML, the tables they read, and running one on an executor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from plan_kit import Tables, local_environment

from headrace.datastream import DataStream, StreamExecutionEnvironment
from headrace.table.changelog_mode import ChangelogMode
from headrace.table.connectors.access import SourceAccess
from headrace.table.connectors.base import TableSink
from headrace.table.plan.planner import translate, translate_all
from headrace.table.plan.settings import PlanSettings
from headrace.types import logical_types as types

FOLDER = Path(__file__).parent
KINDS = ["+I", "-U", "+U", "-D"]
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_INTEGERS = (types.TinyIntType, types.SmallIntType, types.IntType, types.BigIntType)
_MODES = {"append": ChangelogMode.insert_only(), "upsert": ChangelogMode.upsert(), "all": ChangelogMode.all()}
Case = dict[str, Any]
Change = tuple[Any, ...]


def cases(keep: Callable[[Case], bool] = lambda case: True) -> list[Any]:
    """Return the parameters of a test: one for each case that was recorded."""
    found = []
    for path in sorted((FOLDER / "transcripts").glob("*.yaml")):
        document = yaml.safe_load(path.read_text())
        for each in document["cases"]:
            case = {"compare": document.get("compare", "exact"), **each, "file": path.stem}
            case |= {"tables": document["tables"], "views": document.get("views", {})}
            if keep(case):
                found.append(pytest.param(case, id=f"{path.stem}: {each['name']}"))
    return found


def settings_of(case: Case) -> PlanSettings:
    """Return the settings of a case."""
    return PlanSettings.of({"table.local-time-zone": "UTC", **case.get("conf", {})}, case.get("batch", False))


def tables_of(case: Case) -> Tables:
    """Return the tables and views of a case; its sink, if it has one, is the table `sink_table`."""
    tables = Tables()
    for name, table in case["tables"].items():
        changes = table.get("kinds", False)
        mode = ChangelogMode.all() if changes else None
        if "mode" in table:
            mode = _MODES[table["mode"]]
        tables.create(f"{name} ({table['schema']})", (), mode)
        kinds = tables.resolve((name,)).schema.source_type.field_types()
        rows = []
        for row in table["rows"]:
            values = row[1:] if changes else row
            kept = tuple(internal(value, kind) for value, kind in zip(values, kinds))
            rows.append((*kept, KINDS.index(row[0])) if changes else kept)
        tables.create(f"{name} ({table['schema']})", rows, mode)
    for name, query in case["views"].items():
        tables.view(name, query)
    if "sink" in case:
        tables.create(f"sink_table ({case['sink']['schema']})", takes=_MODES[case["sink"]["mode"]])
    return tables


def run(case: Case, env: StreamExecutionEnvironment | None = None) -> list[Change]:
    """Return the changes that a case makes, as text."""
    env = local_environment() if env is None else env
    tables, settings = tables_of(case), settings_of(case)
    if "sink" in case:
        return _into_sink(case, tables, settings, env)
    plan = tables.plan(case["query"], settings)
    rows = list(translate(plan, env).stream.execute_and_collect())
    return _shown(rows, plan.row_type, not plan.changelog_mode.is_insert_only)


class _Collected(TableSink):
    """Keeps the stream that it is given, in order to run it."""

    def __init__(self, mode: ChangelogMode) -> None:
        self._mode = mode
        self.stream: DataStream | None = None

    def changelog_mode(self, requested: ChangelogMode) -> ChangelogMode:
        return self._mode

    def consume(self, stream: DataStream, name: str) -> Any:
        self.stream = stream


class _Access(SourceAccess):
    def __init__(self, collected: _Collected) -> None:
        super().__init__(None)
        self._collected = collected

    def sink(self, table: Any, options: Any = (), **more: Any) -> TableSink:
        return self._collected


def _into_sink(case: Case, tables: Tables, settings: PlanSettings, env: StreamExecutionEnvironment) -> list[Change]:
    collected = _Collected(_MODES[case["sink"]["mode"]])
    tables.replace_access("sink_table", _Access(collected))
    plan = tables.plan(f"INSERT INTO sink_table {case['query']}", settings)
    translate_all([plan], env)
    assert collected.stream is not None
    row_type = tables.resolve(("sink_table",)).schema.row_type
    return _shown(list(collected.stream.execute_and_collect()), row_type, case["sink"]["mode"] != "append")


def _shown(rows: list[Any], row_type: types.RowType, has_kinds: bool) -> list[Change]:
    shown = row_type.field_types()
    return [
        (KINDS[row[-1]] if has_kinds else "+I", *(text(value, kind) for value, kind in zip(row, shown))) for row in rows
    ]


def final(rows: list[Change]) -> Counter[Change]:
    """Return the table that a changelog leaves."""
    found: Counter[Change] = Counter()
    for kind, *row in rows:
        found[tuple(row)] += 1 if kind in ("+I", "+U") else -1
    return Counter({row: count for row, count in found.items() if count})


def internal(value: Any, kind: Any) -> Any:
    """Return a value of a transcript in internal form."""
    if value is None:
        return None
    match kind:
        case types.TimestampType() | types.LocalZonedTimestampType():
            moment = datetime.fromisoformat(str(value)).replace(tzinfo=timezone.utc)
            return (moment - _EPOCH) // timedelta(microseconds=1)
        case types.DateType():
            return date.fromisoformat(value).toordinal() - _EPOCH.toordinal()
        case types.DecimalType(scale=scale):
            return Decimal(str(value)).quantize(Decimal(1).scaleb(-scale))
        case types.DoubleType() | types.FloatType():
            return float(value)
        case types.BooleanType():
            return str(value).lower() == "true"
        case types.ArrayType(element_type=element):
            return tuple(internal(each, element) for each in value)
        case types.MapType(key_type=key, value_type=other):
            return {internal(k, key): internal(v, other) for k, v in value.items()}
        case types.RowType():
            return tuple(internal(value.get(field.name), field.data_type) for field in kind.fields)
    return int(value) if isinstance(kind, _INTEGERS) else str(value)


def text(value: Any, kind: Any) -> str | None:
    """Return a value as Java shows it."""
    if value is None:
        return None
    match kind:
        case types.TimestampType() | types.LocalZonedTimestampType():
            zone = "Z" if isinstance(kind, types.LocalZonedTimestampType) else ""
            moment = _EPOCH + timedelta(microseconds=value)
            return f"{moment:%Y-%m-%d}T{_clock(moment, bool(zone))}{zone}"
        case types.DateType():
            return str((_EPOCH + timedelta(days=value)).date())
        case types.TimeType():
            return _clock(datetime.combine(date.min, time()) + timedelta(milliseconds=value))
        case types.DayTimeIntervalType():
            return _duration(value)
        case types.BooleanType():
            return str(value).lower()
        case types.DoubleType() | types.FloatType():
            return _floating(value)
        case types.BinaryType() | types.VarBinaryType():
            return f"[{', '.join(str(each - 256 if each > 127 else each) for each in value)}]"
        case types.ArrayType(element_type=element):
            return f"[{', '.join(str_or_null(each, element) for each in value)}]"
        case types.MapType(key_type=key, value_type=other):
            return f"{{{', '.join(f'{str_or_null(k, key)}={str_or_null(v, other)}' for k, v in value.items())}}}"
        case types.MultisetType(element_type=element):
            return f"{{{', '.join(f'{str_or_null(k, element)}={count}' for k, count in value.items())}}}"
        case types.RowType():
            return f"+I[{', '.join(str_or_null(v, f.data_type) for v, f in zip(value, kind.fields))}]"
        case types.DecimalType():
            return f"{value:f}"
    return str(value)


def str_or_null(value: Any, kind: Any) -> str:
    """Return a value inside of another one."""
    return "null" if value is None else str(text(value, kind))


def _clock(moment: datetime, always: bool = False) -> str:
    seconds = f":{moment.second:02}" if moment.second or moment.microsecond or always else ""
    micros = f"{moment.microsecond:06}"
    fraction = "." + (micros[:3] if micros.endswith("000") else micros) if moment.microsecond else ""
    return f"{moment:%H:%M}{seconds}{fraction}"


def _duration(milliseconds: int) -> str:
    hours, rest = divmod(milliseconds, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    parts = [(hours, "H"), (minutes, "M"), (rest // 1000 if rest % 1000 == 0 else rest / 1000, "S")]
    return "PT" + ("".join(f"{value}{unit}" for value, unit in parts if value) or "0S")


def _floating(value: float) -> str:
    """Return a number as Java's Double.toString."""
    size = abs(value)
    if size and not 1e-3 <= size < 1e7:
        digits, _, exponent = f"{value!r}".partition("e")
        if not exponent:
            shown = f"{Decimal(repr(value)):e}".lower()
            digits, _, exponent = shown.partition("e")
        digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
        return f"{digits if '.' in digits else digits + '.0'}E{int(exponent)}"
    return repr(float(value))
