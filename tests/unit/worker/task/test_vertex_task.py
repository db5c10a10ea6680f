"""A vertex's subtask: the order of its inputs, the end of input, closing, inherited ends, snapshots, timers, its report."""

from __future__ import annotations

from typing import Any

import pytest

from headrace.common.typeinfo import Types
from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.datastream import CoMapFunction, KeyedProcessFunction, MapFunction
from headrace.errors import CloseTimeoutError, UserCodeError
from headrace.graph.table_specs import TableKey
from headrace.operators.table.batches import TableColumns
from headrace.types.codecs import codec_for
from headrace.types.logical_types import BigIntType, RowField, RowType, VarCharType
from headrace.worker.exchange.frames import END, IDLE, RECORDS, WATERMARK
from headrace.worker.exchange.writers import LocalWriter
from headrace.worker.task.vertex_task import VertexTask

LEFT, RIGHT = (0, 0), (0, 1)


class Recorder:
    """The consumer behind the last operator."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def process_batch(self, values, timestamps, keys) -> None:
        self.seen += values

    def process_watermark(self, timestamp) -> None:
        self.seen.append(("watermark", timestamp))

    def process_idle(self, idle) -> None:
        self.seen.append(("idle", idle))


class Logged(MapFunction):
    """Notes its calls in `log`, which all instances share."""

    log: list[str] = []

    def __init__(self, name: str, failure: type[Exception] | None = None) -> None:
        self.name, self.failure = name, failure

    def open(self, runtime_context) -> None:
        self.log.append(f"open {self.name}")

    def map(self, value):
        return value

    def close(self) -> None:
        self.log.append(f"close {self.name}")
        if self.failure is not None:
            raise self.failure(self.name)


@pytest.fixture
def log():
    Logged.log.clear()
    return Logged.log


@pytest.fixture
def build(env, make_context):
    """Builds the vertex whose chain `make` adds after a source, without opening it."""

    def build_vertex(make, *, channels=None, closer=lambda call: call()) -> VertexTask:
        stream = env.from_collection([1], type_info=Types.INT()).rebalance()
        make(stream).print()
        vertex = list(env.get_job_graph("job").vertices.values())[-1]
        contexts = {node.operator_id: make_context(node.operator_id) for node in vertex.nodes}
        return VertexTask(vertex, 0, channels or {LEFT: 0, RIGHT: 0}, lambda i, name, uid: contexts[i], closer)

    return build_vertex


def recorded(task: VertexTask) -> list[Any]:
    recorder = Recorder()
    task.attach(task.vertex.nodes[-2].id, None, recorder)  # before print
    return recorder.seen


def rebuilt(task: VertexTask) -> VertexTask:
    """What another process builds, with the state that `task` has left."""
    contexts = {o.context.operator_id: o.context for o in task.operators.values()}
    return VertexTask(task.vertex, 0, {LEFT: 0, RIGHT: 0}, lambda i, name, uid: contexts[i])


def records(*values: int) -> tuple[Any, ...]:
    return RECORDS, list(values), None, None


def run(task: VertexTask, left=(), right=()) -> None:
    task.run({LEFT: iter(left), RIGHT: iter(right)})


def test_the_channel_that_is_behind_is_read_first(build):
    task = build(lambda s: s.map(lambda v: v * 10))
    seen = recorded(task)
    task.open()
    run(
        task,
        [records(1), (WATERMARK, 5), records(2), (WATERMARK, 9)],
        [records(3), (WATERMARK, 7), records(4)],
    )
    assert seen == [10, 30, ("watermark", 5), 20, ("watermark", 7), 40]
    report = task.report(frames_in=2, bytes_in=30)
    assert (report.records_in, report.watermark, report.ended, report.idle) == (4, 7, False, False)
    assert (report.measures.frames_in, report.measures.bytes_in) == (2, 30)
    assert [o.records_in for o in report.measures.operators] == [4, 4]


def test_the_second_input_reaches_the_second_method(build):
    class Both(CoMapFunction):
        def map1(self, value):
            return "first", value

        def map2(self, value):
            return "second", value

    task = build(lambda s: s.connect(s.map(lambda v: v).rebalance()).map(Both()), channels={LEFT: 0, RIGHT: 1})
    seen = recorded(task)
    task.open()
    run(task, [records(1)], [records(2)])
    assert seen == [("first", 1), ("second", 2)]


def test_idleness_is_passed_on_when_the_last_channel_is_idle(build):
    task = build(lambda s: s.map(lambda v: v))
    seen = recorded(task)
    task.open()
    run(task, [(WATERMARK, 5), (IDLE, True)])
    assert not task.report().idle
    run(task, right=[(IDLE, True)])
    assert seen == [("watermark", 5), ("idle", True)] and task.report().idle
    run(task, [(WATERMARK, 8)])
    assert seen[2:] == [("idle", False), ("watermark", 8)]


def test_the_end_of_all_channels_ends_event_time_and_closes_each_function_once(build, log):
    task = build(lambda s: s.map(Logged("a")).map(Logged("b")))
    seen = recorded(task)
    task.open()
    run(task, [records(1), (END,)])
    assert not task.ended
    run(task, right=[(END,)])
    assert seen == [1, ("watermark", MAX_WATERMARK)]
    assert task.ended and task.report().ended and task.closed
    run(task, [records(2)])  # nothing is processed after the end
    task.close()
    assert seen[2:] == [] and log == ["open b", "open a", "close a", "close b"]


def test_every_function_is_closed_whatever_one_of_them_raises(build, log):
    task = build(lambda s: s.map(Logged("a", ValueError)).map(Logged("b")))
    task.open()
    with pytest.raises(UserCodeError, match="ValueError: a"):
        task.close()
    assert log[-2:] == ["close a", "close b"]


def test_a_close_that_hangs_at_the_end_is_reported_and_does_not_fail_the_epoch(build, log):
    def closer(call):
        call()
        raise CloseTimeoutError("too long")

    task = build(lambda s: s.map(Logged("a")), closer=closer)
    task.open()
    run(task, [(END,)], [(END,)])
    first, second = task.report(), task.report()
    assert first.ended and "too long" in str(first.not_closed)
    assert second.not_closed is None


def test_a_function_that_fails_at_the_end_fails_the_epoch(build, log):
    task = build(lambda s: s.map(Logged("a", ValueError)))
    task.open()
    with pytest.raises(UserCodeError):
        run(task, [(END,)], [(END,)])


@pytest.mark.parametrize("inherited", [True, False])
def test_a_subtask_that_had_ended_tells_only_new_successors_again(build, inherited):
    first = build(lambda s: s.map(lambda v: v))
    first.open()
    run(first, [(WATERMARK, 5), (END,)], [(END,)])
    second = rebuilt(first)
    writer = LocalWriter(second.head, codec_for(None))
    second.add_writer(second.vertex.head.id, None, writer)
    second.open(inherited=inherited)
    run(second)
    assert writer.items == ([(WATERMARK, MAX_WATERMARK), (END,)] if inherited else [])
    assert second.ended and second.report().ended
    writer.items.clear()
    run(second)
    assert writer.items == []


def test_a_successor_goes_on_from_the_valve_of_its_predecessor(build):
    first = build(lambda s: s.map(lambda v: v))
    first.open()
    run(first, [(WATERMARK, 5)], [(WATERMARK, 7)])
    second = rebuilt(first)
    seen = recorded(second)
    second.open()
    assert second.report().watermark == 5
    run(second, [(WATERMARK, 6)], [(WATERMARK, 7)])
    assert seen == [("watermark", 6)]


def test_only_state_in_attributes_is_saved_in_epochs_without_a_checkpoint(build):
    saved: list[str] = []

    class Plain(MapFunction):
        def map(self, value):
            return value

    class Listed(Plain):
        def snapshot_state(self, checkpoint_id, timestamp):
            saved.append(f"{checkpoint_id} at {timestamp}")
            return [1]

        def restore_state(self, state):
            raise AssertionError("nothing to restore")

    task = build(lambda s: s.map(Listed()).map(Plain()))
    listed, plain, _ = task.operators.values()
    task.open()
    asked: list[Any] = []
    plain.snapshot = lambda *arguments: asked.append(arguments)  # type: ignore[method-assign]
    task.snapshot(3, 40, of_all=False)
    assert saved == ["3 at 40"] and asked == []
    assert listed.context.operator_state.collect_changed() is not None
    task.snapshot(4, 50, of_all=True)
    assert saved[1:] == ["4 at 50"] and asked == [(4, 50)]
    task.close()
    task.snapshot(5, 60, of_all=True)
    assert len(saved) == 2


def test_a_due_timer_fires_between_runs_and_the_next_one_is_reported(build):
    class Timed(KeyedProcessFunction):
        def process_element(self, value, ctx):
            ctx.timer_service().register_processing_time_timer(value)
            yield value

        def on_timer(self, timestamp, ctx):
            yield f"timer {timestamp}"

    task = build(lambda s: s.key_by(lambda v: v).process(Timed()), channels={LEFT: 0})
    task.head.context.keyed = True
    seen = recorded(task)
    task.open()
    task.head.context.clock.set(50)
    task.run({LEFT: iter([(RECORDS, [10, 80], None, [10, 80])])})
    assert seen == [10, 80, "timer 10"] and task.report().next_timer == 80


def test_columns_become_rows_with_keys_for_an_operator_of_rows(build):
    class Keys(KeyedProcessFunction):
        def process_element(self, value, ctx):
            yield ctx.get_current_key(), value

    task = build(lambda s: s.key_by(lambda v: v).process(Keys()))
    seen = recorded(task)
    task.open()
    codec = TableColumns(RowType((RowField("k", VarCharType()), RowField("n", BigIntType()))))
    run(task, [(RECORDS, codec.run([("a", 1), ("b", 2)]), None, TableKey((0,)))])
    assert seen == [("a", ("a", 1)), ("b", ("b", 2))]
    assert task.report().records_in == 2
