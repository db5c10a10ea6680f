"""Windows against a naive oracle, and the quick operators against the general one, on random streams with restarts."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common.watermark_strategy import MAX_WATERMARK, MIN_TIMESTAMP
from headrace.datastream.functions import AggregateFunction, ProcessJoinFunction, ProcessWindowFunction
from headrace.datastream.window import (
    EventTimeSessionWindows,
    EventTimeTrigger,
    SlidingEventTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
)
from headrace.graph.specs import IntervalJoin, WindowOperation
from headrace.operators.windows.operator import WindowOperator
from headrace.testing import OperatorHarness

EXAMPLES = settings(max_examples=150, deadline=None)


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window(), list(elements), context.current_watermark()


class Collected(AggregateFunction):
    """An accumulator that is mutable, to catch windows that share one."""

    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator):
        return tuple(accumulator)

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Frozen(Collected):
    """The same with an immutable accumulator, which sliding windows share."""

    def create_accumulator(self):
        return ()

    def add(self, value, accumulator):
        return (*accumulator, value)


class FoldText:
    def reduce(self, a, b):
        return a[0], a[1] + b[1]


class General(WindowOperation):
    """Always runs on the general operator."""

    def create_operator(self):
        return WindowOperator(self)


def window_specs(assigner: Any) -> list[WindowOperation]:
    trigger = EventTimeTrigger()
    return [
        WindowOperation(assigner, trigger, "list", None, Show(), "process", late_tag="late"),
        WindowOperation(assigner, trigger, "aggregate", Collected(), None, "", late_tag="late"),
        WindowOperation(assigner, trigger, "aggregate", Frozen(), Show(), "process", late_tag="late"),
        WindowOperation(assigner, trigger, "reduce", FoldText(), None, "", late_tag="late"),
    ]


# ---------------------------------------------------------------- streams

records = st.tuples(st.just("record"), st.sampled_from("abc"), st.integers(-15, 40))
steps = st.lists(
    st.one_of(records, records, records, st.tuples(st.just("watermark"), st.integers(0, 9)), st.just(("restart",))),
    max_size=40,
)
aligned = st.one_of(
    st.integers(1, 9).flatmap(
        lambda size: st.integers(1 - size, size - 1).map(lambda o: TumblingEventTimeWindows(size, o))
    ),
    st.tuples(st.integers(1, 9), st.integers(1, 7)).flatmap(
        lambda s: st.integers(1 - s[1], s[1] - 1).map(lambda o: SlidingEventTimeWindows(s[0], s[1], o))
    ),
)
sessions = st.integers(1, 8).map(EventTimeSessionWindows)


def play(spec: Any, stream: list[Any]) -> tuple[list[Any], list[Any]]:
    """Main output and late records of an operator; a restart goes on with a new one from the snapshot."""
    sides = ("late",)
    harness = OperatorHarness(spec, lambda v: v[0], None, sides)
    main: list[Any] = []
    late: list[Any] = []
    watermark = -10
    for number, step in enumerate(stream):
        if step[0] == "record":
            harness.process_element((step[1], str(number)), step[2])
        elif step[0] == "watermark":
            watermark += step[1]
            harness.process_watermark(watermark)
        else:
            harness.end_epoch()
            main += harness.output
            late += harness.side_output("late")
            seen = harness.operator.watermark
            harness = OperatorHarness(spec, lambda v: v[0], None, sides, state=harness.snapshot())
            harness.operator.watermark = seen
            harness._valve.marks = {channel: seen for channel in harness._valve.marks}
            harness._valve.current = seen
    harness.end_input()
    main += harness.output
    late += harness.side_output("late")
    return [m for m in main if m[0] != "watermark"], late


# ---------------------------------------------------------------- quick against general


@EXAMPLES
@given(assigner=st.one_of(aligned, sessions), stream=steps, kind=st.integers(0, 3))
def test_the_quick_operators_do_what_the_general_one_does(assigner, stream, kind):
    spec = window_specs(assigner)[kind]
    general = General(**{f.name: getattr(spec, f.name) for f in fields(spec)})
    assert play(spec, stream) == play(general, stream)


# ---------------------------------------------------------------- general against the oracle


@dataclass
class Oracle:
    """Recomputes every window from all accepted records, whenever something can fire."""

    lateness: int = 0

    def run(self, assigner: Any, stream: list[Any]) -> tuple[list[Any], list[Any]]:
        out: list[Any] = []
        late: list[Any] = []
        contents: dict[Any, list[Any]] = {}  # (key, window) -> values, in order of first arrival
        fired: set[Any] = set()
        mark, shown = MIN_TIMESTAMP, -10

        def emit(entry: Any) -> None:
            key, window = entry
            out.append(((key, window, list(contents[entry]), mark), window.end - 1))

        for number, step in enumerate([*stream, ("end",)]):
            if step[0] == "record":
                value = (step[1], str(number))
                windows = assigner.assign_windows(value, step[2], None)
                alive = [w for w in windows if w.end - 1 + self.lateness > mark]
                for window in alive:
                    entry = (step[1], window)
                    contents.setdefault(entry, []).append(value)
                    if window.end - 1 <= mark:
                        fired.add(entry)
                        emit(entry)
                if not alive and step[2] + self.lateness <= mark:
                    late.append((value, step[2]))
            elif step[0] != "restart":
                shown += 0 if step[0] == "end" else step[1]
                mark = max(mark, MAX_WATERMARK if step[0] == "end" else shown)
                due = [e for e in contents if e[1].end - 1 <= mark and e not in fired]
                for entry in sorted(due, key=lambda e: e[1].end):
                    fired.add(entry)
                    emit(entry)
                for entry in [e for e in contents if e[1].end - 1 + self.lateness <= mark]:
                    del contents[entry]
        return out, late


@EXAMPLES
@given(assigner=aligned, stream=steps, lateness=st.sampled_from([0, 0, 1, 5]))
def test_tumbling_and_sliding_windows_are_those_of_the_oracle(assigner, stream, lateness):
    spec = replace(window_specs(assigner)[0], allowed_lateness=lateness)
    assert play(spec, stream) == Oracle(lateness).run(assigner, stream)


def oracle_sessions(gap: int, stream: list[Any]) -> tuple[list[Any], list[Any]]:
    """Sessions by sorting all accepted records of a key that have not fired yet."""
    waiting: dict[str, list[tuple[int, Any]]] = {}
    out, late, mark, shown = [], [], MIN_TIMESTAMP, -10

    def grouped(key: str) -> list[list[tuple[int, Any]]]:
        groups: list[list[tuple[int, Any]]] = []
        for time, value in sorted(waiting.get(key, []), key=lambda r: r[0]):
            if groups and time <= groups[-1][-1][0] + gap:
                groups[-1].append((time, value))
            else:
                groups.append([(time, value)])
        return groups

    for number, step in enumerate([*stream, ("end",)]):
        if step[0] == "record":
            key, time, value = step[1], step[2], (step[1], str(number))
            near = any(g[0][0] <= time + gap and time <= g[-1][0] + gap for g in grouped(key))
            if near or time + gap - 1 > mark:
                waiting.setdefault(key, []).append((time, value))
            else:
                late.append((value, time))
        elif step[0] != "restart":
            shown += 0 if step[0] == "end" else step[1]
            mark = max(mark, MAX_WATERMARK if step[0] == "end" else shown)
            for key in list(waiting):
                for group in grouped(key):
                    end = group[-1][0] + gap
                    if end - 1 <= mark:
                        window = TimeWindow(group[0][0], end)
                        out.append((key, window, sorted(v for _, v in group), end - 1))
                        waiting[key] = [r for r in waiting[key] if r not in group]
    return out, late


@EXAMPLES
@given(gap=st.integers(1, 8), stream=steps)
def test_sessions_are_those_of_the_oracle(gap, stream):
    main, late = play(window_specs(EventTimeSessionWindows(gap))[0], stream)
    seen = [(value[0], value[1], sorted(value[2]), time) for value, time in main]
    expected, expected_late = oracle_sessions(gap, stream)
    assert sorted(seen) == sorted(expected) and late == expected_late


@EXAMPLES
@given(assigner=st.one_of(aligned, sessions), stream=steps, kind=st.integers(0, 3))
def test_no_state_is_left_when_everything_has_fired(assigner, stream, kind):
    harness = OperatorHarness(window_specs(assigner)[kind], lambda v: v[0], None, ("late",))
    for number, step in enumerate(stream):
        if step[0] == "record":
            harness.process_element((step[1], str(number)), step[2])
        harness.end_epoch()
    harness.end_input()
    harness.end_epoch()
    assert harness.snapshot().keyed == {}


# ---------------------------------------------------------------- interval join


class Pair(ProcessJoinFunction):
    def process_element(self, left, right, ctx):
        assert ctx.get_timestamp() == max(ctx.get_left_timestamp(), ctx.get_right_timestamp())
        yield left, right


joined = st.lists(
    st.one_of(
        st.tuples(st.just("left"), st.sampled_from("ab"), st.integers(0, 30)),
        st.tuples(st.just("right"), st.sampled_from("ab"), st.integers(0, 30)),
        st.tuples(st.just("watermark"), st.integers(0, 6)),
        st.just(("restart",)),
    ),
    max_size=40,
)


@EXAMPLES
@given(bounds=st.tuples(st.integers(-8, 8), st.integers(0, 8)), stream=joined)
def test_interval_join_pairs_what_brute_force_pairs(bounds, stream):
    lower, upper = bounds[0], bounds[0] + bounds[1]
    spec = IntervalJoin(Pair(), lower, upper, "left", "right")
    harness = join_harness(spec)
    seen, expected, lates, expected_lates = [], [], [], []
    kept: list[tuple[str, str, int, int]] = []
    mark = 0
    for number, step in enumerate(stream):
        if step[0] == "watermark":
            mark += step[1]
            harness.process_watermark(mark)
            kept = [k for k in kept if k[2] + (max(upper, 0) if k[0] == "left" else max(-lower, 0)) > mark]
        elif step[0] == "restart":
            harness.end_epoch()
            seen += harness.output
            lates += harness.side_output("left") + harness.side_output("right")
            watermark = harness.operator.watermark
            harness = join_harness(spec, harness.snapshot())
            harness.operator.watermark = watermark
        else:
            side, key, time = step
            feed = harness.process_element if side == "left" else harness.process_element2
            feed((key, number), time)
            if time < harness.operator.watermark:
                expected_lates.append(((key, number), time))
                continue
            for other_side, other_key, other_time, other in kept:
                distance = other_time - time if side == "left" else time - other_time
                if other_side != side and other_key == key and lower <= distance <= upper:
                    pair = ((key, number), (key, other))
                    expected.append((pair if side == "left" else pair[::-1], max(time, other_time)))
            kept.append((side, key, time, number))
    seen += [r for r in harness.output if r[0] != "watermark"]
    lates += harness.side_output("left") + harness.side_output("right")
    assert sorted(r for r in seen if r[0] != "watermark") == sorted(expected)
    assert sorted(lates) == sorted(expected_lates)
    harness.process_watermark(1000)
    harness.end_epoch()
    assert harness.snapshot().keyed == {} and not harness.operator._expiring


def join_harness(spec: IntervalJoin, state: Any = None) -> OperatorHarness:
    return OperatorHarness(spec, lambda v: v[0], lambda v: v[0], ("left", "right"), inputs=2, state=state)


@pytest.mark.parametrize("size,slide", [(5, 10), (10, 4), (6, 4)])
def test_sliding_windows_with_gaps_or_odd_slides(size, slide):
    stream = [("record", "a", t) for t in range(-20, 30)]
    spec = window_specs(SlidingEventTimeWindows(size, slide, 0))[0]
    assert play(spec, stream) == Oracle().run(spec.assigner, stream)
