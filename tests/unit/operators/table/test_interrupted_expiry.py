"""Interrupted operators whose state expires, and windows in two phases, emit the same in all, on both backends, rescaled."""

import pytest
from tests.unit.operators.table.aggregate_calls import call
from tests.unit.operators.table.interrupted import changes, check_interrupted, one_input

from headrace.graph.table_sort_specs import Deduplicate, Rank
from headrace.graph.table_specs import (
    ChangelogNormalize,
    GlobalWindowAggregate,
    GroupAggregate,
    LocalWindowAggregate,
    SinkMaterialize,
    SortOrder,
    TimeWindow,
    WindowAggregate,
)
from headrace.testing import OperatorHarness
from headrace.testing.events import Record

SUMS = (call("COUNT", kinds=True), call("SUM", 2, kinds=True), call("COUNT", 2, kinds=True, distinct=True))
EXPIRING = {
    "groups": GroupAggregate((0,), SUMS, kinds=True, ttl=50),
    "groups in mini-batches": GroupAggregate((0,), SUMS, kinds=True, ttl=50, mini_batch=True),
    "rank": Rank((0,), (SortOrder(2, True),), 1, 2, False, kinds=True, ttl=50),
    "last rows": Deduplicate((0,), None, False, True, kinds=False, ttl=50),
    "normalized": ChangelogNormalize((0,), ttl=50),
    "materialized": SinkMaterialize((0,), (0,), ttl=50),
}


def with_time(script, step_ms=20):
    """Let time pass between all steps."""
    timed = []
    for number, step in enumerate(script):
        timed += [("clock", number * step_ms), step]
    return timed


@pytest.mark.parametrize("spec", EXPIRING.values(), ids=EXPIRING)
def test_state_that_expires(spec):
    script = with_time(changes(7, steps=30))
    if not getattr(spec, "kinds", True):
        script = [(kind, *[row[:-1] for row in rows]) if kind == "left" else (kind, *rows) for kind, *rows in script]
    check_interrupted(spec, [(0,)], script, expires=True)


@pytest.mark.parametrize(
    "window", [TimeWindow("TUMBLE", 50), TimeWindow("HOP", 60, 20), TimeWindow("CUMULATE", 90, 30)]
)
def test_two_phases(window):
    """The first phase has no state: what it holds is emitted before a checkpoint."""
    made = (call("COUNT"), call("SUM", 2), call("COUNT", 2, distinct=True))
    spec = WindowAggregate(window, 0, (1,), made)
    first, script = OperatorHarness(LocalWindowAggregate(spec)), []
    for number, (kind, *step) in enumerate(one_input(9)):
        if kind == "watermark":
            first.process_watermark(step[0])
        else:
            first.operator.process_batch(step, None, None)
        if number % 3 == 0:
            first.end_epoch()
        for event in first.take_events():
            script.append(("left", event.value) if isinstance(event, Record) else ("watermark", event.timestamp))
    check_interrupted(GlobalWindowAggregate(spec), [(0,)], script, left=0)
