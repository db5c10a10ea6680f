"""Aggregations that are interrupted emit the same in all, on both backends, rescaled, row by row and on columns."""

import pytest
from tests.unit.operators.table.aggregate_calls import call
from tests.unit.operators.table.interrupted import changes, check_interrupted, one_input, run

from headrace.graph.table_specs import (
    GroupAggregate,
    OverAggregate,
    OverFrame,
    TimeWindow,
    WindowAggregate,
    WindowTable,
)
from headrace.operators.table.column_groups import ColumnGroupOperator
from headrace.operators.table.column_sessions import ColumnSessionOperator
from headrace.operators.table.column_windows import ColumnWindowOperator
from headrace.operators.table.factory import create
from headrace.operators.table.group_aggregate import GroupAggregateOperator
from headrace.operators.table.over_columns import ColumnOverOperator
from headrace.types import logical_types as t

pytest.importorskip("pyarrow")
ROW = (t.TimestampType(3), t.VarCharType(), t.BigIntType(), t.VarCharType())
KEYS = [(1,)]
NUMBERS = [("COUNT",), ("SUM", 2), ("MAX", 2), ("MIN", 2), ("AVG", 2)]


def row_type(*types):
    return t.RowType(tuple(t.RowField(f"f{i}", kind) for i, kind in enumerate(types)))


def calls(columns, distinct=False):
    made = [call(*each, vectorised=columns) for each in NUMBERS]
    if distinct:
        made += [call("COUNT", 2, distinct=True), call("LISTAGG", 3, type=t.VarCharType())]
    return tuple(made)


def typed(columns, *results):
    if not columns:
        return {}
    return {"types": (row_type(*ROW),), "output_type": row_type(*results)}


def aggregates(count=5):
    return [t.BigIntType()] * count


def script_for(columns, seed=1, **options):
    return one_input(seed, **({"least": 100, "most": 140, "steps": 12, "jitter": 60} if columns else {}), **options)


WINDOWS = [
    TimeWindow("TUMBLE", 50),
    TimeWindow("HOP", 60, 20),
    TimeWindow("HOP", 20, 50),
    TimeWindow("CUMULATE", 90, 30),
    TimeWindow("SESSION", 12),
]


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: f"{w.kind}-{w.size}-{w.slide}")
def test_windows(window, columns):
    times = [t.TimestampType(3), t.TimestampType(3)]
    spec = WindowAggregate(
        window, 0, (1,), calls(columns, distinct=not columns), **typed(columns, ROW[1], *aggregates(), *times)
    )
    wanted = check_interrupted(spec, KEYS, script_for(columns), left=0, columns=columns)
    if columns:
        assert type(create(spec)) in (ColumnWindowOperator, ColumnSessionOperator)
        rows = WindowAggregate(window, 0, (1,), calls(False))
        assert run(rows, KEYS, script_for(columns)) == (wanted, 0)


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("window", WINDOWS, ids=lambda w: f"{w.kind}-{w.size}-{w.slide}")
def test_windows_of_processing_time(window, columns):
    times = [t.TimestampType(3), t.TimestampType(3)]
    made = calls(columns, distinct=not columns)
    results = typed(columns, ROW[1], *aggregates(), *times)
    spec = WindowAggregate(window, 0, (1,), made, event_time=False, **results)
    script = [("clock", step[1]) if step[0] == "watermark" else step for step in script_for(columns)]
    check_interrupted(spec, KEYS, script, left=0, columns=columns)


@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
@pytest.mark.parametrize("keys", [(), (1, 3)])
def test_keys_of_windows(keys, columns):
    results = [*[ROW[key] for key in keys], *aggregates(), t.TimestampType(3), t.TimestampType(3)]
    spec = WindowAggregate(TimeWindow("HOP", 60, 20), 0, keys, calls(columns), **typed(columns, *results))
    check_interrupted(spec, [keys], script_for(columns), left=0, columns=columns, most=3 if keys else 1)


def test_windows_over_changes():
    script = [
        (kind, *[(row[1] * 1000, row[0], row[2], row[3]) for row in rows])
        for kind, *rows in changes(3, keys=("a", "b"))
    ]
    made = (call("COUNT", kinds=True), call("SUM", 2, kinds=True), call("MAX", 2, kinds=True))
    spec = WindowAggregate(TimeWindow("HOP", 100, 50), 0, (1,), made, kinds=True)
    check_interrupted(spec, KEYS, [*script, ("watermark", 10_000)], left=0)


def test_session_tables():
    spec = WindowTable(TimeWindow("SESSION", 12), 0, partition_by=(1,), types=(row_type(*ROW),))
    check_interrupted(spec, KEYS, script_for(False), left=0)


def test_windows_of_rows():
    for window in (TimeWindow("TUMBLE", 3), TimeWindow("HOP", 4, 2)):
        spec = WindowAggregate(window, 0, (1,), calls(False), event_time=False, by_rows=True, properties=())
        script = [step for step in script_for(False) if step[0] != "watermark"]
        check_interrupted(spec, KEYS, script)


@pytest.mark.parametrize("mini_batch", [False, True])
@pytest.mark.parametrize("columns", [False, True], ids=["rows", "columns"])
def test_groups(columns, mini_batch):
    made = calls(columns, distinct=not columns)
    spec = GroupAggregate((1,), made, mini_batch=mini_batch, **typed(columns, ROW[1], *aggregates()))
    assert type(create(spec)) is (ColumnGroupOperator if columns else GroupAggregateOperator)
    check_interrupted(spec, KEYS, script_for(columns), columns=columns)


@pytest.mark.parametrize("ttl", [0, 10_000_000])
@pytest.mark.parametrize("mini_batch", [False, True])
def test_groups_over_changes(mini_batch, ttl):
    made = (
        call("COUNT", kinds=True),
        call("SUM", 2, kinds=True),
        call("MAX", 2, kinds=True),
        call("COUNT", 2, kinds=True, distinct=True),
        call("LISTAGG", 0, kinds=True, type=t.VarCharType()),
        call("FIRST_VALUE", 2, kinds=True),
        call("LAST_VALUE", 2, kinds=True),
    )
    spec = GroupAggregate((0,), made, kinds=True, mini_batch=mini_batch, ttl=ttl)
    check_interrupted(spec, [(0,)], changes(5))


FRAMES = [OverFrame(rows, start) for rows in (True, False) for start in (None, -2, -30)]


@pytest.mark.parametrize("event_time", [True, False], ids=["event-time", "processing-time"])
@pytest.mark.parametrize("frame", FRAMES, ids=lambda f: f"{'ROWS' if f.rows else 'RANGE'}{f.start or ''}")
def test_over(frame, event_time):
    script = script_for(False)
    if not event_time:
        script = [("clock", step[1]) if step[0] == "watermark" else step for step in script]
    made = (*calls(False), call("COUNT", 2, distinct=True), call("LAST_VALUE", 2))
    spec = OverAggregate((1,), 0, frame, made, event_time=event_time)
    left = 0 if event_time and not frame.rows and frame.start else None
    check_interrupted(spec, KEYS, script, left=left)


def test_over_on_columns():
    made = tuple(call(*each) for each in NUMBERS[:4])
    results = typed(True, *ROW, *aggregates(4))
    spec = OverAggregate((1,), 0, OverFrame(True, None), made, event_time=False, **results)
    assert type(create(spec)) is ColumnOverOperator
    script = [step for step in script_for(True) if step[0] == "left"]
    wanted = check_interrupted(spec, KEYS, script, columns=True)
    rows = OverAggregate((1,), 0, OverFrame(True, None), made, event_time=False)
    assert run(rows, KEYS, script)[0] == wanted
