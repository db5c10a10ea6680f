"""The OpenTelemetry reporter: sends metrics over OTLP with the exporter of the SDK."""

from __future__ import annotations

import time
from typing import Any

from headrace.errors import ConfigurationError, JobExecutionError
from headrace.foundation.extras import need
from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings

_WHAT = "The OpenTelemetry reporter"
_EXPORTERS = {
    "HTTP": "opentelemetry.exporter.otlp.proto.http.metric_exporter",
    "GRPC": "opentelemetry.exporter.otlp.proto.grpc.metric_exporter",
}


class OpenTelemetryReporter(MetricReporter):
    """Keys: exporter.endpoint, exporter.protocol (HTTP, or gRPC with its own package), exporter.timeout, service.name,
    service.version.

    >>> issubclass(OpenTelemetryReporter, MetricReporter)
    True
    """

    def __init__(self) -> None:
        self._data = need("opentelemetry.sdk.metrics.export", "opentelemetry", _WHAT)
        self._began = time.time_ns()

    def open(self, settings: ReporterSettings) -> None:
        protocol = settings.text("exporter.protocol", "HTTP").upper()
        if protocol not in _EXPORTERS:
            raise ConfigurationError("exporter.protocol is unknown", seen=protocol, expected="HTTP or gRPC")
        exporter = need(_EXPORTERS[protocol], "opentelemetry", _WHAT).OTLPMetricExporter
        timeout = settings.seconds("exporter.timeout", "10 s")
        self._exporter = exporter(endpoint=settings.text("exporter.endpoint"), timeout=timeout)
        names = {"service.name": settings.text("service.name", "headrace")}
        if version := settings.text("service.version", ""):
            names["service.version"] = version
        self._resource = need("opentelemetry.sdk.resources", "opentelemetry", _WHAT).Resource.create(names)
        scope = need("opentelemetry.sdk.util.instrumentation", "opentelemetry", _WHAT).InstrumentationScope
        self._scope = scope("headrace.metrics")

    def report(self, metrics: list[Reported]) -> None:
        now = time.time_ns()
        found: dict[tuple[str, bool], list[Any]] = {}
        for metric in metrics:
            name = f"flink.{metric.logical_name('.')}"
            for part, number in metric.numbers():
                full = name if part in ("value", "rate") or metric.kind == "counter" else f"{name}.{part}"
                point = self._data.NumberDataPoint(dict(metric.variables), self._began, now, number)
                found.setdefault((full, metric.kind == "counter"), []).append(point)
        made = [self._metric(name, points, counted) for (name, counted), points in found.items()]
        of_scope = self._data.ScopeMetrics(self._scope, made, "")
        of_resource = self._data.ResourceMetrics(self._resource, [of_scope], "")
        answer = self._exporter.export(self._data.MetricsData([of_resource]))
        if answer is not self._data.MetricExportResult.SUCCESS:
            raise JobExecutionError("OpenTelemetry's exporter could not send the metrics")

    def close(self) -> None:
        self._exporter.shutdown()

    def _metric(self, name: str, points: list[Any], counted: bool) -> Any:
        if counted:
            cumulative = self._data.AggregationTemporality.CUMULATIVE
            data = self._data.Sum(points, cumulative, False)  # counters may decrease
        else:
            data = self._data.Gauge(points)
        return self._data.Metric(name, "", "", data)
