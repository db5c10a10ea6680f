"""The reporter that sends gauges to StatsD: `name:value|g` in UDP datagrams."""

from __future__ import annotations

import re
import socket

from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings
from headrace.metrics.reporters.graphite import packed

__all__ = ["StatsDReporter"]

_NOT_ALLOWED = re.compile(r"[:|@\s]")


class StatsDReporter(MetricReporter):
    """Keys: host, port (8125). All values are gauges, as Flink sends them.

    >>> issubclass(StatsDReporter, MetricReporter)
    True
    """

    def open(self, settings: ReporterSettings) -> None:
        """Read where values go."""
        self._address = settings.text("host"), settings.number("port", 8125)
        self._delimiter = settings.delimiter

    def report(self, metrics: list[Reported]) -> None:
        """Send all numbers."""
        lines = [line for metric in metrics for line in self._lines(metric)]
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for datagram in packed(lines):
                sender.sendto(datagram, self._address)

    def _lines(self, metric: Reported) -> list[str]:
        name = _NOT_ALLOWED.sub("-", metric.identifier(self._delimiter))
        lines = []
        for part, number in metric.numbers():
            full = name if metric.kind in ("counter", "gauge") else f"{name}{self._delimiter}{part}"
            if number < 0:  # a sign would mean a change to the gauge
                lines.append(f"{full}:0|g\n")
            lines.append(f"{full}:{number:.15g}|g\n")
        return lines
