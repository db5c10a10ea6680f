"""Reporters against real receivers of their protocols: the parser of prometheus-client, sockets, HTTP, OTLP's own messages."""

import logging
import socket
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from headrace.common.errors import ConfigurationError, MissingExtraError
from headrace.metrics.local import LocalDistribution
from headrace.metrics.reporters import MetricReporter
from headrace.metrics.reporters.settings import Reporting, read_reporters
from headrace.metrics.scope import JOB, OPERATOR, Sample, Scope
from headrace.metrics.values import Count, GaugeValue, Rate, Spread


@pytest.fixture
def samples():
    operator = Scope(
        OPERATOR,
        {
            "host": "h",
            "tm_id": "h-1",
            "job_name": "my job",
            "operator_name": 'a "quoted" {name}\n',
            "subtask_index": "0",
        },
    )
    spread = LocalDistribution()
    for value in range(1, 101):
        spread.update(value)
    return [
        Sample(Scope(JOB, {"host": "h", "job_name": "my job"}), ("numRestarts",), GaugeValue(2)),
        Sample(operator, ("numRecordsIn",), Count(7)),
        Sample(operator, ("orders", ("country", "de"), "late"), Count(-3)),
        Sample(operator, ("clicks",), Rate(60, 1.5)),
        Sample(operator, ("size",), Spread(spread.sketch())),
        Sample(operator, ("mood",), GaugeValue("good")),
    ]


@pytest.fixture
def report(samples):
    """Lets reporters of a configuration report once."""

    def run(**keys):
        configuration = {f"metrics.reporter.r.{key.replace('__', '.')}": str(value) for key, value in keys.items()}
        plan = read_reporters(configuration)[0]
        plan.reporter.open(plan.settings)
        plan.reporter.report(plan.metrics(samples))
        return plan.reporter

    return run


@pytest.fixture
def web():
    """A web server that keeps what is sent to it."""
    received = []

    class Keep(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            received.append((self.command, self.path, dict(self.headers), body))
            self.send_response(200 if "otlp" in self.path else 202)
            self.end_headers()

        do_PUT = do_DELETE = do_POST

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Keep)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.received = received
    yield server
    server.shutdown()
    server.server_close()


def parsed(text):
    return {s.name + str(sorted(s.labels.items())): s for f in text_string_to_metric_families(text) for s in f.samples}


def found(samples, name, **labels):
    matching = [s for s in samples.values() if s.name == name and labels.items() <= s.labels.items()]
    assert len(matching) == 1, (name, labels, sorted(samples))
    return matching[0].value


def test_prometheus_is_scraped_and_parsed(report):
    reporter = report(factory__class="org.apache.flink.metrics.prometheus.PrometheusReporterFactory", port=0)
    try:
        text = urllib.request.urlopen(f"http://127.0.0.1:{reporter.port}/metrics").read().decode()
    finally:
        reporter.close()
    shown = parsed(text)
    prefix = "flink_taskmanager_job_task_operator_"
    assert found(shown, "flink_jobmanager_job_numRestarts", job_name="my_job") == 2
    assert found(shown, prefix + "numRecordsIn", operator_name="a__quoted___name__") == 7
    assert found(shown, prefix + "orders_country_late", country="de") == -3
    assert found(shown, prefix + "clicks") == 1.5
    assert found(shown, prefix + "size", quantile="0.99") == pytest.approx(99, rel=0.011)
    assert found(shown, prefix + "size_count") == 100
    assert not any("mood" in name for name in shown)


def test_prometheus_escapes_what_is_not_replaced(report):
    reporter = report(factory__class="prometheus", port=0, filterLabelValueCharacters="false")
    try:
        text = urllib.request.urlopen(f"http://127.0.0.1:{reporter.port}/metrics").read().decode()
    finally:
        reporter.close()
    name = "flink_taskmanager_job_task_operator_numRecordsIn"
    assert found(parsed(text), name, operator_name='a "quoted" {name}\n') == 7


def test_a_push_gateway_gets_all_values_and_is_cleared(report, web):
    url = f"http://127.0.0.1:{web.server_port}"
    keys = {"jobName": "j", "randomJobNameSuffix": "false", "groupingKey": "a=b"}
    reporter = report(
        factory__class="org.apache.flink.metrics.prometheus.PrometheusPushGatewayReporterFactory", hostUrl=url, **keys
    )
    reporter.close()
    (put, path, _, body), (delete, *_) = web.received
    assert (put, path, delete) == ("PUT", "/metrics/job/j/a/b", "DELETE")
    assert found(parsed(body.decode()), "flink_taskmanager_job_task_operator_clicks") == 1.5


def test_graphite_gets_lines(report):
    with socket.create_server(("127.0.0.1", 0)) as server:
        report(factory__class="graphite", host="127.0.0.1", port=server.getsockname()[1], prefix="p")
        connection, _ = server.accept()
        with connection:
            lines = b"".join(iter(lambda: connection.recv(65536), b"")).decode().splitlines()
    values = {line.split()[0]: float(line.split()[1]) for line in lines}
    assert all(abs(int(line.split()[2]) - time.time()) < 60 for line in lines)
    assert values["p.h.jobmanager.my-job.numRestarts"] == 2
    scope = "p.h.taskmanager.h-1.my-job.a-quoted-name-.0"
    assert values[f"{scope}.orders.country.de.late"] == -3
    assert values[f"{scope}.clicks.rate"] == 1.5
    assert values[f"{scope}.size.p99"] == pytest.approx(99, rel=0.011)


def test_statsd_gets_gauges(report):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(5)
        report(factory__class="statsd", host="127.0.0.1", port=server.getsockname()[1], scope__delimiter="/")
        text = ""
        while "mean" not in text or "numRestarts" not in text:
            text += server.recv(65536).decode()
    lines = text.splitlines()
    assert "h/jobmanager/my-job/numRestarts:2|g" in lines
    late = [line.rpartition("/")[2] for line in lines if "late" in line]
    assert late == ["late:0|g", "late:-3|g"]
    assert all(line.count(":") == 1 and line.endswith("|g") for line in lines)


def test_influxdb_gets_points(report, web):
    keys = {"db": "d b", "username": "u", "password": "p", "retentionPolicy": "week"}
    report(factory__class="influxdb", host="127.0.0.1", port=web.server_port, **keys)
    ((_, path, headers, body),) = web.received
    assert path == "/write?db=d+b&precision=ms&rp=week"
    assert headers["Authorization"] == "Basic dTpw"
    lines = body.decode().splitlines()
    assert len(lines) == 6
    assert lines[0].startswith("jobmanager_job_numRestarts,host=h,job_name=my\\ job value=2 ")
    assert any(" count=60,rate=1.5 " in line for line in lines)
    assert any(line.startswith("taskmanager_job_task_operator_mood,") and ' value="good" ' in line for line in lines)


def test_opentelemetry_gets_otlp(report, web):
    endpoint = f"http://127.0.0.1:{web.server_port}/otlp"
    reporter = report(factory__class="opentelemetry", exporter__endpoint=endpoint, service__name="s")
    reporter.close()
    message = ExportMetricsServiceRequest.FromString(web.received[0][3])
    (resource,) = message.resource_metrics
    assert any(a.key == "service.name" and a.value.string_value == "s" for a in resource.resource.attributes)
    metrics = {m.name: m for m in resource.scope_metrics[0].metrics}
    late = metrics["flink.taskmanager.job.task.operator.orders.country.late"].sum.data_points[0]
    assert late.as_double == -3 or late.as_int == -3
    assert any(a.key == "country" and a.value.string_value == "de" for a in late.attributes)
    assert metrics["flink.jobmanager.job.numRestarts"].gauge.data_points[0].as_double == 2


def test_the_log_gets_everything(report, caplog):
    with caplog.at_level(logging.INFO, "headrace.metrics.report"):
        report(**{"class": "org.apache.flink.metrics.slf4j.Slf4jReporter"})
    assert "h.jobmanager.my job.numRestarts: 2" in caplog.text
    assert "mood: good" in caplog.text


class Kept(MetricReporter):
    """A reporter of the user's own."""

    fails = 0

    def open(self, settings):
        self.settings, self.reports, self.closed = settings, [], False

    def report(self, metrics):
        if self.fails:
            type(self).fails -= 1
            raise OSError("no route to nowhere")
        self.reports.append([m.identifier(".") for m in metrics])

    def close(self):
        self.closed = True


class Closed(Kept):
    """One that cannot be opened."""

    def open(self, settings):
        raise OSError("closed")


def own(name, cls, **keys):
    values = {"factory.class": f"{__name__}.{cls.__name__}", "interval": "20 ms", **keys}
    return {f"metrics.reporter.{name}.{key}": value for key, value in values.items()}


def test_what_fails_in_one_reporter_reaches_neither_job_nor_the_others(samples, caplog, monkeypatch):
    monkeypatch.setattr(Kept, "fails", 2)
    plans = read_reporters({**own("good", Kept), **own("bad", Closed)})
    reporting = Reporting(plans)
    reporting.start(lambda: samples)
    good = next(plan.reporter for plan in plans if plan.settings.name == "good")
    waiter = threading.Event()
    for _ in range(500):
        if getattr(good, "reports", None):
            break
        waiter.wait(0.01)
    reporting.close()
    assert good.closed
    assert len(good.reports[0]) == len(samples)
    assert caplog.text.count("fails: OSError: no route to nowhere") == 1
    assert "cannot open the metrics reporter 'bad'" in caplog.text


def test_filters_and_variables(samples):
    keys = {
        "filter.includes": "taskmanager*:*:counter,meter;*:numRestarts",
        "filter.excludes": "*.orders*:late",
        "scope.variables.excludes": "tm_id;<operator_name>",
        "scope.variables.additional": "region:eu,team:a",
    }
    plan = read_reporters({**own("r", Kept, **keys), "metrics.scope.operator": "<job_name>"})[0]
    metrics = plan.metrics(samples)
    assert [m.identifier(".") for m in metrics] == [
        "h.jobmanager.my job.numRestarts",
        "my job.numRecordsIn",
        "my job.clicks",
    ]
    assert metrics[1].variables == {
        "host": "h",
        "job_name": "my job",
        "subtask_index": "0",
        "region": "eu",
        "team": "a",
    }


def test_only_the_listed_reporters_are_made():
    configuration = {**own("a", Kept), **own("b", Kept), "metrics.reporters": "b"}
    assert [plan.settings.name for plan in read_reporters(configuration)] == ["b"]


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"metrics.reporters": "x"}, "has no class"),
        ({"metrics.reporter.x.class": "no.such.Module"}, "cannot be loaded"),
        ({"metrics.reporter.x.class": "collections.OrderedDict"}, "is not a reporter"),
        ({"metrics.reporter.x.class": "org.apache.flink.metrics.datadog.DatadogHttpReporterFactory"}, "does not have"),
        ({"metrics.reporter.x.class": "log", "metrics.reporter.x.interval": "0 s"}, "greater than 0"),
    ],
)
def test_mistakes_in_the_configuration_are_said_before_the_job_starts(keys, text):
    with pytest.raises(ConfigurationError, match=text):
        read_reporters(keys)


@pytest.mark.parametrize(
    ("kind", "package"), [("prometheus", "prometheus_client"), ("opentelemetry", "opentelemetry.sdk")]
)
def test_a_missing_package_is_named_with_its_extra(kind, package, monkeypatch):
    import importlib
    import sys

    for name in [m for m in sys.modules if m.startswith(package)]:
        monkeypatch.delitem(sys.modules, name)
    real = importlib.import_module

    def without(name, *args):
        if name.startswith(package):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *args)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(MissingExtraError, match=rf"headrace\[{kind}\]"):
        read_reporters({"metrics.reporter.x.class": kind})
