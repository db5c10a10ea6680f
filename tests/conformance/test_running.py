"""Running programs: execute, execute_async, collecting, results, clients, sources."""

from __future__ import annotations

import time

import pytest

from headrace.common import JobStatus, Row, Types
from headrace.common.errors import InvalidProgramError, JobCancelledError, UserCodeError
from headrace.datastream import MapFunction, SinkFunction, SourceFunction
from headrace.testing import CollectingSink


def test_execute_gives_a_result(both):
    both.from_collection([1]).add_sink(CollectingSink())
    result = both.execute("job")
    assert len(str(result.get_job_id())) == 32
    assert result.get_net_runtime() >= 0
    assert result.get_all_accumulator_results() == {} and result.get_accumulator_result("none") is None
    assert str(result.get_job_id()) in str(result)


def test_execute_async(both):
    both.from_collection([(1, "Hi")], Types.ROW([Types.INT(), Types.STRING()])).add_sink(CollectingSink())
    client = both.execute_async("job")
    result = client.get_job_execution_result().result()
    assert str(client.get_job_id()) == str(result.get_job_id())
    assert client.get_job_status().result() is JobStatus.FINISHED
    assert client.get_accumulators().result() == {}


def test_a_job_can_be_cancelled(env):
    class Endless(SourceFunction):
        def run(self, ctx):
            self.running = True
            while self.running:
                ctx.collect(1)
                time.sleep(0.001)

        def cancel(self):
            self.running = False

    env.add_source(Endless()).map(lambda n: n).add_sink(CollectingSink())
    client = env.execute_async()
    while not client.last_epoch:
        time.sleep(0.01)
    assert client.get_job_status().result() is JobStatus.RUNNING
    client.cancel().result()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()
    assert client.get_job_status().result() is JobStatus.CANCELED


def test_a_failed_job(env):
    env.from_collection([0]).map(lambda n: 1 / n).print()
    client = env.execute_async()
    with pytest.raises(UserCodeError, match="division by zero"):
        client.get_job_execution_result().result()
    assert client.get_job_status().result() is JobStatus.FAILED


def test_nothing_to_run(env):
    with pytest.raises(InvalidProgramError, match="No operators defined"):
        env.execute()
    env.from_collection([1])
    with pytest.raises(InvalidProgramError, match="No operators defined"):
        env.execute()


def test_an_environment_runs_several_jobs(both):
    first, second = CollectingSink(), CollectingSink()
    numbers = both.from_collection([1, 2])
    numbers.add_sink(first)
    both.execute()
    numbers.map(lambda n: n * 10).add_sink(second)
    both.execute()
    assert sorted(first.get_values()) == [1, 2] and sorted(second.get_values()) == [10, 20]


# ---------------------------------------------------------------------- collecting


def test_collect_with_limit(both):
    words = both.from_collection(["pyflink", "datastream", "execute", "collect"])
    assert words.execute_and_collect(limit=3) == ["pyflink", "datastream", "execute"]
    assert words.execute_and_collect("named", 10) == ["pyflink", "datastream", "execute", "collect"]


@pytest.mark.parametrize("limit", [0, -1])
def test_the_limit_is_positive(env, limit):
    with pytest.raises(InvalidProgramError, match="Limit must be greater than 0"):
        env.from_collection([1]).execute_and_collect(limit=limit)


def test_collect_as_context_manager(both):
    with both.from_collection(["a", "b"], Types.STRING()).execute_and_collect() as results:
        assert next(results) == "a"
        assert results.next() == "b"
        with pytest.raises(StopIteration):
            results.next()


def test_closing_early_cancels_the_job(env):
    class Endless(SourceFunction):
        def run(self, ctx):
            self.running = True
            while self.running:
                ctx.collect("x")
                time.sleep(0.001)

        def cancel(self):
            self.running = False

    results = env.add_source(Endless()).execute_and_collect()
    assert next(results) == "x"
    results.close()
    with pytest.raises(StopIteration):
        next(results)


def test_an_empty_stream(both, collected):
    assert collected(both.from_collection([1]).filter(lambda n: False)) == []


def test_elements_of_a_subtask_keep_their_order(both, collected):
    assert collected(both.set_parallelism(1).from_collection(range(20_000)).map(lambda n: n)) == list(range(20_000))


# ---------------------------------------------------------------------- sources


def test_collections_without_type_stay_as_they_are(both):
    sink = CollectingSink()
    both.from_collection([(1, "Hi", "Hello"), (2, "Hello", "Hi")]).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results(True)) == ["(1, 'Hi', 'Hello')", "(2, 'Hello', 'Hi')"]


def test_collections_with_a_type(both):
    sink = CollectingSink()
    both.from_collection(["Hi", "Hello"], type_info=Types.STRING()).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results()) == ["Hello", "Hi"]


def test_a_collection_may_be_any_iterable(both, collected):
    assert sorted(collected(both.from_collection(range(3)))) == [0, 1, 2]
    assert sorted(collected(both.from_collection({1, 2}))) == [1, 2]
    assert sorted(collected(both.from_collection(n * n for n in range(3)))) == [0, 1, 4]


def test_text_files(both, tmp_path):
    names = ["Mike", "Marry", "Ted", "Jack"]
    (tmp_path / "names").write_text("\n".join(names) + "\n")
    sink = CollectingSink()
    both.read_text_file(str(tmp_path / "names")).add_sink(sink)
    both.execute()
    assert sorted(sink.get_results()) == sorted(names)


def test_source_functions(env):
    class Names(SourceFunction):
        def run(self, ctx):
            for number, name in enumerate(["Bob", "Marry", "Henry"]):
                ctx.collect(Row(number, name))

        def cancel(self):
            pass

    sink = CollectingSink()
    env.add_source(Names(), type_info=Types.ROW([Types.INT(), Types.STRING()])).add_sink(sink)
    env.execute()
    assert sorted(sink.get_results()) == ["+I[0, Bob]", "+I[1, Marry]", "+I[2, Henry]"]


def test_sequences(both, collected):
    assert sorted(collected(both.from_sequence(1, 10))) == list(range(1, 11))


# ---------------------------------------------------------------------- life of functions


class Diary:
    """Appends what happens to a file, from whichever process."""

    def __init__(self, path):
        self.path = path

    def note(self, text):
        with open(self.path, "a") as file:
            file.write(text + "\n")

    @property
    def lines(self):
        return self.path.read_text().split() if self.path.exists() else []


def test_functions_live_once_per_subtask(make_env, tmp_path):
    diary = Diary(tmp_path / "diary")

    class Noted(MapFunction):
        def open(self, runtime_context):
            self.me = f"map{runtime_context.get_index_of_this_subtask()}"
            self.seen = 0
            diary.note(f"open-{self.me}")

        def map(self, value):
            self.seen += 1
            return value

        def close(self):
            diary.note(f"close-{self.me}-{self.seen}")

    class NotedSink(SinkFunction):
        def open(self, runtime_context):
            diary.note("open-sink")

        def invoke(self, value, context):
            assert context.current_processing_time() > 0

        def finish(self):
            diary.note("finish-sink")

        def close(self):
            diary.note("close-sink")

    env = make_env(2, **{"headrace.epoch.first-records": "3"})
    env.from_collection(range(10)).rebalance().map(Noted()).add_sink(NotedSink())
    env.execute()
    lines = diary.lines
    assert sorted(lines) == sorted(
        ["open-map0", "open-map1", "close-map0-5", "close-map1-5"] + 2 * ["open-sink", "finish-sink", "close-sink"]
    )
    assert lines.index("open-sink") < lines.index("open-map0"), "the end of a chain is opened first"


def test_functions_are_closed_after_a_failure(env, tmp_path):
    diary = Diary(tmp_path / "diary")

    class Fails(MapFunction):
        def map(self, value):
            raise ValueError("no")

        def close(self):
            diary.note("closed")

    env.from_collection([1]).map(Fails()).print()
    with pytest.raises(UserCodeError):
        env.execute()
    assert set(diary.lines) == {"closed"}


def test_key_selectors_and_partitioners_live_like_functions(env, tmp_path):
    from headrace.datastream import KeySelector, Partitioner

    diary = Diary(tmp_path / "diary")

    class Selector(KeySelector):
        def open(self, runtime_context):
            diary.note("open-selector")

        def get_key(self, value):
            return value

        def close(self):
            diary.note("close-selector")

    class Zero(Partitioner):
        def open(self, runtime_context):
            diary.note("open-partitioner")

        def partition(self, key, num_partitions):
            return 0

        def close(self):
            diary.note("close-partitioner")

    keyed = env.from_collection([1, 2]).key_by(Selector())
    keyed.sum().print()
    keyed.max().print()
    env.execute()
    assert sorted(diary.lines) == ["close-selector", "open-selector"], "once, although two operators read the stream"
    diary.path.unlink()
    env.from_collection([1, 2]).partition_custom(Zero(), Selector()).print()
    env.execute()
    assert sorted(diary.lines) == ["close-partitioner", "close-selector", "open-partitioner", "open-selector"]
