"""A real Prometheus scrapes a job on Spark; every query of the Grafana dashboard finds something there."""

import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from http import HTTPStatus
from pathlib import Path

import pytest

from headrace.common import Types, WatermarkStrategy
from headrace.common.watermark_strategy import TimestampAssigner
from headrace.connectors.generated.datagen import DataGenerator

pytestmark = pytest.mark.spark
DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana" / "headrace.json"
CONFIGURATION = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: headrace
  static_configs: [{{targets: ['127.0.0.1:{port}']}}]
"""


class Stamps(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


@pytest.fixture
def prometheus(tmp_path, free_port):
    """Starts a Prometheus that scrapes a port: gives a function that asks its API."""
    started = []

    def start(scraped):
        listening = free_port()
        (tmp_path / "prometheus.yml").write_text(CONFIGURATION.format(port=scraped))
        command = [
            "prometheus",
            f"--config.file={tmp_path / 'prometheus.yml'}",
            f"--storage.tsdb.path={tmp_path / 'd'}",
        ]
        with (tmp_path / "prometheus.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, f"--web.listen-address=127.0.0.1:{listening}"], stdout=log, stderr=subprocess.STDOUT
            )
        started.append(process)

        def ask(path, **parameters):
            url = f"http://127.0.0.1:{listening}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
            try:
                return json.load(urllib.request.urlopen(url, timeout=10))["data"]
            except urllib.error.HTTPError as error:
                if error.code == HTTPStatus.SERVICE_UNAVAILABLE:
                    raise ConnectionError("it listens, and has not begun") from None
                raise AssertionError(f"{parameters}: {error.read().decode()}") from None

        return ask

    yield start
    for process in started:
        process.terminate()
        process.wait(30)


def eventually(look, what, seconds=60):
    """Looks again and again until there is something to see."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if seen := look():
                return seen
        except (urllib.error.URLError, ConnectionError):  # it does not listen yet
            pass
        time.sleep(0.2)
    raise AssertionError(f"{what}: nothing was seen within {seconds} s")


def test_a_prometheus_scrapes_a_job_and_the_dashboard_shows_it(make_env, prometheus, tmp_path, free_port):
    port = free_port()
    env = make_env(
        metrics__reporter__prom__factory__class="org.apache.flink.metrics.prometheus.PrometheusReporterFactory",
        metrics__reporter__prom__port=port,
        metrics__reporter__prom__interval="200 ms",
        metrics__latency__interval="100 ms",
        execution__checkpointing__interval="500 ms",
        execution__checkpointing__dir=tmp_path / "checkpoints",
    )
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamps())
    numbers = env.from_source(DataGenerator(lambda n: n, records_per_second=500), strategy, "numbers", Types.LONG())
    numbers.key_by(lambda n: n % 10).reduce(lambda a, b: b).name("latest").filter(lambda n: False).print()
    job = env.execute_async('a "hostile" name')
    try:
        ask = prometheus(port)
        eventually(lambda: [t for t in ask("targets")["activeTargets"] if t["health"] == "up"], "a healthy target")

        def count():
            found = ask("query", query='flink_taskmanager_job_task_operator_numRecordsIn{operator_name="latest"}')
            return sum(float(series["value"][1]) for series in found["result"]) if len(found["result"]) == 2 else 0

        first = eventually(count, "records of both subtasks")
        eventually(lambda: count() > first, "more records")
        expressions = [
            target["expr"].replace("$job", ".*")
            for panel in json.loads(DASHBOARD.read_text())["panels"]
            for target in panel.get("targets", [])
        ]
        assert len(expressions) > 10
        for expression in expressions:
            eventually(lambda query=expression: ask("query", query=query)["result"], expression)
        (target,) = eventually(
            lambda: [t for t in ask("targets")["activeTargets"] if t["health"] == "up"],
            "a target that is still healthy",
        )
        assert target["lastError"] == ""
        assert ask("label/job_name/values") == ["a__hostile__name"]
    finally:
        job.cancel().result()
