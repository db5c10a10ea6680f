"""Combining records before the exchange and before windows changes nothing: against the general operator, on random streams."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headrace.common.errors import InvalidProgramError, UserCodeError
from headrace.common.typeinfo import Types
from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.datastream.functions import AggregateFunction, ProcessWindowFunction
from headrace.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    EventTimeTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from headrace.graph.specs import LocalWindowAggregate, WindowOperation
from headrace.operators.factory import window_operator
from headrace.operators.windows import local
from headrace.operators.windows.operator import WindowOperator
from headrace.operators.windows.pre_aggregation import can_combine, can_pre_aggregate
from headrace.testing import OperatorHarness
from headrace.worker.exchange.channels import Valve, merged
from headrace.worker.exchange.frames import IDLE, RECORDS, WATERMARK

EXAMPLES = settings(max_examples=300, deadline=None)


class General(WindowOperation):
    """Always runs on the general operator."""

    def create_operator(self):
        return WindowOperator(self)


def general(spec: WindowOperation) -> General:
    return General(**{f.name: getattr(spec, f.name) for f in fields(spec)})


class Large(WindowOperation):
    """Runs on the operator for state that may be larger than memory."""

    def create_operator(self):
        return window_operator(WindowOperation(**values_of(self)), large_state=True)


def large(spec: WindowOperation) -> Large:
    return Large(**values_of(spec))


def values_of(spec: WindowOperation) -> dict[str, Any]:
    return {f.name: getattr(spec, f.name) for f in fields(spec)}


class Texts(AggregateFunction):
    """Associative, but the order counts; the accumulator is immutable."""

    def create_accumulator(self):
        return ""

    def add(self, value, accumulator):
        return accumulator + value[1]

    def get_result(self, accumulator):
        return accumulator

    def merge(self, acc_a, acc_b):
        return acc_a + acc_b


class Lists(Texts):
    """The same with a mutable accumulator, of which merge may take either."""

    def create_accumulator(self):
        return []

    def add(self, value, accumulator):
        accumulator.append(value[1])
        return accumulator

    def get_result(self, accumulator):
        return "".join(accumulator)

    def merge(self, acc_a, acc_b):
        acc_b[:0] = acc_a
        acc_a.clear()
        return acc_b


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, context.window(), list(elements), context.current_watermark()


def join(a, b):
    return a[0], a[1] + b[1]


def join_in_place(a, b):
    a[1] += b[1]
    return a


def specs(assigner: Any) -> list[WindowOperation]:
    trigger = EventTimeTrigger()
    return [
        WindowOperation(assigner, trigger, "reduce", join),
        WindowOperation(assigner, trigger, "reduce", join_in_place, Show(), "process"),
        WindowOperation(assigner, trigger, "aggregate", Texts(), Show(), "process"),
        WindowOperation(assigner, trigger, "aggregate", Lists()),
    ]


# ---------------------------------------------------------------- streams

tumbling = st.integers(1, 9).flatmap(lambda n: st.integers(1 - n, n - 1).map(lambda o: TumblingEventTimeWindows(n, o)))
sliding = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(
    lambda s: st.integers(1 - min(s), min(s) - 1).map(lambda o: SlidingEventTimeWindows(max(s), min(s), o))
)
assigners = st.one_of(tumbling, sliding)
batches = st.tuples(
    st.just("records"),
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(-15, 40)), min_size=1, max_size=12),
)
moves = st.tuples(st.just("watermark"), st.integers(0, 9))
steps = st.lists(st.one_of(batches, batches, moves, st.just(("epoch",))), max_size=15)


@dataclass
class Fed:
    """What goes over one channel: epochs of items, as a task merges them."""

    epochs: list[list[tuple[Any, ...]]]

    def process_batch(self, values, timestamps, keys):
        self.epochs[-1].append((RECORDS, values, timestamps, keys))

    def process_watermark(self, timestamp):
        self.epochs[-1].append((WATERMARK, timestamp))

    def process_idle(self, idle):
        self.epochs[-1].append((IDLE, idle))


def channel(stream: list[Any], spec: WindowOperation | None, mark: str) -> list[list[tuple[Any, ...]]]:
    """A stream as the exchange gets it: combined if `spec` is given. The numbers of records become unique texts."""
    fed = Fed([[]])
    operator = None
    if spec is not None:
        harness = OperatorHarness(LocalWindowAggregate(spec, lambda v: v[0]))
        operator = harness.operator
        operator.output.main = [fed]
    watermark, number = -10, 0
    for step in [*stream, ("end",)]:
        if step[0] == "records":
            values = []
            for key, _ in step[1]:
                values.append([key, f"{mark}{number} "])
                number += 1
            stamps = [time for _, time in step[1]]
            if operator is not None:
                operator.process_batch(values, stamps, None)
            else:
                fed.process_batch(values, stamps, [v[0] for v in values])
        elif step[0] == "epoch":
            if operator is not None:
                operator.end_epoch()
            fed.epochs.append([])
        elif step[0] in ("idle", "active"):
            (operator or fed).process_idle(step[0] == "idle")
        else:
            watermark = MAX_WATERMARK if step[0] == "end" else watermark + step[1]
            (operator or fed).process_watermark(watermark)
    return fed.epochs


def window(spec: WindowOperation, channels: list[list[list[tuple[Any, ...]]]]) -> tuple[list[Any], int]:
    """Results in their order, and how many records were dropped; what a task does with its channels."""
    harness = OperatorHarness(spec, lambda v: v[0])
    operator = harness.operator
    valve = Valve({(0, number): 0 for number in range(len(channels))})
    for epoch in range(max(map(len, channels))):
        inputs = {(0, n): iter(c[epoch] if epoch < len(c) else []) for n, c in enumerate(channels)}
        for one, item in merged(valve, inputs):
            if item[0] == RECORDS:
                operator.process_batch(*item[1:])
                continue
            risen = valve.watermark(one, item[1]) if item[0] == WATERMARK else valve.set_idle(one, item[1])
            if risen is not None:
                operator.process_watermark(risen)
        operator.end_epoch()
    return [r for r in harness.output if r[0] != "watermark"], operator.late_dropped


@pytest.fixture(params=["long", "short"], autouse=True)
def trial(request, monkeypatch):
    """Also with decisions after a few records, so that both ways of sending alternate."""
    if request.param == "short":
        monkeypatch.setattr(local, "_TRIAL", 5)
        monkeypatch.setattr(local, "_PAUSE", 7)
        monkeypatch.setattr(local, "_MOST_RUNS", 9)


# ---------------------------------------------------------------- the same results


@EXAMPLES
@given(assigner=assigners, stream=steps, kind=st.integers(0, 3))
def test_with_one_channel_results_order_and_late_records_are_the_same(assigner, stream, kind):
    spec = specs(assigner)[kind]
    assert can_pre_aggregate(spec)
    combined = window(replace(spec, takes_runs=True), [channel(stream, spec, "")])
    assert combined == window(general(spec), [channel(stream, None, "")])
    assert combined == window(large(replace(spec, takes_runs=True)), [channel(stream, spec, "")])


@EXAMPLES
@given(assigner=assigners, stream=steps, kind=st.integers(0, 3))
def test_runs_inside_the_operator_change_nothing(assigner, stream, kind):
    spec = specs(assigner)[kind]
    assert window(spec, [channel(stream, None, "")]) == window(general(spec), [channel(stream, None, "")])


with_idleness = st.lists(st.one_of(batches, batches, moves, st.sampled_from([("epoch",), ("idle",)])), max_size=12).map(
    lambda stream: [s for step in stream for s in ([step, ("active",)] if step == ("idle",) else [step])]
)


def ordered(results: tuple[list[Any], int]) -> tuple[list[Any], int]:
    """Two channels may meet in either order: sorted keys, and in each text the sorted numbers of each channel."""

    def words(value: Any) -> Any:
        if isinstance(value, str) and " " in value:
            return sorted(value.split())
        return [words(v) for v in value] if isinstance(value, list | tuple) else value

    return sorted(([words(value), time] for value, time in results[0]), key=repr), results[1]


@EXAMPLES
@given(assigner=assigners, left=with_idleness, right=with_idleness, kind=st.integers(0, 3))
def test_with_two_channels_and_idleness(assigner, left, right, kind):
    spec = specs(assigner)[kind]
    combined = window(replace(spec, takes_runs=True), [channel(left, spec, "l"), channel(right, spec, "r")])
    plain = window(general(spec), [channel(left, None, "l"), channel(right, None, "r")])
    assert ordered(combined) == ordered(plain)
    on_disk = window(large(replace(spec, takes_runs=True)), [channel(left, spec, "l"), channel(right, spec, "r")])
    assert on_disk == combined


# ---------------------------------------------------------------- what is sent


def sent(records: list[tuple[str, int]], spec: WindowOperation) -> list[tuple[Any, ...]]:
    return [item for item in channel([("records", records)], spec, "")[0] if item[0] == RECORDS]


def test_a_hot_key_is_sent_once_per_pane():
    spec = specs(TumblingEventTimeWindows(1000, 0))[2]
    (item,) = sent([("a", t) for t in range(2000)] + [("b", 1500)], spec)
    assert item[3] == ["a", "a", "b"] and [run[:2] for run in item[1]] == [[0, 1000], [1000, 1000], [1000, 1]]


def test_records_of_many_keys_are_sent_as_they_are(trial):
    records = [(f"k{n}", n) for n in range(10_000)]
    spec = specs(TumblingEventTimeWindows(100_000, 0))[0]
    items = sent(records[:5000], spec)
    assert len(items) == 1 and items[0][2] is None
    harness = OperatorHarness(LocalWindowAggregate(spec, lambda v: v[0]))
    seen: list[Any] = []
    harness.operator.output.main = [Fed([seen])]
    for start in range(0, 10_000, 1000):
        harness.operator.process_batch(
            [(k, "") for k, _ in records[start : start + 1000]], [t for _, t in records[start : start + 1000]], None
        )
    assert seen[-1][2] is not None


def test_elements_that_a_reduce_function_changes_are_copied():
    element = ["a", "x"]
    harness = OperatorHarness(LocalWindowAggregate(specs(TumblingEventTimeWindows(10, 0))[1], lambda v: v[0]))
    harness.operator.process_batch([element, ["a", "y"]], [1, 2], None)
    assert element == ["a", "x"]


def test_elements_are_brought_to_their_type_first():
    spec = WindowOperation(TumblingEventTimeWindows(10, 0), EventTimeTrigger(), "reduce", lambda a, b: a)
    harness = OperatorHarness(LocalWindowAggregate(spec, lambda v: v.name, Types.ROW_NAMED(["name"], [Types.STRING()])))
    seen: list[Any] = []
    harness.operator.output.main = [Fed([seen])]
    harness.operator.process_batch([("ann",)], [1], None)
    harness.end_input()
    assert seen[0][3] == ["ann"] and seen[0][1][0][2].name == "ann"


def test_errors_name_the_record():
    local_spec = LocalWindowAggregate(specs(TumblingEventTimeWindows(10, 0))[0], lambda v: v[0])
    with pytest.raises(InvalidProgramError, match="assign_timestamps_and_watermarks"):
        OperatorHarness(local_spec).process_element(["a", "x"])
    with pytest.raises(UserCodeError, match="'b', 7"):
        OperatorHarness(local_spec).operator.process_batch([["b", "x"], ["b", 7]], [1, 2], None)
    with pytest.raises(UserCodeError, match="5"):
        OperatorHarness(local_spec).process_element(5, 1)


# ---------------------------------------------------------------- where it is done


class Unwritten(Texts):
    def merge(self, acc_a, acc_b):
        raise NotImplementedError("no sessions here")


class Passes(Texts):
    def merge(self, acc_a, acc_b):
        pass


class Nested(Texts):
    def merge(self, acc_a, acc_b):
        return "".join(part for part in (lambda: (acc_a, acc_b))())


class Rich(Texts):
    def open(self, runtime_context):
        pass


class StartsWithNone(Texts):
    def create_accumulator(self):
        return None

    def add(self, value, accumulator):
        return value[1] if accumulator is None else accumulator + value[1]


@pytest.mark.parametrize(
    ("combiner", "yes"),
    [
        (Texts(), True),
        (Unwritten(), False),
        (Passes(), False),
        (Nested(), True),
        (Rich(), False),
        (StartsWithNone(), True),
    ],
)
def test_a_placeholder_for_merge_is_recognized(combiner, yes):
    assert can_combine("aggregate", combiner) is yes


def test_accumulators_that_start_as_none_are_combined():
    spec = replace(specs(TumblingEventTimeWindows(1000, 0))[2], combiner=StartsWithNone())
    (item,) = sent([("a", t) for t in range(5)], spec)
    assert item[1] == [[0, 5, "0 1 2 3 4 "]]


class KeepsFirst(Texts):
    def merge(self, acc_a, acc_b):
        return acc_a


class KeepsLast(Texts):
    def merge(self, acc_a, acc_b):
        return acc_b


class Reversed(Texts):
    def merge(self, acc_a, acc_b):
        return acc_b + acc_a


class Raises(Texts):
    def merge(self, acc_a, acc_b):
        if acc_a or acc_b:
            raise RuntimeError("no sessions here")
        return ""


class ForgetsLate(Lists):
    def merge(self, acc_a, acc_b):
        acc_a.extend(acc_b[1:])
        return acc_a


WRONG = [KeepsFirst(), KeepsLast(), Reversed(), Raises(), ForgetsLate()]


@EXAMPLES
@given(assigner=assigners, stream=steps, wrong=st.integers(0, len(WRONG) - 1))
def test_a_wrong_merge_changes_nothing(assigner, stream, wrong):
    """Flink never calls it in these windows, so such programs work there."""
    spec = replace(specs(assigner)[3], combiner=WRONG[wrong])
    plain = window(general(spec), [channel(stream, None, "")])
    assert can_pre_aggregate(spec)
    assert window(replace(spec, takes_runs=True), [channel(stream, spec, "")]) == plain
    assert window(large(replace(spec, takes_runs=True)), [channel(stream, spec, "")]) == plain
    assert window(spec, [channel(stream, None, "")]) == plain


@pytest.mark.parametrize("assigner", [TumblingEventTimeWindows(10, 0), SlidingEventTimeWindows(10, 5, 0)])
@pytest.mark.parametrize("on_disk", [False, True])
def test_open_windows_move_between_both_ways(assigner, on_disk):
    """A job may be restored with a function whose merge got right, or wrong: contents are the same either way."""
    right = specs(assigner)[2]
    ways = {"combined": right, "one by one": replace(right, combiner=Reversed())}

    def play(*names: str) -> list[Any]:
        results: list[Any] = []
        state = None
        for number, name in enumerate(names):
            spec = replace(ways[name], takes_runs=True)
            harness = OperatorHarness(large(spec) if on_disk else spec, lambda v: v[0], state=state)
            records = [(key, 7 * number + place) for key in ("b", "a", f"c{number}") for place in range(3)]
            (fed,) = channel([("records", records)], ways[name], str(number))
            for item in fed:
                if item[0] == RECORDS:
                    assert (item[2] is None) == (name == "combined")
                    harness.operator.process_batch(*item[1:])
            harness.operator.process_watermark(7 * number)
            results += [r for r in harness.output if r[0] != "watermark"]
            state = harness.snapshot()
        harness.end_input()
        return results + [r for r in harness.output if r[0] != "watermark"]

    expected = play("one by one", "one by one", "one by one")
    assert len(expected) > 3
    for names in (("combined", "one by one", "combined"), ("one by one", "combined", "combined")):
        assert play(*names) == expected


def test_where_results_could_change_nothing_is_combined():
    good = specs(TumblingEventTimeWindows(10, 0))[0]
    assert can_pre_aggregate(good)

    class Own(TumblingEventTimeWindows):
        pass

    for changed in (
        {"allowed_lateness": 1},
        {"late_tag": "late"},
        {"trigger": CountTrigger.of(1)},
        {"kind": "list", "combiner": None},
        {"assigner": EventTimeSessionWindows(5)},
        {"assigner": SlidingEventTimeWindows(5, 6, 0)},
        {"assigner": Own(10, 0)},
    ):
        assert not can_pre_aggregate(replace(good, **changed)), changed


# ---------------------------------------------------------------- from one backend to the other


@pytest.mark.parametrize("assigner", [TumblingEventTimeWindows(10, 0), SlidingEventTimeWindows(10, 5, 0)])
@pytest.mark.parametrize("kind", range(4))
def test_open_windows_move_between_memory_and_disk(assigner, kind):
    in_memory = replace(specs(assigner)[kind], takes_runs=True)
    forms = {"memory": in_memory, "disk": large(in_memory)}

    def play(*names: str) -> list[Any]:
        results: list[Any] = []
        state = None
        for number, name in enumerate(names):
            harness = OperatorHarness(forms[name], lambda v: v[0], state=state)
            for key in ("b", "a", f"c{number}"):  # the order of keys in a window must survive
                harness.process_element([key, str(number)], 7 * number)
            results += [r for r in harness.output if r[0] != "watermark"]
            state = harness.snapshot()
        harness.end_input()
        return results + [r for r in harness.output if r[0] != "watermark"]

    expected = play("memory", "memory", "memory")
    assert len(expected) > 3
    for names in (("memory", "disk", "memory"), ("disk", "memory", "disk"), ("memory", "disk", "disk")):
        assert play(*names) == expected
