"""The StatsD reporter: sends gauges `name:value|g` in UDP datagrams."""

from __future__ import annotations

import re

from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings
from headrace.metrics.reporters.graphite import send_datagrams

_NOT_ALLOWED = re.compile(r"[:|@\s]")


class StatsDReporter(MetricReporter):
    """Keys: host, port (8125). As in Flink, all values are gauges.

    >>> issubclass(StatsDReporter, MetricReporter)
    True
    """

    def open(self, settings: ReporterSettings) -> None:
        self._address = settings.text("host"), settings.number("port", 8125)
        self._delimiter = settings.delimiter

    def report(self, metrics: list[Reported]) -> None:
        send_datagrams([line for metric in metrics for line in self._lines(metric)], self._address)

    def _lines(self, metric: Reported) -> list[str]:
        name = _NOT_ALLOWED.sub("-", metric.identifier(self._delimiter))
        lines = []
        for part, number in metric.numbers():
            full = name if metric.kind in ("counter", "gauge") else f"{name}{self._delimiter}{part}"
            if number < 0:  # a sign would change the gauge instead of setting it
                lines.append(f"{full}:0|g\n")
            lines.append(f"{full}:{number:.15g}|g\n")
        return lines
