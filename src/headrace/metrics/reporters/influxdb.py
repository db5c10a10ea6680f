"""The InfluxDB reporter: writes the line protocol over HTTP."""

from __future__ import annotations

import base64
import time
import urllib.parse
import urllib.request

from headrace.errors import ConfigurationError
from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings
from headrace.metrics.values import GaugeValue


class InfluxdbReporter(MetricReporter):
    """Keys: scheme, host, port (8086), db, username, password, retentionPolicy, consistency, writeTimeout.

    >>> issubclass(InfluxdbReporter, MetricReporter)
    True
    """

    def open(self, settings: ReporterSettings) -> None:
        scheme = settings.text("scheme", "http")
        if scheme not in ("http", "https"):
            raise ConfigurationError("InfluxDB needs http or https", seen=scheme)
        query = {"db": settings.text("db"), "precision": "ms"}
        if rp := settings.text("retentionPolicy", ""):
            query["rp"] = rp
        if consistency := settings.text("consistency", ""):
            query["consistency"] = consistency.lower()
        where = f"{settings.text('host')}:{settings.number('port', 8086)}"
        self._url = f"{scheme}://{where}/write?{urllib.parse.urlencode(query)}"
        self._timeout = settings.number("writeTimeout", 10_000) / 1000
        self._headers = {"Content-Type": "text/plain; charset=utf-8"}
        if user := settings.text("username", ""):
            secret = base64.b64encode(f"{user}:{settings.text('password', '')}".encode()).decode()
            self._headers["Authorization"] = f"Basic {secret}"

    def report(self, metrics: list[Reported]) -> None:
        now = time.time_ns() // 1_000_000
        body = "".join(line for metric in metrics if (line := point(metric, now)))
        request = urllib.request.Request(self._url, body.encode(), self._headers, method="POST")  # noqa: S310 - checked
        with urllib.request.urlopen(request, timeout=self._timeout) as answer:  # noqa: S310
            answer.read()


def point(metric: Reported, now: int) -> str:
    r"""Return a metric as a line; an empty string if its value cannot be written.

    >>> from headrace.metrics.values import Count
    >>> point(Reported((), ("job",), ("late",), {"task_name": "a b"}, Count(3)), 5)
    'job_late,task_name=a\\ b count=3 5\n'
    """
    value = metric.value
    if isinstance(value, GaugeValue) and isinstance(value.value, str):
        quoted = value.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        fields = f'value="{quoted}"'
    else:
        fields = ",".join(f"{part}={number:.15g}" for part, number in metric.numbers() if abs(number) != float("inf"))
    if not fields or ("nan" in fields and not isinstance(value, GaugeValue)):
        return ""
    tags = "".join(f",{_escaped(k)}={_escaped(v)}" for k, v in sorted(metric.variables.items()) if v)
    return f"{_escaped(metric.logical_name('_'), '')}{tags} {fields} {now}\n"


def _escaped(text: str, more: str = "=") -> str:
    for character in "\\, " + more:
        text = text.replace(character, "\\" + character)
    return text.replace("\n", "\\ ")
