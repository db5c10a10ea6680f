"""The JMX reporter: an MBean for each metric in the JVM of the driver, with Flink's names.

JConsole, VisualVM and agents in the JVM can read them. With a `port`, they are also served on 127.0.0.1. The values are
those of the last interval.
"""

from __future__ import annotations

import re
from typing import Any

from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings
from headrace.metrics.values import Count, GaugeValue, Rate, parts_of
from headrace.spark.jmx_server import JMXServer
from headrace.spark.mbeans import MBeans, Number, driver_gateway

_DOMAIN = "org.apache.flink."
_REMOVED = re.compile(r'[<>"]')
_REPLACED = re.compile(r"[,=;:?'*\n]")
_HISTOGRAM = {
    "count": "Count",
    "mean": "Mean",
    "stddev": "StdDev",
    "max": "Max",
    "min": "Min",
    "median": "Median",
    "p75": "75thPercentile",
    "p95": "95thPercentile",
    "p98": "98thPercentile",
    "p99": "99thPercentile",
    "p999": "999thPercentile",
}


class JMXReporter(MetricReporter):
    """Key: port (a number, or a range such as 8789-8799 for the first free one; without it, nothing is served).

    >>> issubclass(JMXReporter, MetricReporter)
    True
    """

    port: int | None = None
    """Where MBeans are served; None if no port is set."""
    _server: JMXServer | None = None

    def open(self, settings: ReporterSettings) -> None:
        gateway = driver_gateway()
        self._beans = MBeans(gateway)
        if settings.text("port", ""):
            self._server = JMXServer(gateway, self._beans.server, settings.ports("port"))
            self.port = self._server.port

    def report(self, metrics: list[Reported]) -> None:
        self._beans.show({_object_name(metric): _attributes(metric) for metric in metrics})

    def close(self) -> None:
        self._beans.show({})
        server, self._server = self._server, None
        if server is not None:
            server.stop()


def _object_name(metric: Reported) -> str:
    """Return Flink's name of the MBean: the name without variables as domain, the variables as keys.

    >>> _object_name(Reported((), ("taskmanager", "job"), ("late",), {"host": "h", "job_name": "a: b"}, Count(1)))
    'org.apache.flink.taskmanager.job.late:host=h,job_name=a-_b'
    """
    keys = ",".join(f"{_allowed(name)}={_allowed(value)}" for name, value in metric.variables.items())
    return f"{_DOMAIN}{_allowed(metric.logical_name('.'))}:{keys or 'of=all'}"


def _allowed(text: str) -> str:
    return _REPLACED.sub("-", _REMOVED.sub("", text)).replace(" ", "_")


def _attributes(metric: Reported) -> dict[str, Number | str]:
    value: Any = metric.value
    if isinstance(value, GaugeValue):
        return {"Value": value.value}
    if isinstance(value, Count):
        return {"Count": value.number}
    if isinstance(value, Rate):
        return {"Count": value.number, "Rate": float(value.rate)}
    return {_HISTOGRAM[part]: number for part, number in parts_of(value).items()}
