"""The CEP operators: life of functions and conditions, state, side outputs, late events, failures."""

from __future__ import annotations

import pytest

from headrace.cep import (
    CEP,
    IterativeCondition,
    Pattern,
    PatternFlatSelectFunction,
    PatternFlatTimeoutFunction,
    PatternProcessFunction,
    PatternSelectFunction,
    PatternTimeoutFunction,
    TimedOutPartialMatchHandler,
)
from headrace.common import Configuration, Duration, Types, WatermarkStrategy
from headrace.common.errors import UserCodeError
from headrace.common.output_tag import OutputTag
from headrace.datastream import StreamExecutionEnvironment
from headrace.graph.specs import Cep
from headrace.testing import OperatorHarness, Record, WatermarkTo, event_source

UNPAID = OutputTag("unpaid")
LATE = OutputTag("late")


def paid_in_time() -> Pattern:
    order = Pattern.begin("order").where(lambda event: event[1] == "order")
    return order.followed_by("paid").where(lambda event: event[1] == "paid").within(Duration.of_millis(10))


def key(event):
    return event[0]


class Paid(PatternProcessFunction, TimedOutPartialMatchHandler):
    def process_match(self, match, ctx):
        yield "paid", match["order"][0][0], ctx.timestamp()

    def process_timed_out_match(self, match, ctx):
        yield UNPAID, (match["order"][0][0], ctx.timestamp())


EVENTS = [
    Record(("x", "order"), 1),
    Record(("y", "order"), 2),
    Record(("x", "paid"), 5),
    WatermarkTo(8),
    Record(("z", "order"), 3),
    Record(("y", "paid"), 20),
]


def environment() -> StreamExecutionEnvironment:
    configuration = Configuration().set_string("headrace.executor", "local").set_string("headrace.progress", "never")
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(2)


def results(apply, events=EVENTS, keyed=True, tag=UNPAID):
    env = environment()
    stream = env.from_source(event_source(events), WatermarkStrategy.no_watermarks(), "events")
    found = apply(CEP.pattern(stream.key_by(key) if keyed else stream, paid_in_time()))
    side = found.get_side_output(tag).map(lambda value: ("side", value))
    return sorted(found.union(side).execute_and_collect(), key=repr)


def test_process_with_timeouts():
    assert results(lambda p: p.process(Paid())) == [("paid", "x", 5), ("side", ("y", 12))]


def test_select_with_timeouts():
    class Select(PatternSelectFunction):
        def select(self, match):
            return match["order"][0][0]

    class Timeout(PatternTimeoutFunction):
        def timeout(self, match, timeout_timestamp):
            return match["order"][0][0], timeout_timestamp

    plain = results(lambda p: p.select(lambda m: m["order"][0][0], UNPAID, lambda m, t: (m["order"][0][0], t)))
    assert plain == results(lambda p: p.select(Select(), UNPAID, Timeout())) == ["x", ("side", ("y", 12))]


@pytest.mark.parametrize("type_info", [(), (Types.PICKLED_BYTE_ARRAY(),)])
def test_the_order_of_arguments_of_the_java_api(type_info):
    def first(match):
        return match["order"][0][0]

    def timeout(match, timestamp):
        return match["order"][0][0], timestamp

    found = results(lambda p: p.select(UNPAID, timeout, *type_info, first))
    assert found == ["x", ("side", ("y", 12))]
    found = results(lambda p: p.flat_select(UNPAID, timeout, *type_info, lambda match: [first(match)]))
    assert found == ["x", ("side", "y"), ("side", 12)]
    assert results(lambda p: p.select(first, *type_info)) == ["x"]


def test_flat_select_with_timeouts():
    class Select(PatternFlatSelectFunction):
        def flat_select(self, match):
            yield match["order"][0][0]
            yield match["paid"][0][0]

    class Timeout(PatternFlatTimeoutFunction):
        def timeout(self, match, timeout_timestamp):
            yield match["order"][0][0]
            yield timeout_timestamp

    found = results(lambda p: p.flat_select(Select(), timeout_tag=UNPAID, timeout_fn=Timeout()))
    assert found == ["x", "x", ("side", "y"), ("side", 12)]


def test_late_events_go_to_their_side_output():
    found = results(lambda p: p.side_output_late_data(LATE).process(Paid()), tag=LATE)
    assert found == [("paid", "x", 5), ("side", ("z", "order"))]


def test_without_keys_all_events_belong_together():
    found = results(lambda p: p.process(Paid()), keyed=False)
    # Relaxed: both orders are followed by the same payment.
    assert found == [("paid", "x", 5), ("paid", "y", 5)]


def test_a_stream_without_keys_runs_in_one_subtask():
    stream = environment().from_collection([1])
    found = CEP.pattern(stream, Pattern.begin("a")).select(lambda match: match)
    assert (found.get_name(), found.transformation.parallelism) == ("GlobalCepOperator", 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.process(lambda match, ctx: None),
        lambda p: p.select(3),
        lambda p: p.flat_select(None),
        lambda p: p.select(len, "tag", len),
        lambda p: p.side_output_late_data("late"),
        lambda p: p.process(Paid),
    ],
)
def test_wrong_functions(call):
    with pytest.raises(TypeError):
        call(CEP.pattern(environment().from_collection([1]), Pattern.begin("a")))


def test_a_timeout_function_needs_its_tag():
    stream = CEP.pattern(environment().from_collection([1]), Pattern.begin("a"))
    with pytest.raises(ValueError, match="both"):
        stream.select(len, timeout_fn=len)
    with pytest.raises(ValueError, match="both"):
        stream.flat_select(len, timeout_tag=UNPAID)


# ---------------------------------------------------------------- on the harness


def test_late_events_are_counted():
    harness = OperatorHarness(Cep(paid_in_time().data(), Paid()), key)
    harness.process_watermark(5)
    harness.process_element(("x", "order"), 5)
    harness.process_element(("x", "order"), None)
    harness.process_element(("x", "order"), 6)
    assert harness.operator.late_dropped == 2


def test_state_is_gone_when_nothing_is_left():
    harness = OperatorHarness(Cep(paid_in_time().data(), Paid()), key)
    harness.process_element(("x", "order"), 1)
    harness.end_epoch()
    assert list(harness.snapshot().keyed["cep/queue"]) != []
    harness.process_watermark(1)
    harness.end_epoch()
    kept = harness.snapshot().keyed
    assert "cep/branches" in kept and "cep/queue" not in kept
    harness.process_element(("x", "paid"), 2)
    harness.process_watermark(2)
    harness.end_epoch()
    assert "cep/branches" not in harness.snapshot().keyed


def test_only_what_changed_is_written():
    harness = OperatorHarness(Cep(paid_in_time().data(), Paid()), key)
    backend = harness.operator.context.keyed_state
    harness.process_element(("x", "order"), 1)
    harness.process_element(("y", "order"), 1)
    harness.process_watermark(1)
    harness.end_epoch()
    backend.collect_delta()
    harness.process_element(("x", "other"), 2)
    harness.process_element(("y", "paid"), 2)
    harness.process_watermark(2)
    harness.end_epoch()
    changed = backend.collect_delta()["cep/branches"]
    assert [entry[0] for entries in changed.values() for entry in entries] == ["y"]


def test_conditions_and_functions_are_opened_and_closed_once():
    calls = []

    class Known(IterativeCondition):
        def open(self, runtime_context):
            calls.append(("open", runtime_context.get_index_of_this_subtask()))

        def filter(self, value, ctx):
            return ctx.timestamp() == 7 and ctx.current_processing_time() == 50

        def close(self):
            calls.append(("close", 0))

    class Matches(PatternProcessFunction):
        def open(self, runtime_context):
            calls.append("open function")

        def process_match(self, match, ctx):
            return [ctx.current_processing_time()]

    known = Known()
    pattern = Pattern.begin("a").where(known).followed_by("b").where(known).optional()
    harness = OperatorHarness(Cep(pattern.data(), Matches()), key, clock=50)
    harness.process_element(("x", 1), 7)
    harness.process_watermark(7)
    harness.close()
    assert harness.output[0] == (50, 7)
    assert calls == [("open", 0), "open function", ("close", 0)]


@pytest.mark.parametrize("event_time", [True, False])
def test_a_failing_condition_names_the_event(event_time):
    pattern = Pattern.begin("a").where(lambda event: event[2] > 1)
    harness = OperatorHarness(Cep(pattern.data(), Paid(), event_time), key)
    with pytest.raises(UserCodeError, match="IndexError") as caught:
        harness.process_element(("x", "short"), 1)
        harness.process_watermark(1)
    assert "short" in caught.value.record


def test_a_failing_function_names_the_event():
    class Failing(PatternProcessFunction):
        def process_match(self, match, ctx):
            raise KeyError("no")

    harness = OperatorHarness(Cep(Pattern.begin("a").data(), Failing()), key)
    harness.process_element(("x", 1), 1)
    with pytest.raises(UserCodeError, match="KeyError"):
        harness.process_watermark(1)


def test_a_comparator_may_be_an_object():
    class Backwards:
        def compare(self, left, right):
            return (left < right) - (left > right)

    pattern = Pattern.begin("a").next("b")
    harness = OperatorHarness(Cep(pattern.data(), Rows(), True, Backwards()), key)
    for value in (1, 3, 2):
        harness.process_element(("x", value), 1)
    harness.process_watermark(1)
    assert [value for value, _ in harness.output[:-1]] == [(3, 2), (2, 1)]


class Rows(PatternProcessFunction):
    def process_match(self, match, ctx):
        yield tuple(event[1] for events in match.values() for event in events)


def test_batch_mode_runs_key_by_key():
    harness = OperatorHarness(Cep(Pattern.begin("a").next("b").data(), Rows()), key, batch=True)
    for event, time in ((("y", 1), 3), (("x", 2), 2), (("y", 3), 1), (("x", 4), 1)):
        harness.process_element(event, time)
    harness.end_input()
    assert [value for value, _ in harness.output[:-1]] == [(4, 2), (3, 1)]
