"""Two phases give the results of one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.operators.table.aggregate_calls import call

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.graph.table_specs import (
    GlobalWindowAggregate,
    LocalWindowAggregate,
    TableKey,
    TimeWindow,
    WindowAggregate,
)
from headrace.testing import OperatorHarness
from headrace.testing.events import Record

CALLS = (call("COUNT"), call("SUM", 2), call("COUNT", 2, distinct=True))
steps = st.lists(
    st.one_of(
        st.lists(st.tuples(st.integers(-20, 40), st.sampled_from("ab"), st.integers(0, 3)), min_size=1, max_size=8),
        st.integers(-20, 50),
        st.just("epoch"),
    ),
    max_size=20,
)


@pytest.mark.parametrize("window", [TimeWindow("TUMBLE", 10), TimeWindow("HOP", 10, 5), TimeWindow("CUMULATE", 12, 4)])
@settings(max_examples=30, deadline=None)
@given(steps)
def test_like_one_phase(window, steps):
    spec = WindowAggregate(window, 0, (1,), CALLS)
    one = OperatorHarness(spec, TableKey((1,)))
    first, second = (
        OperatorHarness(LocalWindowAggregate(spec)),
        OperatorHarness(GlobalWindowAggregate(spec), TableKey((0,))),
    )
    mark = MIN_TIMESTAMP
    for step in [*steps, MAX_WATERMARK]:
        if isinstance(step, list):
            rows = [(time * 1000, key, value) for time, key, value in step]
            one.operator.process_batch(rows, None, None)
            first.operator.process_batch(rows, None, None)
        elif step == "epoch":
            first.end_epoch()
        elif step > mark:
            mark = step
            one.process_watermark(step)
            first.process_watermark(step)
        for event in first.take_events():
            if isinstance(event, Record):
                second.process_element(event.value)
            else:
                second.process_watermark(event.timestamp)
        assert sorted(one.take_output(), key=repr) == sorted(second.take_output(), key=repr)
    assert one.operator.late_dropped == second.operator.late_dropped
