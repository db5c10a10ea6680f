"""Metrics of jobs on the local executor: what operators of a chain count, lives of a subtask, latency, lag, flame graphs."""

import gc
import json
import re
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from headrace.common import Configuration, Types, WatermarkStrategy
from headrace.common.errors import ConfigurationError
from headrace.common.job_status import JobStatus
from headrace.connectors.generated.datagen import DataGenerator
from headrace.datastream import OutputTag, RuntimeExecutionMode, StreamExecutionEnvironment
from headrace.datastream.functions import MapFunction, ProcessFunction
from headrace.metrics.values import Count, GaugeValue, Rate
from headrace.monitoring.job_monitor import JobMonitor, shown_names
from headrace.monitoring.subtask_metrics import SubtaskMetrics
from headrace.operators.clock import ManualClock
from headrace.worker.messages import OperatorReport, TaskAck, VertexMeasures, VertexReport
from headrace.worker.process_facts import ProcessFacts

LONG = Types.LONG()


def environment(**settings):
    configuration = Configuration().set_string("headrace.executor", "local")
    for key, value in settings.items():
        configuration.set_string(key.replace("__", ".").replace("_", "-"), value)
    return StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(1)


def finished(env):
    job = env.submit("job")
    job.wait(30)
    return job.view()


def running(env, accept):
    """The job and its first view that is accepted."""
    job = env.submit("job")
    waiter = threading.Event()
    for _ in range(3000):
        view = job.view()
        if accept(view):
            return job, view
        waiter.wait(0.01)
    job.cancel()
    raise AssertionError(view)


class Splits(ProcessFunction):
    odd = OutputTag("odd", LONG)

    def process_element(self, value, ctx):
        yield value
        if value % 2:
            yield self.odd, value


def test_every_operator_of_a_chain_counts_its_own_records():
    env = environment()
    split = env.from_collection(list(range(10)), LONG).map(lambda v: v, LONG).name("first").process(Splits(), LONG)
    split.name("splits").filter(lambda v: v < 4).name("few").print()
    split.get_side_output(Splits.odd).map(lambda v: v, LONG).name("odd ones").print()
    (vertex,) = finished(env).vertices
    counts = {
        name: (vertex.metrics[f"{name}.numRecordsIn"], vertex.metrics[f"{name}.numRecordsOut"])
        for name in ("first", "splits", "few", "odd ones")
    }
    assert counts == {"first": (10, 10), "splits": (10, 15), "few": (10, 4), "odd ones": (5, 5)}
    assert vertex.metrics["numRecordsOut"] == 0


def test_batch_mode_counts_what_comes_at_the_end():
    env = environment()
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    keyed = env.from_collection([1, 2, 3, 4], LONG).key_by(lambda v: v % 2)
    keyed.reduce(lambda a, b: a + b).name("sums").print()
    view = finished(env)
    assert view.mode == "BATCH"
    assert view.vertices[-1].metrics["sums.numRecordsIn"] == 4
    assert view.vertices[-1].metrics["sums.numRecordsOut"] == 2


def test_operators_of_one_name_are_told_apart():
    env = environment()
    env.from_collection([1], LONG).map(lambda v: v, LONG).map(lambda v: v, LONG).filter(lambda v: False).print()
    (vertex,) = env.get_job_graph().vertices.values()
    assert [name for name in shown_names(vertex).values() if "Map" in name] == ["Map", "Map#2"]


class Sleepy(MapFunction):
    def map(self, value):
        self.sleep_a_little()
        return value

    def sleep_a_little(self):
        time.sleep(0.002)


def test_own_time_latency_lag_and_flames():
    env = environment(headrace__epoch__max_records="50", metrics__latency__interval="20 ms")
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamps())
    source = env.from_source(DataGenerator(lambda index: index), strategy, "numbers", LONG)
    source.map(Sleepy(), LONG).name("sleepy").map(lambda v: v, LONG).name("quick").filter(lambda v: False).print()
    job, view = running(env, lambda view: view.vertices[0].metrics.get("numRecordsIn", 0) >= 200)
    try:
        metrics = view.vertices[0].subtasks[0].metrics
        assert metrics["sleepy.busyTimeMsPerSecond"] > 5 * metrics["quick.busyTimeMsPerSecond"]
        assert metrics["busyTimeMsPerSecond"] >= metrics["sleepy.busyTimeMsPerSecond"]
        (count,) = [
            value for name, value in metrics.items() if name.startswith("quick.latency") and name.endswith("_count")
        ]
        assert count > 1
        assert not any(name.startswith("Source: numbers.latency") for name in metrics)
        hour = 3_600_000
        assert hour <= metrics["currentEmitEventTimeLag"] < hour + 60_000
        assert hour <= metrics["watermarkLag"] < hour + 60_000
        assert view.vertices[0].metrics["currentOutputWatermark"] == metrics["currentOutputWatermark"]
        assert view.bottleneck.reason.startswith("user function: 'sleepy'")
        flames = job.flame_graph(view.vertices[0].vertex_id)
        (sleepy,) = [child for child in flames["children"] if child["name"] == "sleepy"]
        assert sleepy["value"] > flames["value"] / 2
        called = [frame["name"] for frame in sleepy["children"][0]["children"]]
        assert "sleep_a_little (test_job_metrics.py:" in called[0]
        with pytest.raises(ConfigurationError, match="no such vertex"):
            job.flame_graph("0" * 32)
    finally:
        job.cancel()
    assert job.flame_graph(view.vertices[0].vertex_id)["value"] >= 0


class Stamps:
    """An hour late."""

    def extract_timestamp(self, value, record_timestamp):
        return int(time.time() * 1000) - 3_600_000


def test_a_slow_client_is_named(monkeypatch):
    monkeypatch.setattr("headrace.driver.collected_output._MOST_UNCOLLECTED", 100)
    env = environment(headrace__epoch__max_records="100")
    numbers = env.from_source(DataGenerator(lambda index: index), WatermarkStrategy.no_watermarks(), "numbers", LONG)
    with numbers.execute_and_collect() as results:
        for _ in range(400):
            next(results)
            if (found := results._job.view().bottleneck) is not None and found.reason.startswith("client"):
                break
            time.sleep(0.01)
        assert found.reason.startswith("client")


def slow_number(index):
    time.sleep(0.01)
    return index


def collected(value):
    gc.collect()
    return value


@pytest.mark.parametrize(
    ("make", "function", "word"),
    [
        (slow_number, lambda v: v, "source: reading 'Source: numbers'"),
        (lambda index: index, collected, "garbage collection"),
    ],
)
def test_a_slow_source_and_garbage_collection_are_named(make, function, word):
    env = environment(headrace__epoch__max_records="3")
    source = env.from_source(DataGenerator(make), WatermarkStrategy.no_watermarks(), "numbers", LONG)
    source.map(function, LONG).filter(lambda v: False).print()
    job, view = running(env, lambda view: view.vertices[0].metrics["numRecordsIn"] >= 30)
    job.cancel()
    assert view.bottleneck.reason.startswith(word)


def test_the_start_of_a_process_is_not_held_against_its_garbage_collector():
    """How long a process collected in the first epoch that it is seen in is not known, so that time says nothing."""
    env = environment()
    env.from_collection([1], LONG).print()
    graph = env.get_job_graph()
    (vertex,) = graph.vertices
    moments = iter([0.0, 0.0, 10.0, 11.0])
    monitor = JobMonitor("j" * 32, {}, ManualClock(), dict, monotonic=lambda: next(moments))
    monitor.begin(graph, 0)
    monitor.entered(JobStatus.RUNNING)
    for collected_seconds in (5.0, 5.4):
        done = VertexReport(vertex, 0, 1, 1, 0, False, None, False, 0.5)
        facts = ProcessFacts(gc_seconds=collected_seconds)
        monitor.epoch_done([TaskAck((0, 0), 1, 0, {}, None, False, (done,), "host", 7, process=facts)])
    assert monitor.bottleneck().reason == "garbage collection: the process of subtask 0 spends 40% of its time in it"


def report(life, seen, records=10):
    values = {("seen",): Count(seen), ("size",): GaugeValue(seen), ("rate",): Rate(seen, 1.0)}
    operator = OperatorReport("o" * 32, records, records, 0.1, 0.0, 5, 5, values)
    measures = VertexMeasures(life=life, operators=(operator,))
    return VertexReport("o" * 32, 0, records, records, 5, False, None, False, 0.1, measures=measures)


def test_a_subtask_that_is_built_anew_goes_on_counting():
    book = SubtaskMetrics(["o" * 32])
    for life, seen in ((1, 10), (1, 20), (2, 10), (3, 10), (3, 20)):
        book.take(report(life, seen), 1.0, 0.1, 0.2)
    operator = book.operators["o" * 32]
    assert operator.metrics() == {("seen",): Count(50), ("size",): GaugeValue(20), ("rate",): Rate(50, 1.0)}
    assert operator.numbers(0)["numRecordsIn"] == 50
    numbers = book.numbers(0)
    assert numbers["busyTimeMsPerSecond"] == pytest.approx(100)
    assert numbers["backPressuredTimeMsPerSecond"] == pytest.approx(200)
    assert numbers["idleTimeMsPerSecond"] == pytest.approx(700)
    assert numbers["accumulateBackPressuredTimeMs"] == 1000


class Seen(MapFunction):
    def open(self, runtime_context):
        self.seen = runtime_context.get_metrics_group().add_group("shop", "eu").counter("seen")

    def map(self, value):
        self.seen.inc()
        return value


def test_prometheus_can_scrape_a_running_job_and_has_all_that_the_dashboard_shows(tmp_path):
    env = environment(
        metrics__reporter__prom__factory__class="org.apache.flink.metrics.prometheus.PrometheusReporterFactory",
        metrics__reporter__prom__port="0",
        metrics__reporter__prom__interval="50 ms",
        metrics__latency__interval="20 ms",
        execution__checkpointing__interval="50 ms",
        execution__checkpointing__dir=str(tmp_path),
        headrace__epoch__max_records="500",
    )
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamps())
    source = env.from_source(DataGenerator(lambda index: index), strategy, "numbers", LONG)
    source.map(Seen(), LONG).name("seen").filter(lambda v: False).print()
    dashboard = (Path(__file__).parents[3] / "docs/grafana/headrace.json").read_text()
    wanted = {
        name for panel in json.loads(dashboard)["panels"] for name in re.findall(r"flink_\w+", str(panel["targets"]))
    }
    assert len(wanted) > 10
    job, _ = running(env, lambda view: view.vertices[0].metrics.get("seen.shop.eu.seen", 0) > 0)
    try:
        reporter = job._parts.reporting._plans[0].reporter
        shown = {}
        for _ in range(500):
            if reporter.port is not None:  # its thread has opened it
                text = urllib.request.urlopen(f"http://127.0.0.1:{reporter.port}/metrics").read().decode()
                shown = {s.name: s for family in text_string_to_metric_families(text) for s in family.samples}
            if wanted <= set(shown):
                break
            time.sleep(0.02)
        assert wanted - set(shown) == set()
        counted = shown["flink_taskmanager_job_task_operator_shop_seen"]
        assert counted.value > 0
        assert counted.labels["shop"] == "eu"
        assert counted.labels["operator_name"] == "seen"
        assert shown["flink_jobmanager_job_numRestarts"].value == 0
        assert shown["flink_taskmanager_Status_Python_Memory_Resident"].value > 1 << 20
    finally:
        job.cancel()
