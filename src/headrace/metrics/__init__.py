"""Metrics that functions keep; the names are those of `pyflink.metrics`.

Decides what a metric can do and how groups are nested. Values live in the subtask; nothing is reported yet.
"""

from headrace.metrics.metricbase import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]
