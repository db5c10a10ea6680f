"""What functions learn and get in open(): the subtask, parameters, metrics, accumulators, cached files."""

from __future__ import annotations

from decimal import Decimal

import pytest

from headrace.common import Row, Types
from headrace.common.accumulators import (
    Accumulator,
    AverageAccumulator,
    Histogram,
    IntCounter,
    ListAccumulator,
    Maximum,
    Minimum,
)
from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.datastream import MapFunction, SourceFunction
from headrace.metrics import Counter, Distribution, Meter, MetricGroup
from headrace.testing import CollectingSink


class Asks(MapFunction):
    """Gives what `question(runtime_context)` answers."""

    def __init__(self, question):
        self.question = question

    def open(self, runtime_context):
        self.answer = self.question(runtime_context)

    def map(self, value):
        return self.answer


def answers(collected, stream, question):
    return collected(stream.map(Asks(question)))


def test_who_the_subtask_is(make_env, collected):
    env = make_env(1)

    def who(ctx):
        return (
            ctx.get_task_name(),
            ctx.get_task_name_with_subtasks(),
            ctx.get_number_of_parallel_subtasks(),
            ctx.get_max_number_of_parallel_subtasks(),
            ctx.get_index_of_this_subtask(),
            ctx.get_attempt_number(),
        )

    task = "Source: Collection Source -> Map -> Sink: Data stream collect sink"
    assert answers(collected, env.from_collection([1]), who) == [(task, f"{task} (1/1)#0", 1, 1, 0, 0)]


def test_every_subtask_has_its_index(make_env, collected):
    env = make_env(3)
    numbers = env.from_collection(range(9)).rebalance()
    found = answers(
        collected, numbers, lambda ctx: (ctx.get_index_of_this_subtask(), ctx.get_number_of_parallel_subtasks())
    )
    assert sorted(set(found)) == [(0, 3), (1, 3), (2, 3)]


def test_key_groups(env, collected):
    env.set_max_parallelism(12)
    keyed = env.from_collection([1]).key_by(lambda n: n)
    assert answers(collected, keyed, lambda ctx: ctx.get_max_number_of_parallel_subtasks()) == [12]


def test_job_parameters(both, collected):
    both.get_config().set_global_job_parameters({"threshold": "7"})

    def asked(ctx):
        return ctx.get_job_parameter("threshold", "0"), ctx.get_job_parameter("other", "default")

    assert answers(collected, both.from_collection([1]), asked) == [("7", "default")]


def test_job_parameters_by_configuration(make_env, collected):
    env = make_env(1, **{"pipeline.global-job-parameters": "a:1,b:2"})
    asked = answers(collected, env.from_collection([1]), lambda ctx: ctx.get_job_parameter("b", ""))
    assert asked == ["2"]


def test_source_functions_have_the_same_context(env, collected):
    class Tells(SourceFunction):
        def open(self, runtime_context):
            runtime_context.get_int_counter("told").add(1)
            runtime_context.get_metrics_group().counter("n").inc()
            self.facts = runtime_context.get_job_parameter("k", ""), runtime_context.get_index_of_this_subtask()

        def run(self, ctx):
            ctx.collect(self.facts)

        def cancel(self):
            pass

    env.get_config().set_global_job_parameters({"k": "v"})
    sink = CollectingSink()
    env.add_source(Tells()).add_sink(sink)
    assert env.execute().get_accumulator_result("told") == 1
    assert sink.get_values() == [("v", 0)]


# ---------------------------------------------------------------------- metrics


def test_metrics(both):
    class Measured(MapFunction):
        def open(self, runtime_context):
            group = runtime_context.get_metrics_group()
            assert isinstance(group, MetricGroup)
            self.counter = group.counter("my_counter")
            self.meter = group.meter("my_meter", 1)
            self.value_to_expose = 0
            group.gauge("my_gauge", lambda: self.value_to_expose)
            self.distribution = group.add_group("sub").add_group("key", "value").distribution("my_distribution")
            assert isinstance(self.counter, Counter) and isinstance(self.meter, Meter)
            assert isinstance(self.distribution, Distribution)
            self.seen = 0

        def map(self, value):
            self.seen += 1
            self.counter.inc()
            self.counter.inc(2)
            self.counter.dec(2)
            assert self.counter.get_count() == self.seen
            self.meter.mark_event()
            assert self.meter.get_count() == self.seen
            self.value_to_expose += 1
            self.distribution.update(int(value[2]))
            return Row(value[0], len(value[0]), value[2])

    words = [("ab", "a", Decimal(1)), ("bdc", "a", Decimal(2)), ("cfgs", "a", Decimal(3))]
    sink = CollectingSink()
    stream = both.from_collection(words, Types.TUPLE([Types.STRING(), Types.STRING(), Types.BIG_DEC()]))
    row = Types.ROW([Types.STRING(), Types.INT(), Types.BIG_DEC()])
    stream.key_by(lambda value: value[1]).map(Measured(), row).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results()) == ["+I[ab, 2, 1]", "+I[bdc, 3, 2]", "+I[cfgs, 4, 3]"]


# ---------------------------------------------------------------------- accumulators


class Longest(Accumulator):
    """An accumulator of the program's own."""

    def __init__(self):
        self.word = ""

    def add(self, value):
        self.word = max(self.word, value, key=len)

    def get_local_value(self):
        return self.word

    def reset_local(self):
        self.word = ""

    def merge(self, other):
        self.add(other.word)


class Counts(MapFunction):
    def open(self, runtime_context):
        self.lines = IntCounter()
        runtime_context.add_accumulator("lines", self.lines)
        self.others = {
            "longest": Longest(),
            "mean": AverageAccumulator(),
            "least": Minimum(),
            "most": Maximum(),
            "all": ListAccumulator(),
        }
        for name, accumulator in self.others.items():
            runtime_context.add_accumulator(name, accumulator)
        self.lengths = runtime_context.get_histogram("lengths")
        self.half = runtime_context.get_double_counter("half")
        self.context = runtime_context

    def map(self, value):
        self.lines.add(1)
        self.half.add(0.5)
        self.context.get_long_counter("letters").add(len(value))
        self.lengths.add(len(value))
        self.others["longest"].add(value)
        for name in ("mean", "least", "most"):
            self.others[name].add(len(value))
        self.others["all"].add(value)
        return value


WORDS = ["to", "be", "or", "not", "question"]


@pytest.mark.parametrize("records", ["1", "5000"], ids=["many epochs", "one epoch"])
def test_accumulators_are_merged_over_the_subtasks(make_env, records):
    env = make_env(2, **{"headrace.epoch.first-records": records, "headrace.epoch.max-records": records})
    env.from_collection(WORDS).rebalance().map(Counts()).add_sink(CollectingSink())
    results = env.execute().get_all_accumulator_results()
    assert sorted(results.pop("all")) == sorted(WORDS)
    assert results == {
        "lines": 5,
        "half": 2.5,
        "letters": 17,
        "lengths": {2: 3, 3: 1, 8: 1},
        "longest": "question",
        "mean": 17 / 5,
        "least": 2,
        "most": 8,
    }


def test_accumulators_in_batch_mode_and_by_client(batch):
    batch.from_collection(WORDS).map(Counts()).add_sink(CollectingSink())
    client = batch.execute_async()
    assert client.get_job_execution_result().result().get_accumulator_result("lines") == 5
    assert client.get_accumulators().result()["lines"] == 5


def test_accumulators_of_a_running_job(env):
    class Slow(SourceFunction):
        def run(self, ctx):
            import time

            self.running = True
            ctx.collect("word")
            while self.running:
                time.sleep(0.01)

        def cancel(self):
            self.running = False

    env.add_source(Slow()).map(Counts()).add_sink(CollectingSink())
    client = env.execute_async()
    while client.get_accumulators().result().get("lines") != 1:
        pass
    client.cancel().result()


def test_a_name_is_used_once_in_a_subtask(env):
    class Twice(MapFunction):
        def open(self, runtime_context):
            runtime_context.add_accumulator("n", IntCounter())
            assert isinstance(runtime_context.get_accumulator("n"), IntCounter)
            assert runtime_context.get_accumulator("m") is None
            runtime_context.add_accumulator("n", IntCounter())

        def map(self, value):
            return value

    env.from_collection([1]).map(Twice()).print()
    with pytest.raises(InvalidProgramError, match="'n' already exists"):
        env.execute()


def test_accumulators_have_one_type(env):
    def confused(ctx):
        ctx.get_int_counter("n")
        ctx.get_histogram("n")

    env.from_collection([1]).map(Asks(confused)).print()
    with pytest.raises(TypeMismatchError, match="has another type"):
        env.execute()
    env.from_collection([1]).map(Asks(lambda ctx: ctx.add_accumulator("n", 3))).print()
    with pytest.raises(TypeMismatchError, match="takes an Accumulator"):
        env.execute()


def test_clones_and_resets():
    for accumulator, value, empty in (
        (IntCounter(), 3, 0),
        (AverageAccumulator(), 3, 0.0),
        (Histogram(), 3, {}),
        (ListAccumulator(), 3, []),
        (Maximum(), 3, None),
    ):
        accumulator.add(value)
        copy = accumulator.clone()
        accumulator.reset_local()
        assert accumulator.get_local_value() == empty != copy.get_local_value()


# ---------------------------------------------------------------------- distributed cache


def test_cached_files(both, collected, tmp_path):
    (tmp_path / "words").write_text("machen zeit")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner").write_text("keiner")
    (tmp_path / "tool").write_text("#!/bin/sh\necho yes\n")
    both.register_cached_file(str(tmp_path / "words"), "words")
    both.register_cached_file(f"file://{tmp_path}/folder", "folder")
    both.register_cached_file(str(tmp_path / "tool"), "tool", executable=True)

    def read(ctx):
        import subprocess

        cache = ctx.get_distributed_cache()
        said = subprocess.run([cache.get_file("tool")], capture_output=True, text=True, check=True).stdout
        return cache.get_file("words").read_text(), (cache.get_file("folder") / "inner").read_text(), said.strip()

    assert answers(collected, both.from_collection([1]), read) == [("machen zeit", "keiner", "yes")]


def test_files_that_were_not_registered(env):
    env.from_collection([1]).map(Asks(lambda ctx: ctx.get_distributed_cache().get_file("x"))).print()
    with pytest.raises(InvalidProgramError, match="'x' is not available"):
        env.execute()


def test_cached_files_are_checked_when_the_job_starts(env, tmp_path):
    env.register_cached_file(str(tmp_path / "missing"), "x")
    with pytest.raises(InvalidProgramError, match="already existed"):
        env.register_cached_file(str(tmp_path / "other"), "x")
    env.from_collection([1]).print()
    with pytest.raises(ValueError, match=r"pipeline\.cached-files names a file that does not exist"):
        env.execute()
