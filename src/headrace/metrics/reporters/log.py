"""The log reporter: writes to Python's log, like Flink's Slf4jReporter."""

from __future__ import annotations

import logging

from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings
from headrace.metrics.values import GaugeValue

_TITLES = {"counter": "Counters", "gauge": "Gauges", "meter": "Meters", "histogram": "Histograms"}


class LogReporter(MetricReporter):
    """Writes all metrics as one entry of the logger `headrace.metrics.report`, level INFO.

    >>> LogReporter().delimiter
    '.'
    """

    delimiter = "."

    def open(self, settings: ReporterSettings) -> None:
        self.delimiter = settings.delimiter

    def report(self, metrics: list[Reported]) -> None:
        lines = ["headrace metrics"]
        for kind, title in _TITLES.items():
            found = sorted(f"{m.identifier(self.delimiter)}: {_text(m)}" for m in metrics if m.kind == kind)
            if found:
                lines += [f"-- {title}", *found]
        logging.getLogger("headrace.metrics.report").info("\n".join(lines))


def _text(metric: Reported) -> str:
    if isinstance(metric.value, GaugeValue):
        return str(metric.value.value)
    numbers = dict(metric.numbers())
    if list(numbers) == ["count"]:
        return str(numbers["count"])
    return ", ".join(f"{part}={number:g}" for part, number in numbers.items())
