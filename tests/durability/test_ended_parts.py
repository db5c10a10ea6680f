"""Parts of a job that had ended, or were idle, before it was rescaled: the others continue, and the job ends."""

from __future__ import annotations

import contextlib
import threading
import time

import pytest
from durability_kit import numbers

from headrace.common import Duration, Types, WatermarkStrategy
from headrace.common.errors import JobCancelledError, StateError
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.connectors.generated.datagen import DataGenerator
from headrace.datastream import ProcessFunction
from headrace.worker.task.state_log import merged_facts

LAST = 1200


class Stamp(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


MONOTONOUS = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp())


class WithWatermark(ProcessFunction):
    def process_element(self, value, ctx):
        yield value, ctx.timer_service().current_watermark()


def slow(value):
    time.sleep(0.001)
    return value


def short(env, strategy=MONOTONOUS):
    """Chained as long as the parallelism is one, then not any more: a collection has no parallel subtasks."""
    values = env.from_collection([-3, -2, -1], Types.LONG()).uid("short")
    timed = values.map(lambda v: v, Types.LONG()).uid("same").assign_timestamps_and_watermarks(strategy).uid("timed")
    return timed.filter(lambda v: True).uid("all")


def long(env, parallelism=1):
    ordered = numbers(env, LAST, parallelism).map(slow, Types.LONG()).uid("slow").set_parallelism(parallelism)
    return ordered.assign_timestamps_and_watermarks(MONOTONOUS).uid("stamped").set_parallelism(parallelism)


def watched(stream):
    return stream.process(WithWatermark()).uid("watched").set_parallelism(1)


class Collected:
    """The rows of a job that runs in the background."""

    def __init__(self, stream):
        self.rows = []
        self.results = stream.execute_and_collect()
        self.thread = threading.Thread(target=self._collect, daemon=True)
        self.thread.start()

    def _collect(self):
        with contextlib.suppress(JobCancelledError):
            for row in self.results:
                self.rows.append(row)

    def wait_for(self, count):
        self.wait_until(lambda rows: len(rows) >= count, f"{count} rows")

    def wait_until(self, reached, what):
        deadline = time.monotonic() + 60
        while not reached(self.rows):
            assert time.monotonic() < deadline, f"waiting for: {what}; seen: {len(self.rows)} rows, {self.rows[-3:]}"
            time.sleep(0.005)

    def rest(self):
        self.thread.join(60)
        assert not self.thread.is_alive(), "the job does not end"
        return self.rows


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (1, 3)])
def test_the_end_of_an_input_is_known_after_a_rescale(make_env, before, after):
    env = make_env(before)
    job = Collected(watched(short(env).union(long(env))))
    job.wait_for(200)
    job.results._job.rescale(after)
    rows = job.rest()
    assert sorted(value for value, _ in rows) == [-3, -2, -1, *range(1, LAST + 1)]
    assert max(watermark for _, watermark in rows) > LAST - 300, "event time goes on"


@pytest.mark.parametrize("parallelism", [1, 2])
def test_the_end_of_an_input_is_known_after_a_restore(make_env, parallelism):
    before, path = stopped(make_env)
    env = make_env(parallelism, execution__state_recovery__path=path)
    after = Collected(watched(short(env).union(long(env)))).rest()
    assert sorted(value for value, _ in before + after) == [-3, -2, -1, *range(1, LAST + 1)]
    assert max(watermark for _, watermark in after) > LAST - 300


def stopped(make_env):
    """The rows of a job that was stopped when one of its inputs had ended, and the savepoint."""
    env = make_env(1)
    job = Collected(watched(short(env).union(long(env))))
    job.wait_for(200)
    path = job.results._job.stop_with_savepoint(False, None)
    return list(job.rest()), path


def test_an_operator_that_is_new_behind_an_ended_source_ends(make_env):
    before, path = stopped(make_env)
    env = make_env(1, execution__state_recovery__path=path)
    again = short(env).map(lambda v: v, Types.LONG()).uid("new").disable_chaining()
    after = Collected(watched(again.union(long(env)))).rest()
    assert sorted(value for value, _ in before + after) == [-3, -2, -1, *range(1, LAST + 1)]
    assert max(watermark for _, watermark in after) > LAST - 300


def test_who_has_seen_the_end_gets_no_new_input(make_env):
    env = make_env(1)
    short(env).disable_chaining().filter(lambda v: False).uid("sunk").print().uid("out")
    job = Collected(watched(long(env)))
    job.wait_for(200)
    path = job.results._job.stop_with_savepoint(False, None)
    job.rest()
    env = make_env(1, execution__state_recovery__path=path)
    more = env.from_source(DataGenerator(slow), WatermarkStrategy.no_watermarks(), "more", Types.LONG())
    short(env).union(more).filter(lambda v: False).uid("sunk").print().uid("out")
    with pytest.raises(StateError, match="had seen the end of all its input"):
        list(watched(long(env)).execute_and_collect())


def test_who_is_idle_says_so_again(make_env):
    env = make_env(1)
    source = DataGenerator(lambda n: -1 - n, records_per_second=0.01)
    strategy = MONOTONOUS.with_idleness(Duration.of_millis(50))
    quiet = env.from_source(source, strategy, "quiet", Types.LONG()).uid("quiet").set_parallelism(1)
    busy = env.from_source(DataGenerator(slow), MONOTONOUS, "busy", Types.LONG()).uid("busy").set_parallelism(1)
    job = Collected(watched(quiet.union(busy)))
    job.wait_for(200)
    job.results._job.rescale(2)
    before = max(value for value, _ in job.rows)
    job.wait_until(lambda rows: rows[-1][1] > before, "event time goes on")
    job.results._job.cancel()
    job.rest()


def test_merged_facts_forget_idleness_and_keep_an_end_that_all_have_seen():
    idle = {"idle": True, "split:a": {"watermark": 5, "idle": True, "timed_out": True}}
    assert merged_facts([idle, {"idle": True}], 0, 2) == {
        "idle": False,
        "split:a": {"watermark": 5, "idle": False, "timed_out": False},
    }
    assert merged_facts([{"ended": True}, {"ended": True}], 0, 1) == {"ended": True}
    assert merged_facts([{"ended": True}, {"ended": False}], 0, 1) == {"ended": False}
    assert merged_facts([{"ended": True}, {}], 0, 1) == {"ended": False}
