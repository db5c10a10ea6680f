"""Cached streams: computed once in batch mode, read by later jobs of the environment."""

from __future__ import annotations

import pytest

from headrace.common import Types
from headrace.common.errors import InvalidProgramError, UserCodeError
from headrace.datastream import DataStream, OutputTag, ProcessFunction, RuntimeExecutionMode
from headrace.datastream.data_stream import CachedDataStream
from headrace.testing import CollectingSink


@pytest.fixture
def counted(tmp_path):
    """A map function that says how often it was called."""

    class Counted:
        def __init__(self):
            self.file = str(tmp_path / "calls")

        def __call__(self, value):
            with open(self.file, "a") as file:
                file.write("x")
            return value * 2

        def calls(self):
            with open(self.file) as file:
                return len(file.read())

    return Counted()


def test_the_elements_are_computed_once(batch, collected, counted):
    doubled = batch.from_collection([1, 2, 3], Types.INT()).map(counted, Types.INT()).cache()
    assert sorted(collected(doubled)) == [2, 4, 6]
    assert sorted(collected(doubled.map(lambda value: value + 1))) == [3, 5, 7]
    assert counted.calls() == 3


def test_execute_fills_the_cache_too(batch, counted):
    doubled = batch.from_collection([1, 2, 3]).map(counted).cache()
    first, second = CollectingSink(), CollectingSink()
    doubled.map(str).add_sink(first)
    batch.execute()
    doubled.key_by(lambda value: 0).reduce(lambda a, b: a + b).add_sink(second)
    batch.execute()
    assert sorted(first.get_values()) == ["2", "4", "6"] and second.get_values() == [12]
    assert counted.calls() == 3


def test_invalidated_elements_are_computed_again(batch, collected, counted):
    doubled = batch.from_collection([1, 2]).map(counted).cache()
    doubled.invalidate()
    collected(doubled)
    doubled.invalidate()
    assert sorted(collected(doubled)) == [2, 4]
    assert sorted(collected(doubled)) == [2, 4]
    assert counted.calls() == 4


def test_what_was_not_cached_is_computed_again(batch, collected, counted):
    doubled = batch.from_collection([1, 2]).map(counted)
    cached = doubled.cache()
    collected(cached)
    assert sorted(collected(doubled)) == [2, 4]
    assert counted.calls() == 4


def test_a_failed_job_fills_nothing(batch, collected, counted):
    doubled = batch.from_collection([1, 2]).map(counted).cache()

    def fail(value):
        raise ValueError("not this time")

    with pytest.raises(UserCodeError, match="not this time"):
        collected(doubled.map(fail))
    before = counted.calls()
    assert sorted(collected(doubled)) == [2, 4]
    assert counted.calls() == before + 2


def test_timestamps_are_cached_too(batch, collected, by_second_field):
    class Stamped(ProcessFunction):
        def process_element(self, value, ctx):
            yield value[0], ctx.timestamp()

    stamped = batch.from_collection([("a", 7), ("b", 9)]).assign_timestamps_and_watermarks(by_second_field).cache()
    collected(stamped)
    assert sorted(collected(stamped.process(Stamped()))) == [("a", 7), ("b", 9)]


def test_side_outputs_can_be_cached(batch, collected):
    odd = OutputTag("odd", Types.INT())

    class Split(ProcessFunction):
        def process_element(self, value, ctx):
            yield (odd, value) if value % 2 else value

    split = batch.from_collection([1, 2, 3], Types.INT()).process(Split(), Types.INT())
    cached = split.get_side_output(odd).cache()
    assert sorted(collected(cached)) == sorted(collected(cached)) == [1, 3]
    assert cached.get_type() == Types.INT()


def test_the_source_disappears_from_the_plan(batch, collected):
    cached = batch.from_collection([1]).map(lambda value: value).cache()
    collected(cached)
    cached.map(str).print()
    graph = batch.get_stream_graph()
    assert [node.name for node in graph.nodes.values()] == ["Source: CacheRead", "Map", "Sink: Print to Std. Out"]


def test_streaming_jobs_compute_everything(env, collected, counted):
    doubled = env.set_runtime_mode(RuntimeExecutionMode.STREAMING).from_collection([1, 2]).map(counted).cache()
    assert sorted(collected(doubled)) == sorted(collected(doubled)) == [2, 4]
    assert counted.calls() == 4


def test_a_cached_stream_has_no_settings(env):
    cached = env.from_collection([1]).map(str).cache()
    assert isinstance(cached, CachedDataStream) and isinstance(cached, DataStream)
    for what, call in {
        "Set name for": lambda: cached.name("n"),
        "Get name of": lambda: cached.get_name(),
        "Set uid for": lambda: cached.uid("u"),
        "Set uid hash for": lambda: cached.set_uid_hash("0" * 32),
        "Set parallelism for": lambda: cached.set_parallelism(1),
        "Set max parallelism for": lambda: cached.set_max_parallelism(1),
        "Set force non-parallel for": lambda: cached.force_non_parallel(),
        "Set buffer timeout for": lambda: cached.set_buffer_timeout(1),
        "Set description for": lambda: cached.set_description("d"),
        "Start new chain for": lambda: cached.start_new_chain(),
        "Disable chaining for": lambda: cached.disable_chaining(),
        "Setting slot sharing group for": lambda: cached.slot_sharing_group("g"),
    }.items():
        with pytest.raises(InvalidProgramError, match=f"{what} CachedDataStream is not supported."):
            call()


def test_partitioned_and_keyed_streams_cannot_be_cached(env):
    with pytest.raises(InvalidProgramError, match="cannot be cached"):
        env.from_collection([1]).rebalance().cache()
    with pytest.raises(InvalidProgramError, match="Cache for KeyedStream is not supported"):
        env.from_collection([1]).key_by(lambda value: value).cache()
