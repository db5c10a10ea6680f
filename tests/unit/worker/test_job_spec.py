"""A job as its workers see it."""

from __future__ import annotations

import pickle
import threading

import pytest

from headrace.common.errors import InvalidProgramError
from headrace.common.typeinfo import Types
from headrace.datastream import MapFunction, OutputTag, ProcessFunction
from headrace.graph.epoch_plan import build_epoch_plan
from headrace.worker.job_spec import make_job_spec


class Counting(MapFunction):
    def __init__(self):
        self.seen = []

    def map(self, value):
        self.seen.append(value)
        return value


class Both(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


def spec_of(env, **parameters):
    graph = env.get_job_graph("the job")
    return graph, make_job_spec(
        "id", graph, build_epoch_plan(graph), watermark_records=7, job_parameters=parameters, close_seconds=10.0
    )


def function_in(vertex):
    return next(n.spec.func for n in vertex.nodes if isinstance(getattr(n.spec, "func", None), Counting))


def test_every_subtask_gets_function_objects_of_its_own(env):
    env.from_collection([1]).map(Counting()).print()
    graph, spec = spec_of(env)
    (vertex,) = [v for v in graph.vertices.values() if "Map" in v.name]
    first, second = (function_in(spec.load_vertex(vertex.id)[0]) for _ in range(2))
    first.map(1)
    assert (first.seen, second.seen) == ([1], [])
    assert function_in(vertex).seen == []


def test_a_vertex_comes_with_its_outgoing_edges(env):
    env.from_collection([1]).rebalance().map(str).print()
    graph, spec = spec_of(env)
    source, mapped = graph.vertices
    assert spec.load_vertex(source)[1] == (graph.edges[0],)
    assert spec.load_vertex(mapped)[1] == ()


def test_it_says_what_workers_must_know(env):
    env.from_collection([1]).rebalance().map(str).print()
    _, spec = spec_of(env, key="value")
    assert (spec.job_id, spec.job_name, spec.batch, spec.watermark_records) == ("id", "the job", False, 7)
    assert spec.job_parameters == {"key": "value"}
    assert list(spec.parallelism.values()) == [1, 2]
    assert list(spec.max_parallelism.values())[1] == 128
    assert spec.working_directory


def test_it_pickles(env):
    env.from_collection([1]).key_by(lambda v: v).map(lambda v: v + 1).print()
    _, spec = spec_of(env)
    copy = pickle.loads(pickle.dumps(spec))
    assert copy == spec
    assert copy.load_vertex(next(iter(copy.vertices)))


def test_functions_that_cannot_be_sent_are_named(env):
    lock = threading.Lock()
    env.from_collection([1]).map(lambda v: (v, lock)).name("locked").uid("m").print()
    with pytest.raises(InvalidProgramError, match="cannot be sent to the workers") as caught:
        spec_of(env)
    assert "locked" in caught.value.operator_name
    assert "open()" in caught.value.remedy


def test_edge_facts(env):
    tag = OutputTag("late", Types.INT())
    both = env.from_collection([1], Types.INT()).rebalance().process(Both(), output_type=Types.STRING())
    both.key_by(lambda v: v, key_type=Types.STRING()).map(str).print()
    both.get_side_output(tag).rescale().map(str).set_parallelism(1).print()
    both.map(str).disable_chaining().print()
    _, spec = spec_of(env)
    facts = {(e.value_type, e.key_type, e.keyed, e.pointwise, e.local) for e in spec.edges}
    assert (Types.INT(), None, False, False, False) in facts, "rebalance of the source"
    assert (Types.STRING(), Types.STRING(), True, False, False) in facts, "key_by"
    assert (Types.INT(), None, False, True, False) in facts, "the side output has the type of its tag"
    assert (Types.STRING(), None, False, True, True) in facts, "forward to a vertex in the same task"


def test_in_edges_are_those_of_the_vertex(env):
    a, b = env.from_collection([1]), env.from_collection([2])
    a.rebalance().union(b.rebalance()).map(str).print()
    graph, spec = spec_of(env)
    *_, last = graph.vertices
    assert [e.index for e in spec.in_edges(last)] == [0, 1]
