"""A task's part of an epoch: inputs in one order, local edges, reports, state files."""

from __future__ import annotations

import random

import pytest

from headrace.common import Duration, WatermarkStrategy
from headrace.common.typeinfo import Types
from headrace.common.watermark_strategy import MAX_WATERMARK
from headrace.datastream import CoMapFunction, KeyedProcessFunction, RuntimeExecutionMode
from headrace.datastream.state import ValueStateDescriptor
from headrace.testing import EndEpoch, Idle, Record, WatermarkTo, event_source
from headrace.worker.exchange import buffers
from headrace.worker.exchange.frames import DATA, header_of


def source(env, *lists, bounded=True, parallelism=1, name="events"):
    stream = env.from_source(event_source(*lists, bounded=bounded), WatermarkStrategy.no_watermarks(), name)
    return stream.set_parallelism(parallelism)


def numbers(start, end):
    return [Record(n, n) for n in range(start, end)]


class Remember(KeyedProcessFunction):
    def open(self, runtime_context):
        self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

    def process_element(self, value, ctx):
        if value >= 0:
            self.last.update(value)
        else:
            ctx.timer_service().register_processing_time_timer(50)
        yield value

    def on_timer(self, timestamp, ctx):
        yield "timer"


class Where(CoMapFunction):
    """Says in which subtask a record was seen."""

    def open(self, runtime_context):
        self.me = runtime_context.get_index_of_this_subtask()

    def map1(self, value):
        return value, self.me

    def map2(self, value):
        return value, self.me


class Echo(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


def test_frames_may_arrive_in_any_order(env, epochs, collect, monkeypatch):
    monkeypatch.setattr(buffers, "FRAME_RECORDS", 50)

    def pieces(start, end, size):
        starts = range(start, end, size)
        return [event for n in starts for event in (*numbers(n, n + size), WatermarkTo(n + size))]

    def build(environment):
        stream = source(environment, pieces(0, 400, 20), pieces(7, 300, 30), parallelism=2)
        collect(stream.rebalance().map(lambda n: n).set_parallelism(1))
        return environment

    in_order = epochs(build(env))
    straight = in_order.collected(in_order.run(1000))
    assert sum(header_of(f).kind == DATA for f in in_order.frames) > 4, "several frames in one channel"
    mixed = epochs(build(type(env).get_execution_environment().set_parallelism(2)), shuffled=random.Random(3))
    assert mixed.collected(mixed.run(1000)) == straight


def test_an_acknowledgement_names_the_attempts_that_were_used(env, epochs, collect):
    collect(source(env, numbers(0, 4), numbers(4, 8), parallelism=2).rebalance().map(str))
    result = epochs(env).run()
    attempts = {ack.task: ack.attempt for ack in result.acks}
    for ack in result.acks:
        expected = {} if ack.task[0] == 0 else {(0, 0): attempts[0, 0], (0, 1): attempts[0, 1]}
        assert ack.seen == expected


def test_forward_edges_inside_a_task_need_no_frames(env, epochs, collect):
    env.disable_operator_chaining()
    collect(source(env, numbers(0, 3)).map(lambda n: n * 2).set_parallelism(1))
    loop = epochs(env)
    assert loop.run_to_end() == [0, 2, 4]
    assert len(loop.spec.vertices) == 3
    assert not [f for f in loop.frames if header_of(f).kind == DATA]


def test_a_forward_edge_that_crosses_a_level_keeps_its_subtask(env, epochs, collect):
    plain = source(env, [Record("p0")], [Record("p1")], parallelism=2)
    other = source(env, [Record("k")], parallelism=1, name="other").rebalance()
    collect(plain.connect(other).map(Where()))
    found = dict(epochs(env).run_to_end())
    assert (found["p0"], found["p1"]) == (0, 1)


def test_what_a_vertex_reports(env, epochs, collect):
    events = [Record(1, 10), Record(2, 20), WatermarkTo(15), EndEpoch(), Record(3, 30), WatermarkTo(25)]
    env.set_parallelism(1)
    filtered = source(env, events).key_by(lambda n: n).map(lambda n: n).filter(lambda n: n != 2)
    collect(filtered.rebalance().map(str))
    loop = epochs(env)
    (read,), (mapped,), _ = (ack.vertices for ack in sorted(loop.run().acks, key=lambda a: a.task))
    assert (read.records_in, read.records_out, read.watermark, read.ended) == (2, 2, 15, False)
    assert (mapped.records_in, mapped.records_out, mapped.watermark, mapped.idle) == (2, 1, 15, False)
    assert read.positions[0].position == 4
    assert mapped.positions == ()
    assert mapped.busy_seconds > 0
    loop.run_to_end()
    assert all(r.ended and r.watermark == MAX_WATERMARK for r in loop.ledger.reports.values())


def test_an_idle_source_makes_what_follows_idle(env, epochs, collect):
    collect(source(env, [Record(1, 1), Idle(), EndEpoch()], bounded=False).rebalance().map(str).set_parallelism(1))
    result = epochs(env).run()
    assert [v.idle for ack in result.acks for v in ack.vertices] == [True, True]


def test_the_next_processing_time_timer_is_reported(env, epochs, collect):
    collect(
        source(env, [Record(-1), EndEpoch()], bounded=False).key_by(lambda n: n).process(Remember()).set_parallelism(1)
    )
    loop = epochs(env)
    loop.run()
    assert loop.ledger.next_timer() == 50


def test_state_is_written_only_where_it_changed(env, epochs, collect, tmp_path):
    stream = source(env, [Record(1), EndEpoch(), EndEpoch(), Record(2), EndEpoch()], bounded=False)
    collect(stream.key_by(lambda n: 0).process(Remember()).set_parallelism(1))
    loop = epochs(env)
    written = []
    for _ in range(3):
        (ack,) = [a for a in loop.run().acks if a.task == (1, 0)]
        written.append(ack.state_file is not None)
    assert written == [True, False, True]
    assert len(list(tmp_path.glob("*.delta"))) >= 2


def test_event_time_goes_on_in_a_new_process(env, epochs, collect):
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5)).with_timestamp_assigner(
        type("ByValue", (), {"extract_timestamp": staticmethod(lambda value, _: value)})()
    )
    events = [Record(100), EndEpoch(), Record(50), EndEpoch()]
    stream = env.from_source(event_source(events, bounded=False), strategy, "s").set_parallelism(1)
    collect(stream.rebalance().map(lambda n: n).set_parallelism(1))
    loop = epochs(env)
    loop.run()
    loop.lose_processes()
    result = loop.run()
    assert {v.watermark for ack in result.acks for v in ack.vertices} == {94}


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_epochs_of_any_size_give_the_same_stream(env, epochs, collect, limit):
    collect(source(env, numbers(0, 10)).key_by(lambda n: n % 2).reduce(lambda a, b: a + b).set_parallelism(1))
    assert epochs(env).run_to_end(limit) == [0, 1, 2, 4, 6, 9, 12, 16, 20, 25]


def test_batch_mode_plays_key_by_key_at_the_end(env, epochs, collect):
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    events = [Record(("b", 2), 2), Record(("a", 3), 3), Record(("b", 1), 1), Record(("a", 4), 4)]
    collect(source(env, events).key_by(lambda v: v[0]).process(Echo()).set_parallelism(1))
    assert epochs(env).run_to_end(10**6) == [("a", 3), ("a", 4), ("b", 1), ("b", 2)]


def test_a_subtask_without_input_ends_too(env, epochs, collect):
    env.set_parallelism(4)
    collect(source(env, [Record(1)]).rescale().map(lambda n: n))
    loop = epochs(env)
    assert loop.run_to_end() == [1]
    assert loop.ledger.ended
