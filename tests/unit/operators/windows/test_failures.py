"""What a window operator says when something is wrong, and what it counts."""

from __future__ import annotations

import pytest

from headrace.common import Types
from headrace.common.errors import InvalidProgramError, StateError, UserCodeError
from headrace.datastream.functions import CoGroupFunction, ProcessJoinFunction, ProcessWindowFunction
from headrace.datastream.state import ValueStateDescriptor
from headrace.datastream.window import (
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from headrace.graph.specs import IntervalJoin, WindowCoGroup, WindowOperation
from headrace.testing import OperatorHarness

KINDS = [TumblingEventTimeWindows(10, 0), SlidingEventTimeWindows(10, 5, 0), EventTimeSessionWindows(10)]


class Bad(ProcessWindowFunction):
    def process(self, key, context, elements):
        raise ValueError("no good")


class State(ProcessWindowFunction):
    def process(self, key, context, elements):
        context.window_state().get_state(ValueStateDescriptor("x", Types.LONG()))
        return []


class Pair(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        yield left, right


class Groups(CoGroupFunction):
    def co_group(self, first, second):
        yield first, second


def harness(assigner, function=None, kind="list", combiner=None, **more) -> OperatorHarness:
    calls = "process" if function is not None else ""
    spec = WindowOperation(assigner, EventTimeTrigger(), kind, combiner, function, calls, **more)
    return OperatorHarness(spec, lambda v: v[0])


@pytest.mark.parametrize("lateness", [0, 5])
@pytest.mark.parametrize("assigner", KINDS[:2], ids=repr)
def test_missing_timestamps(assigner, lateness):
    with pytest.raises(InvalidProgramError, match="assign_timestamps_and_watermarks") as caught:
        harness(assigner, Bad(), allowed_lateness=lateness).process_element(("a", 1))
    assert caught.value.operator_name == "operator"


@pytest.mark.parametrize("lateness", [0, 5])
@pytest.mark.parametrize("assigner", KINDS, ids=repr)
def test_a_window_function_that_fails_names_window_and_key(assigner, lateness):
    h = harness(assigner, Bad(), allowed_lateness=lateness)
    h.process_element(("a", 1), 3)
    with pytest.raises(UserCodeError, match=r"(?s)no good.*TimeWindow.*'a'"):
        h.process_watermark(100)


@pytest.mark.parametrize("assigner", KINDS, ids=repr)
def test_a_reduce_function_that_fails_names_the_record(assigner):
    h = harness(assigner, kind="reduce", combiner=lambda a, b: 1 // 0)
    h.process_element(("a", 1), 3)
    with pytest.raises(UserCodeError, match=r"(?s)ZeroDivisionError.*'a', 2"):
        h.process_element(("a", 2), 4)


@pytest.mark.parametrize("lateness", [0, 5])
@pytest.mark.parametrize("assigner", KINDS, ids=repr)
def test_late_records_without_a_side_output_are_counted(assigner, lateness):
    h = harness(assigner, State(), allowed_lateness=lateness)
    h.process_watermark(100)
    h.process_element(("a", 1), 3)
    h.process_element(("a", 1), 4)
    assert h.operator.late_dropped == 2


def test_sessions_have_no_window_state():
    h = harness(KINDS[2], State())
    h.process_element(("a", 1), 3)
    with pytest.raises(StateError, match="Per-window state is not allowed when using merging windows"):
        h.process_watermark(100)


def test_a_dynamic_gap_must_be_positive():
    with pytest.raises(InvalidProgramError, match="0 < gap"):
        harness(DynamicEventTimeSessionWindows(lambda v: v[1]), Bad()).process_element(("a", 0), 3)


def test_reduce_functions_may_change_their_first_argument():
    def collect(a, b):
        a[1].append(b[1][0])
        return a

    for assigner, lateness in ((KINDS[1], 0), (KINDS[1], 3)):
        h = harness(assigner, kind="reduce", combiner=collect, allowed_lateness=lateness)
        h.process_element(["a", [1]], 7)
        h.process_element(["a", [2]], 12)
        h.end_input()
        values = [v for v, _ in h.output if v != "watermark"]
        assert values == [["a", [1]], ["a", [1, 2]], ["a", [2]]]


def test_interval_join_needs_timestamps():
    spec = IntervalJoin(Pair(), -1, 1)
    h = OperatorHarness(spec, lambda v: v[0], lambda v: v[0], inputs=2)
    with pytest.raises(InvalidProgramError, match="timestamps"):
        h.process_element(("a", 1))


def test_interval_join_counts_late_records():
    h = OperatorHarness(IntervalJoin(Pair(), -1, 1), lambda v: v[0], lambda v: v[0], inputs=2)
    h.process_watermark(10)
    h.process_element(("a", 1), 9)
    h.process_element2(("a", 1), 9)
    assert h.operator.late_dropped == 2


def counted(h: OperatorHarness) -> int:
    return h.operator.context.metrics.snapshot()["numLateRecordsDropped"]


@pytest.mark.parametrize("assigner", KINDS, ids=repr)
def test_the_counter_of_dropped_records_is_a_metric_of_the_operator(assigner):
    h = harness(assigner, State())
    assert counted(h) == 0
    h.process_watermark(100)
    h.process_element(("a", 1), 3)
    assert counted(h) == 1
    side = OperatorHarness(
        WindowOperation(assigner, EventTimeTrigger(), "list", None, State(), "process", late_tag="late"),
        lambda v: v[0],
        None,
        ("late",),
    )
    side.process_watermark(100)
    side.process_element(("a", 1), 3)
    assert counted(side) == 0 and side.side_output("late") == [(("a", 1), 3)]


def test_joins_count_too():
    h = OperatorHarness(IntervalJoin(Pair(), -1, 1, "left", None), lambda v: v[0], lambda v: v[0], ("left",), inputs=2)
    h.process_watermark(10)
    h.process_element(("a", 1), 9)
    h.process_element2(("a", 1), 9)
    assert counted(h) == 1 and h.side_output("left") == [(("a", 1), 9)]
    spec = WindowCoGroup(KINDS[0], EventTimeTrigger(), "list", None, Groups(), "co_group")
    h = OperatorHarness(spec, lambda v: v[0], lambda v: v[0], inputs=2)
    h.process_watermark(100)
    h.process_element(("a", 1), 9)
    h.process_element2(("a", 1), 9)
    assert counted(h) == 2
