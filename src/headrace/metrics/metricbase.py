"""The interfaces of metrics and metric groups, with the names of PyFlink's module. `headrace.metrics.local` implements them.

A function may register its own metrics: subclasses of `Counter`, `Meter` or `Histogram`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["Counter", "Distribution", "Gauge", "Histogram", "HistogramStatistics", "Meter", "Metric", "MetricGroup"]
offer_pyflink_names(__name__)


class MetricGroup(ABC):
    """Contains metrics and other groups. `RuntimeContext.get_metrics_group` returns one.

    >>> from headrace.metrics.local import LocalMetricGroup
    >>> group = LocalMetricGroup().add_group("orders")
    >>> group.counter("late").inc()
    """

    @abstractmethod
    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Return the subgroup with this name, or with ``extra`` the subgroup of a key (``name``) and its value."""

    @abstractmethod
    def counter(self, name: str, counter: Counter | None = None) -> Counter:
        """Return the counter with this name, or register your own ``counter``."""

    @abstractmethod
    def gauge(self, name: str, obj: Callable[[], Any] | Gauge) -> None:
        """Register a function, or a `Gauge`, that returns the current value of a metric."""

    @abstractmethod
    def meter(self, name: str, time_span_in_seconds: int | Meter = 60) -> Meter:
        """Return the meter with this name, or register your own meter."""

    @abstractmethod
    def distribution(self, name: str) -> Distribution:
        """Return the distribution with this name."""

    @abstractmethod
    def histogram(self, name: str, histogram: Histogram | None = None) -> Histogram:
        """Return the histogram with this name, or register your own ``histogram``."""


class Metric(ABC):
    """Base class of all metrics.

    >>> issubclass(Counter, Metric)
    True
    """


class Counter(Metric, ABC):
    """Counts up and down.

    >>> from headrace.metrics.local import LocalCounter
    >>> counter = LocalCounter()
    >>> counter.inc(3)
    >>> counter.dec()
    >>> counter.get_count()
    2
    """

    @abstractmethod
    def inc(self, n: int = 1) -> None:
        """Count up."""

    @abstractmethod
    def dec(self, n: int = 1) -> None:
        """Count down."""

    @abstractmethod
    def get_count(self) -> int:
        """Return the count."""


class Gauge(Metric, ABC):
    """Returns a value on request.

    >>> class Answer(Gauge):
    ...     def get_value(self):
    ...         return 42
    >>> Answer().get_value()
    42
    """

    @abstractmethod
    def get_value(self) -> Any:
        """Return the current value: a number or a string."""


class Meter(Metric, ABC):
    """Counts events and measures their rate.

    >>> from headrace.metrics.local import LocalMeter
    >>> meter = LocalMeter(60)
    >>> meter.mark_event(3)
    >>> meter.get_count()
    3
    """

    @abstractmethod
    def mark_event(self, value: int = 1) -> None:
        """Count events."""

    @abstractmethod
    def get_count(self) -> int:
        """Return the number of events."""

    def get_rate(self) -> float:
        """Return the events per second. Your own meter need not implement this; it then shows only its count.

        >>> from headrace.metrics.local import LocalMeter
        >>> LocalMeter(60).get_rate()
        0.0
        """
        return float("nan")


class Distribution(Metric, ABC):
    """Measures how values are distributed: number, sum, minimum, maximum and quantiles.

    >>> from headrace.metrics.local import LocalDistribution
    >>> distribution = LocalDistribution()
    >>> distribution.update(4)
    >>> distribution.count, distribution.maximum
    (1, 4)
    """

    @abstractmethod
    def update(self, value: Any) -> None:
        """Add a value."""


class Histogram(Distribution, ABC):
    """A distribution that provides statistics.

    >>> from headrace.metrics.local import LocalDistribution
    >>> histogram = LocalDistribution()
    >>> for value in range(1, 101):
    ...     histogram.update(value)
    >>> 49 < histogram.get_statistics().get_quantile(0.5) < 52
    True
    """

    @abstractmethod
    def get_count(self) -> int:
        """Return the number of values."""

    @abstractmethod
    def get_statistics(self) -> HistogramStatistics:
        """Return the statistics of the values so far."""


class HistogramStatistics(ABC):
    """Statistics of a histogram.

    >>> from headrace.metrics.local import LocalDistribution
    >>> histogram = LocalDistribution()
    >>> histogram.update(2)
    >>> histogram.update(4)
    >>> statistics = histogram.get_statistics()
    >>> statistics.get_mean(), statistics.get_max(), statistics.size()
    (3.0, 4.0, 2)
    """

    @abstractmethod
    def get_quantile(self, quantile: float) -> float:
        """Return the value below which this fraction (from 0 to 1) of the values is."""

    @abstractmethod
    def get_mean(self) -> float:
        """Return the mean."""

    @abstractmethod
    def get_std_dev(self) -> float:
        """Return the standard deviation."""

    @abstractmethod
    def get_min(self) -> float:
        """Return the minimum."""

    @abstractmethod
    def get_max(self) -> float:
        """Return the maximum."""

    @abstractmethod
    def size(self) -> int:
        """Return the number of values."""
