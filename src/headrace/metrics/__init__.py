"""Metrics of functions, with the names of `pyflink.metrics` and some more of Flink's names.

Decides what metrics can do, how groups are nested, and how values are aggregated and reported. Values are in the subtask; at
the end of each epoch they go to the driver, which runs the reporters.
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

__all__ = ["Counter", "Distribution", "Gauge", "Histogram", "HistogramStatistics", "Meter", "Metric", "MetricGroup"]

offer_pyflink_names(__name__)
