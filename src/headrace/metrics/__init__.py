"""Metrics that functions keep; the names are those of `pyflink.metrics`, and some more of Flink's own.

Decides what a metric can do, how groups are nested, how values are put together, and how they are reported. Values live in the
subtask; with the end of each epoch they come to the driver, where the reporters are.
"""

from headrace.compatibility.names import offer_pyflink_names
from headrace.metrics.metricbase import (
    Counter,
    Distribution,
    Gauge,
    Histogram,
    HistogramStatistics,
    Meter,
    Metric,
    MetricGroup,
)

__all__ = [
    "Counter",
    "Distribution",
    "Gauge",
    "Histogram",
    "HistogramStatistics",
    "Meter",
    "Metric",
    "MetricGroup",
]

offer_pyflink_names(__name__)
