"""Where the time of an epoch goes and what is said of it, over made-up times."""

import pytest

from headrace.common import Types
from headrace.datastream import StreamExecutionEnvironment
from headrace.graph.job_graph import build_job_graph
from headrace.monitoring.back_pressure import OperatorLoad, SubtaskLoad, VertexLoad, diagnose, epoch_times
from headrace.worker.messages import HotKeyGroup, TaskAck, VertexMeasures, VertexReport


def load(name, span, *busy, operators=(), **more):
    subtasks = tuple(SubtaskLoad(part, operators=operators, **more) for part in busy)
    return VertexLoad(name * 32, name, span, subtasks)


def said(*vertices, held_back=True, client=0.0, concluding=0.0):
    return diagnose(list(vertices), held_back, client, concluding)


def test_a_job_that_keeps_up_has_no_bottleneck():
    assert said(load("a", 0.9, 0.9), held_back=False) is None
    assert said(load("a", 0.4, 0.4), load("b", 0.3, 0.3)) is None  # both: nothing stands out
    assert said() is None


@pytest.mark.parametrize(
    ("kind", "own", "sending", "word"),
    [
        ("function", 0.8, 0.1, "user function: 'x'"),
        ("sink", 0.8, 0.1, "sink: writing to 'x'"),
        ("source", 0.8, 0.1, "source: reading 'x'"),
        ("function", 0.1, 0.8, "serialization: sending the records of 'x'"),
    ],
)
def test_the_operator_with_most_time_gives_the_reason(kind, own, sending, word):
    operators = (OperatorLoad("x", kind, own, sending), OperatorLoad("y", "function", 0.05, 0.0))
    found = said(load("a", 0.1, 0.1, 0.1), load("b", 0.9, 0.9, 0.85, operators=operators))
    assert found.vertex_id == "b" * 32
    assert found.subtask is None
    assert found.reason.startswith(word)
    assert found.advice


def test_one_hot_subtask_is_skew_and_one_hot_key_group_is_named():
    found = said(load("b", 0.9, 0.1, 0.9, 0.1))
    assert (found.subtask, found.reason.partition(":")[0]) == (1, "skew of a subtask")
    found = said(load("b", 0.9, 0.1, 0.9, hot_key_group=HotKeyGroup(17, 0.8)))
    assert found.reason.startswith("skew of a key group: 80% of the records of subtask 1 are in key group 17")


def test_many_subtasks_in_few_slots_are_a_bottleneck_together():
    assert said(load("a", 0.95, *[0.24] * 8)).reason == "user function"


def test_garbage_collection_the_client_and_commits_are_named():
    assert said(load("a", 0.2, 0.2, collecting=0.5), held_back=False).reason.startswith("garbage collection")
    assert said(load("a", 0.2, 0.2), held_back=False, client=0.8).reason.startswith("client")
    assert said(load("a", 0.2, 0.2), load("b", 0.1, 0.1)).reason.startswith("epochs: only 30% of the time is work")
    assert said(load("a", 0.2, 0.2), concluding=0.8).reason.startswith("sink: completing checkpoints")


@pytest.fixture
def graph():
    env = StreamExecutionEnvironment.get_execution_environment().set_parallelism(1)
    env.from_collection([1], Types.LONG()).rebalance().map(lambda v: v, Types.LONG()).key_by(lambda v: v).filter(
        lambda v: False
    ).print()
    return build_job_graph(env.get_stream_graph())


def ack(graph, level, seconds, held_back=False, waited=0.0):
    vertex = list(graph.vertices)[level]
    measures = VertexMeasures(held_back=held_back, waited_seconds=waited)
    report = VertexReport(vertex, 0, 1, 1, 0, False, None, False, seconds, measures=measures)
    return TaskAck((level, 0), 1, 1, {}, None, False, (report,), "h", level)


def test_only_what_a_held_source_feeds_waits_for_later_levels(graph):
    source, middle, last = [(v, 0) for v in graph.vertices]
    acks = [ack(graph, 0, 0.5, held_back=True, waited=0.4), ack(graph, 1, 0.2), ack(graph, 2, 0.3)]
    times = epoch_times(graph, acks, 0.1, 0.05)
    assert times.busy[source] == pytest.approx(0.1)
    assert times.waiting[source] == pytest.approx(0.2 + 0.3 + 0.1 + 0.05)
    assert times.waiting[middle] == pytest.approx(0.3 + 0.1 + 0.05)
    assert times.waiting[last] == pytest.approx(0.1 + 0.05)
    free = epoch_times(graph, [ack(graph, 0, 0.5), *acks[1:]], 0.1, 0.0)
    assert set(free.waiting.values()) == {0.0}
    assert not free.held_back
