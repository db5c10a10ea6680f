"""What a job on Spark says of itself: counts of user metrics, where the time goes, and what holds it up."""

import contextlib
import os
import signal
import threading
import time

import pytest

from headrace.common import RestartStrategies, Types, WatermarkStrategy
from headrace.connectors.generated.datagen import DataGenerator
from headrace.datastream.functions import MapFunction, SinkFunction

pytestmark = pytest.mark.spark
LONG = Types.LONG()
WAIT = threading.Event()


@pytest.fixture
def env(make_env):
    """Small first epochs, because functions here are slow, then long ones, because Spark's own part is not what is tested."""
    return make_env(2, headrace__epoch__first_records=800, headrace__epoch__target_ms=1500)


def numbers(env):
    return env.from_source(DataGenerator(lambda index: index), WatermarkStrategy.no_watermarks(), "numbers", LONG)


@contextlib.contextmanager
def running(env, name):
    job = env.submit(name)
    try:
        yield job
    finally:
        job.cancel()


def eventually(read, accept, seconds=40):
    """The first answer that is accepted; the last one if time is over."""
    deadline = time.monotonic() + seconds
    while not accept(answer := read()) and time.monotonic() < deadline:
        WAIT.wait(0.1)
    return answer


def settled(job):
    """The view once the job has run long enough to have something to say of where it is slow."""

    def accept(view):
        named = view.bottleneck is not None and not view.bottleneck.reason.startswith("epochs")
        return named and view.vertices[-1].metrics["numRecordsIn"] > 1500

    return eventually(job.view, accept)


class Slow(MapFunction):
    def map(self, value):
        time.sleep(0.001)
        return value


class SlowSink(SinkFunction):
    def invoke(self, value, context):
        time.sleep(0.001)


def check_times(view):
    for vertex in view.vertices:
        for subtask in vertex.subtasks:
            spent = [subtask.metrics[f"{kind}TimeMsPerSecond"] for kind in ("busy", "idle", "backPressured")]
            assert sum(spent) == pytest.approx(1000, abs=1)
            assert min(spent) >= 0


def test_a_slow_function_is_named_and_holds_back_what_comes_before_it(env):
    env.get_config().set_latency_tracking_interval(100)
    numbers(env).rebalance().map(Slow(), LONG).name("slow").key_by(lambda v: v % 10).filter(lambda v: False).print()
    with running(env, "slow map") as job:
        view = settled(job)
        source, slow, after = view.vertices
        assert view.bottleneck.vertex_id == slow.vertex_id
        assert view.bottleneck.reason.startswith("user function: 'slow'")
        assert "flame graph" in view.bottleneck.advice
        check_times(view)
        assert source.back_pressure == "high"
        assert (slow.back_pressure, after.back_pressure) == ("ok", "ok")
        assert slow.metrics["busyTimeMsPerSecond"] > 500
        flames = job.flame_graph(slow.vertex_id)
        assert flames["children"][0]["name"] == "slow"
        assert any("map" in frame["name"] for frame in flames["children"][0]["children"])
        latency = eventually(
            lambda: [v for k, v in job.view().vertices[2].metrics.items() if k.endswith("latency_count")], bool
        )
        assert sum(latency) > 0


def test_a_slow_sink_is_named(env):
    numbers(env).rebalance().map(lambda v: v, LONG).key_by(lambda v: v % 10).add_sink(SlowSink()).name("slow sink")
    with running(env, "slow sink") as job:
        view = settled(job)
        assert view.bottleneck.vertex_id == view.vertices[-1].vertex_id
        assert view.bottleneck.reason.startswith("sink: ")
        assert "slow sink" in view.bottleneck.reason
        assert [v.back_pressure for v in view.vertices[:-1]] == ["high"] * (len(view.vertices) - 1)
        check_times(view)


def test_a_hot_key_is_named(env):
    mostly_one = numbers(env).map(lambda v: v if v % 50 == 0 else 7, LONG)
    mostly_one.key_by(lambda v: v).map(Slow(), LONG).filter(lambda v: False).print()
    with running(env, "hot key") as job:
        view = settled(job)
        keyed = view.vertices[-1]
        assert view.bottleneck.vertex_id == keyed.vertex_id
        assert view.bottleneck.reason.startswith("skew of a key group: ")
        busy = [s.metrics["busyTimeMsPerSecond"] for s in keyed.subtasks]
        assert max(busy) > 4 * min(busy)
        assert view.bottleneck.subtask == busy.index(max(busy))


class Counted(MapFunction):
    """Counts in all the ways there are; lets its process die once, and fails once, if it is told to."""

    def __init__(self, marks=None):
        self.marks = marks

    def open(self, runtime_context):
        group = runtime_context.get_metrics_group()
        self.seen = group.counter("seen")
        self.even = group.add_group("kind", "even").counter("seen")
        self.spread = group.distribution("spread")
        self.rate = group.meter("rate")

    def map(self, value):
        if self.marks is not None and value == 3000:
            for what in ("kill", "fail"):
                mark = os.path.join(self.marks, what)
                if not os.path.exists(mark):
                    open(mark, "w").close()
                    if what == "kill":
                        os.kill(os.getpid(), signal.SIGKILL)
                    raise ValueError("once")
        self.seen.inc()
        self.rate.mark_event()
        self.spread.update(value)
        if value % 2 == 0:
            self.even.inc()
        return value


def check_counts(view, records):
    mapped = next(v for v in view.vertices if "counted" in v.name)
    assert mapped.metrics["numRecordsIn"] == records
    assert mapped.metrics["counted.seen"] == records
    assert mapped.metrics["counted.kind.even.seen"] == records // 2
    assert mapped.metrics["counted.rate_count"] == records
    assert mapped.metrics["counted.spread_count"] == records
    assert mapped.metrics["counted.spread_max"] == records - 1
    assert mapped.metrics["counted.spread_median"] == pytest.approx(records / 2, rel=0.02)
    assert sum(s.metrics["counted.seen"] for s in mapped.subtasks) == records
    assert {s.metrics["counted.numRecordsOut"] for s in mapped.subtasks} <= set(range(1, records))


def test_metrics_of_workers_count_every_record_once_even_if_a_worker_dies(env, tmp_path):
    env.set_restart_strategy(RestartStrategies.fixed_delay_restart(2, 10))
    source = env.from_collection(list(range(6000)), LONG).rebalance()
    source.map(Counted(str(tmp_path)), LONG).name("counted").filter(lambda v: False).print()
    job = env.submit("counted")
    job.wait(60)
    assert sorted(os.listdir(tmp_path)) == ["fail", "kill"]
    view = job.view()
    check_counts(view, 6000)
    assert view.metrics["numRestarts"] == 1
    assert len(view.exceptions) == 1
    assert view.exceptions[0].location.rpartition(":")[2].isdigit()
