"""Functions with state of the subtask: when they are called, and what comes back after a restore."""

import threading
import time

import pytest

from headrace.common import Types
from headrace.common.errors import InvalidProgramError, UserCodeError
from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.functions.function_source import FunctionSource
from headrace.datastream.functions import (
    CheckpointedFunction,
    CheckpointListener,
    FlatMapFunction,
    KeyedProcessFunction,
    ListCheckpointed,
    MapFunction,
    SinkFunction,
    SourceFunction,
)
from headrace.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from headrace.graph import specs
from headrace.operators.source import ReadBudget, SplitPosition
from headrace.testing import OperatorHarness


class Numbering(MapFunction, CheckpointedFunction, CheckpointListener):
    def __init__(self):
        self.calls = []

    def initialize_state(self, context):
        self.calls.append(("initialize", context.is_restored(), context.get_restored_checkpoint_id()))
        assert context.get_keyed_state_store() is None
        store = context.get_operator_state_store()
        self.state = store.get_list_state(ListStateDescriptor("count", Types.LONG()))
        self.all = store.get_union_list_state(ListStateDescriptor("all", Types.LONG()))
        self.rules = store.get_broadcast_state(MapStateDescriptor("rules", Types.STRING(), Types.LONG()))
        self.count = sum(self.state.get())

    def open(self, runtime_context):
        self.calls.append("open")

    def map(self, value):
        self.count += 1
        return self.count, value

    def snapshot_state(self, context):
        self.calls.append(("snapshot", context.get_checkpoint_id(), context.get_checkpoint_timestamp()))
        self.state.update([self.count])
        self.all.update([self.count])
        self.rules.put("n", self.count)

    def notify_checkpoint_complete(self, checkpoint_id):
        self.calls.append(("complete", checkpoint_id))

    def notify_checkpoint_aborted(self, checkpoint_id):
        self.calls.append(("aborted", checkpoint_id))


def test_a_checkpointed_function_lives_as_in_flink():
    function = Numbering()
    harness = OperatorHarness(specs.Map(function), clock=5)
    assert harness.operator.has_function_state
    harness.process_element("a")
    harness.process_element("b")
    saved = harness.snapshot()
    harness.operator.notify_checkpoint_complete(1)
    harness.operator.notify_checkpoint_aborted(2)
    assert function.calls == [
        ("initialize", False, None), "open", ("snapshot", 1, 5), ("complete", 1), ("aborted", 2),
    ]  # fmt: skip
    successor = Numbering()
    again = OperatorHarness(specs.Map(successor), state=saved)
    assert successor.calls == [("initialize", True, 1), "open"]
    assert (successor.all.get(), list(successor.rules.items())) == ([2], [("n", 2)])
    again.process_element("c")
    assert again.output == [((3, "c"), None)]


class Buffer(SinkFunction, ListCheckpointed):
    def __init__(self):
        self.waiting, self.restored, self.opened_with = [], None, None

    def open(self, runtime_context):
        self.opened_with = list(self.waiting)

    def invoke(self, value, context):
        self.waiting.append(value)

    def snapshot_state(self, checkpoint_id, timestamp):
        return self.waiting or None

    def restore_state(self, state):
        self.restored = state
        self.waiting = list(state)


def test_a_list_checkpointed_function_gets_its_list_before_open_and_only_after_a_restore():
    first = Buffer()
    harness = OperatorHarness(specs.FunctionSink(first, None))
    assert first.restored is None
    empty = harness.snapshot()
    harness.process_element("a")
    harness.process_element("b")
    saved = harness.snapshot()
    second, third = Buffer(), Buffer()
    OperatorHarness(specs.FunctionSink(second, None), state=saved)
    assert (second.restored, second.opened_with) == (["a", "b"], ["a", "b"])
    OperatorHarness(specs.FunctionSink(third, None), state=empty)
    assert third.restored == []


def test_a_function_cannot_be_both():
    class Both(Buffer, CheckpointedFunction):
        def initialize_state(self, context):
            pass

    with pytest.raises(InvalidProgramError, match="both a CheckpointedFunction and a ListCheckpointed"):
        OperatorHarness(specs.FunctionSink(Both(), None))


def test_a_failing_snapshot_names_the_operator():
    class Broken(FlatMapFunction, ListCheckpointed):
        def flat_map(self, value):
            return [value]

        def snapshot_state(self, checkpoint_id, timestamp):
            raise ValueError("no room")

        def restore_state(self, state):
            pass

    harness = OperatorHarness(specs.FlatMap(Broken()))
    with pytest.raises(UserCodeError, match="no room") as caught:
        harness.snapshot()
    assert caught.value.operator_name == "operator"


def test_keyed_state_in_initialize_state():
    class Count(KeyedProcessFunction, CheckpointedFunction):
        def initialize_state(self, context):
            self.count = context.get_keyed_state_store().get_state(ValueStateDescriptor("n", Types.LONG()))

        def snapshot_state(self, context):
            pass

        def process_element(self, value, ctx):
            self.count.update((self.count.value() or 0) + 1)
            yield value, self.count.value()

    harness = OperatorHarness(specs.Process(Count(), True), key_selector=lambda v: v)
    for value in "aab":
        harness.process_element(value)
    again = OperatorHarness(specs.Process(Count(), True), key_selector=lambda v: v, state=harness.snapshot())
    again.process_element("a")
    assert [v for v, _ in harness.output] == [("a", 1), ("a", 2), ("b", 1)]
    assert again.output == [(("a", 3), None)]


class Counting(SourceFunction, CheckpointedFunction):
    """Emits 0, 1, 2 ... up to a limit, in steps under the lock."""

    def __init__(self, limit):
        self.limit, self.running = limit, True

    def initialize_state(self, context):
        self.state = context.get_operator_state_store().get_list_state(ListStateDescriptor("next", Types.LONG()))
        self.next = sum(self.state.get())

    def snapshot_state(self, context):
        self.state.update([self.next])

    def run(self, ctx):
        while self.running and self.next < self.limit:
            with ctx.get_checkpoint_lock():
                ctx.collect(self.next)
                self.next += 1

    def cancel(self):
        self.running = False


def _source(function, state=None):
    spec = specs.SourceSpec(FunctionSource(function), WatermarkStrategy.no_watermarks())
    harness = OperatorHarness(spec, state=state)
    (split,) = FunctionSource(function).splits(1)
    harness.operator.assign([SplitPosition(split)])
    return harness


def test_a_source_function_goes_on_exactly_where_its_state_was_saved():
    limit, seen, state = 30_000, [], None
    for _ in range(40):
        harness = _source(Counting(limit), state)
        deadline = time.monotonic() + 10
        while not harness.operator.records and not harness.operator.exhausted and time.monotonic() < deadline:
            harness.operator.read(ReadBudget(700))
        state = harness.snapshot()
        seen += [value for value, _ in harness.output]
        ended = harness.operator.exhausted
        harness.close()  # whatever the function does from now on is lost
        if ended:
            break
    assert seen == list(range(limit))


def test_a_source_function_stands_still_while_it_is_saved_and_goes_on_after():
    function = Counting(10_000_000)
    harness = _source(function)
    while not harness.operator.records:
        harness.operator.read(ReadBudget(10))
    stood, emitted = function.next, harness.operator.records
    time.sleep(0.05)
    assert (function.next, harness.operator.records) == (stood, stood) == (emitted, emitted)
    harness.operator.read(ReadBudget(10))
    assert function.next > stood
    harness.close()
    assert not [t for t in threading.enumerate() if t.name == "headrace-source-function" and t.is_alive()]
