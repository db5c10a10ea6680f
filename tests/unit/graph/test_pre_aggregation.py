"""Where the graph gets local aggregates, what the plan shows of them, and that jobs give the same with and without."""

from __future__ import annotations

import json

import pytest

from headrace.common import Configuration, Time, Types, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.datastream import OutputTag, RuntimeExecutionMode, StreamExecutionEnvironment
from headrace.datastream.functions import KeySelector
from headrace.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

PAIRS = [(key, n) for n in range(300) for key in ("hot", "hot", "hot", f"k{n % 7}")]


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class First(KeySelector):
    opened = closed = 0

    def open(self, runtime_context):
        assert self.opened == 0
        self.opened += 1

    def get_key(self, value):
        assert self.opened == 1
        return value[0]


def environment(on: bool = True, parallelism: int = 2) -> StreamExecutionEnvironment:
    configuration = Configuration().set_string("headrace.executor", "local")
    configuration.set_string("headrace.watermark.interval-records", "10")
    if not on:
        configuration.set_boolean("headrace.windows.pre-aggregate", False)
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(parallelism)


def timed(env, pairs=PAIRS):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
    stream = env.from_collection(pairs, Types.TUPLE([Types.STRING(), Types.LONG()]))
    return stream.assign_timestamps_and_watermarks(strategy)


def counted(windows):
    return windows.reduce(lambda a, b: (a[0], a[1] + b[1]))


def names(env) -> list[str]:
    return [v.name for v in env.get_job_graph().vertices.values()]


def test_the_local_aggregate_ends_the_chain_that_sends():
    env = environment()
    counted(timed(env).key_by(First()).window(TumblingEventTimeWindows.of(Time.milliseconds(50)))).name("Sums").print()
    assert names(env)[1].endswith("-> Local Sums") and names(env)[2].startswith("Sums")


def test_the_plan_shows_it_between_key_and_exchange():
    env = environment()
    counted(timed(env).key_by(First()).window(TumblingEventTimeWindows.of(Time.milliseconds(50)))).print()
    nodes = {node["type"]: node for node in json.loads(env.get_execution_plan())["nodes"]}
    local, windows = nodes["Local TumblingEventTimeWindows"], nodes["TumblingEventTimeWindows"]
    (before,) = windows["predecessors"]
    assert before["id"] == local["id"] and before["ship_strategy"] == "HASH"
    (before,) = local["predecessors"]
    assert before["id"] == nodes["_stream_key_by_map_operator"]["id"] and before["ship_strategy"] == "FORWARD"
    assert local["parallelism"] == 2


def test_every_input_of_a_union_has_its_own():
    env = environment()
    both = timed(env).union(timed(env).filter(lambda v: True).set_parallelism(3))
    counted(both.key_by(First()).window(TumblingEventTimeWindows.of(Time.milliseconds(50)))).print()
    graph = env.get_stream_graph()
    locals_ = [n for n in graph.nodes.values() if n.name.startswith("Local")]
    assert sorted(n.parallelism for n in locals_) == [2, 3]
    assert len({n.operator_id for n in graph.nodes.values()}) == len(graph.nodes)


def test_ids_of_other_operators_do_not_change():
    def ids(on):
        env = environment(on)
        counted(timed(env).key_by(First()).window(TumblingEventTimeWindows.of(Time.milliseconds(50)))).print()
        return {n.operator_id for n in env.get_stream_graph().nodes.values() if not n.name.startswith("Local")}

    assert ids(True) == ids(False)


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.allowed_lateness(1).reduce(lambda a, b: a),
        lambda w: w.side_output_late_data(OutputTag("late", Types.LONG())).reduce(lambda a, b: a),
    ],
)
def test_no_local_aggregate_where_results_could_change(change):
    env = environment()
    change(timed(env).key_by(First()).window(TumblingEventTimeWindows.of(Time.milliseconds(50)))).print()
    assert not any("Local" in name for name in names(env))


def test_not_for_sessions_nor_in_batch_mode_nor_if_switched_off():
    env = environment()
    counted(timed(env).key_by(First()).window(EventTimeSessionWindows.with_gap(Time.milliseconds(5)))).print()
    assert not any("Local" in name for name in names(env))
    for env in (environment(on=False), environment().set_runtime_mode(RuntimeExecutionMode.BATCH)):
        counted(timed(env).key_by(First()).window(TumblingEventTimeWindows.of(Time.milliseconds(50)))).print()
        assert not any("Local" in name for name in names(env))


@pytest.mark.parametrize("parallelism", [1, 2, 3])
@pytest.mark.parametrize(
    "assigner",
    [
        TumblingEventTimeWindows.of(Time.milliseconds(50)),
        SlidingEventTimeWindows.of(Time.milliseconds(60), Time.milliseconds(20)),
    ],
    ids=repr,
)
def test_jobs_give_the_same_with_and_without(assigner, parallelism):
    def run(on, over_all):
        stream = timed(environment(on, parallelism))
        windows = stream.window_all(assigner) if over_all else stream.key_by(First()).window(assigner)
        with counted(windows).execute_and_collect() as results:
            return list(results)

    for over_all in (False, True):
        seen, expected = run(True, over_all), run(False, over_all)
        assert sorted(seen) == sorted(expected) and len(seen) > 5
        if parallelism == 1:
            assert seen == expected


def test_both_ways_after_chaining_is_switched_off():
    env = environment().disable_operator_chaining()
    windows = timed(env).key_by(First()).window(TumblingEventTimeWindows.of(Time.milliseconds(50)))
    with counted(windows).execute_and_collect() as results:
        assert sum(value for _, value in results) == sum(n for _, n in PAIRS)
