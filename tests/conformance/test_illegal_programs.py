"""Programs that cannot run are refused, with PyFlink's words, when they are built."""

from __future__ import annotations

import pytest

from headrace.common import Duration, JobClient, SimpleStringSchema, Types, WatermarkStrategy
from headrace.common.errors import InvalidProgramError, NoJvmError, TypeMismatchError
from headrace.datastream import (
    HashMapStateBackend,
    JobManagerCheckpointStorage,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    SinkFunction,
    SlotSharingGroup,
    SourceFunction,
)
from headrace.java_gateway import get_gateway


class Plain(ProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Keyed(KeyedProcessFunction):
    def process_element(self, value, ctx):
        yield value


class Mapped(MapFunction):
    def map(self, value):
        return value


FUNCTIONS = {
    "map of nothing": (lambda s: s.map(None), "must be a MapFunction or a callable"),
    "map of a class": (lambda s: s.map(Mapped), "must be a MapFunction or a callable"),
    "flat_map of a number": (lambda s: s.flat_map(3), "must be a FlatMapFunction or a callable"),
    "filter of a text": (lambda s: s.filter("x"), "must be a FilterFunction or a callable"),
    "process of a callable": (lambda s: s.process(lambda v, c: v), "must be a ProcessFunction"),
    "process of a keyed function": (lambda s: s.process(Keyed()), "needs a keyed stream"),
    "keyed process of a plain one": (
        lambda s: s.key_by(lambda v: v).process(Plain()),
        "KeyedProcessFunction is required for KeyedStream",
    ),
    "reduce of nothing": (lambda s: s.key_by(lambda v: v).reduce(None), "must be a ReduceFunction or a callable"),
    "a sink that is none": (lambda s: s.add_sink(print), "must be a SinkFunction"),
    "a type that is none": (lambda s: s.map(str, str), "output_type must be None, list or TypeInformation"),
    "a type that was not called": (lambda s: s.map(str, Types.STRING), r"call it: Types\.STRING\(\)"),
    "a name that is none": (lambda s: s.map(str).name(5), "name of an operator must be a string"),
    "a strategy that is none": (lambda s: s.assign_timestamps_and_watermarks(None), "takes a watermark strategy"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_does_not_fit(env, name):
    call, message = FUNCTIONS[name]
    with pytest.raises(TypeMismatchError, match=message) as caught:
        call(env.from_collection([1]))
    assert isinstance(caught.value, TypeError)


VALUES = {
    "no parallelism": (lambda env, s: env.set_parallelism(0), "at least one"),
    "no key groups": (lambda env, s: env.set_max_parallelism(0), "out of bounds"),
    "too many key groups": (lambda env, s: env.set_max_parallelism(40000), "out of bounds"),
    "no parallelism of an operator": (lambda env, s: s.map(str).set_parallelism(0), "at least 1"),
    "no key groups of an operator": (lambda env, s: s.map(str).set_max_parallelism(0), "greater than 0"),
    "a parallel collection": (lambda env, s: s.set_parallelism(2), "non parallel operator must be 1"),
    "a short uid hash": (lambda env, s: s.map(str).set_uid_hash("abc"), "32 character String"),
    "a negative timeout": (lambda env, s: env.set_buffer_timeout(-5), "non-negative or -1"),
    "projection of single values": (lambda env, s: s.project(0), "Only Tuple DataStreams can be projected"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_out_of_bounds(env, name):
    call, message = VALUES[name]
    with pytest.raises(InvalidProgramError, match=message) as caught:
        call(env, env.from_collection([1]))
    assert isinstance(caught.value, ValueError)


def test_projection_stays_in_the_tuple(env):
    pairs = env.from_collection([(1, 2)], Types.TUPLE([Types.INT(), Types.INT()]))
    with pytest.raises(InvalidProgramError, match="Index: 5, Size: 2"):
        pairs.project(5)
    with pytest.raises(InvalidProgramError, match="at least one field"):
        pairs.project()


def test_uids_are_unique(env):
    env.from_collection([1]).map(str).uid("u").rebalance().map(str).uid("u").print()
    with pytest.raises(InvalidProgramError, match="Hash collision on user-specified ID 'u'"):
        env.execute()


def test_parallelism_within_the_key_groups(env):
    env.from_collection([1]).key_by(lambda n: n).sum().set_parallelism(4).set_max_parallelism(2).print()
    with pytest.raises(InvalidProgramError, match="is higher than the max parallelism"):
        env.execute()


def test_streams_of_one_environment(env, make_env):
    other = make_env().from_collection([1])
    for call in (env.from_collection([1]).union, env.from_collection([1]).connect):
        with pytest.raises(InvalidProgramError, match="same environment"):
            call(other)


def test_unions_of_one_type(env):
    with pytest.raises(TypeMismatchError, match="Cannot union streams of different types: Integer and String"):
        env.from_collection([1], Types.INT()).union(env.from_collection(["a"], Types.STRING()))


@pytest.mark.parametrize("kind", [SourceFunction, SinkFunction])
def test_java_functions_are_refused(kind):
    with pytest.raises(NoJvmError, match="written in Java cannot run in headrace"):
        kind("org.apache.flink.python.util.MyCustomSourceFunction")


def test_functions_that_cannot_be_sent(env):
    import threading

    lock = threading.Lock()
    env.from_collection([1]).map(lambda value: lock.locked()).name("guarded").print()
    with pytest.raises(InvalidProgramError, match="cannot be sent to the workers") as caught:
        env.execute()
    assert "guarded" in str(caught.value) and "open()" in str(caught.value)


@pytest.mark.parametrize(
    ("attribute", "thing"),
    {
        "_j_stream_execution_environment": lambda env: env,
        "_j_data_stream": lambda env: env.from_collection([1]),
        "_j_data_stream_sink": lambda env: env.from_collection([1]).print(),
        "_j_configuration": lambda env: env.get_configuration(),
        "_j_execution_config": lambda env: env.get_config(),
        "_j_checkpoint_config": lambda env: env.get_checkpoint_config(),
        "_j_watermark_strategy": lambda env: WatermarkStrategy.no_watermarks(),
        "_j_state_backend": lambda env: HashMapStateBackend(),
        "_j_checkpoint_storage": lambda env: JobManagerCheckpointStorage(),
        "_j_typeinfo": lambda env: Types.INT(),
        "_j_serialization_schema": lambda env: SimpleStringSchema(),
        "_j_duration": lambda env: Duration.of_seconds(1),
        "_j_job_client": lambda env: JobClient(None),
    }.items(),
)
def test_there_is_no_java_object_behind(env, attribute, thing):
    seen = thing(env)
    with pytest.raises(NoJvmError, match=f"There is no Java object behind a .*[\\s\\S]*{attribute}"):
        getattr(seen, attribute)
    assert not hasattr(seen, attribute)
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'") as caught:
        seen.nonsense
    assert not isinstance(caught.value, NoJvmError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: OutputTag("side").get_java_output_tag(),
        get_gateway,
        lambda: SlotSharingGroup.builder("group").build().get_java_slot_sharing_group(),
        lambda: Types.ROW([Types.INT()]).get_java_type_info(),
    ],
)
def test_methods_that_give_java_objects_say_why_not(call):
    with pytest.raises(NoJvmError, match="no J"):
        call()
