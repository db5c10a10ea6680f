"""What metrics and metric groups can do, under the names of PyFlink's module. Implemented by `headrace.metrics.local`.

A function may bring metrics of its own: a subclass of `Counter`, `Meter` or `Histogram`, given with the name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from headrace.compatibility.names import offer_pyflink_names

__all__ = ["Counter", "Distribution", "Gauge", "Histogram", "HistogramStatistics", "Meter", "Metric", "MetricGroup"]


class MetricGroup(ABC):
    """A named place for metrics and further groups: what `RuntimeContext.get_metrics_group` gives.

    >>> from headrace.metrics.local import LocalMetricGroup
    >>> group = LocalMetricGroup().add_group("orders")
    >>> group.counter("late").inc()
    """

    @abstractmethod
    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """Give the group of that name in this one, or with ``extra`` the group of a key (``name``) and its value."""

    @abstractmethod
    def counter(self, name: str, counter: Counter | None = None) -> Counter:
        """Give the counter of that name, or register ``counter``, one of your own."""

    @abstractmethod
    def gauge(self, name: str, obj: Callable[[], Any] | Gauge) -> None:
        """Register a function (or a `Gauge`) that gives the value of a metric when it is asked for."""

    @abstractmethod
    def meter(self, name: str, time_span_in_seconds: int | Meter = 60) -> Meter:
        """Give the meter of that name, or register a meter of your own."""

    @abstractmethod
    def distribution(self, name: str) -> Distribution:
        """Give the distribution of that name."""

    @abstractmethod
    def histogram(self, name: str, histogram: Histogram | None = None) -> Histogram:
        """Give the histogram of that name, or register ``histogram``, one of your own."""


class Metric(ABC):
    """Base of all metrics.

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
        """Give the count."""


class Gauge(Metric, ABC):
    """Gives a value when it is asked for.

    >>> class Answer(Gauge):
    ...     def get_value(self):
    ...         return 42
    >>> Answer().get_value()
    42
    """

    @abstractmethod
    def get_value(self) -> Any:
        """Give the value now: a number or a text."""


class Meter(Metric, ABC):
    """Counts events, to know how many there are in a time.

    >>> from headrace.metrics.local import LocalMeter
    >>> meter = LocalMeter(60)
    >>> meter.mark_event(3)
    >>> meter.get_count()
    3
    """

    @abstractmethod
    def mark_event(self, value: int = 1) -> None:
        """Say that events have happened."""

    @abstractmethod
    def get_count(self) -> int:
        """Give the number of events."""

    def get_rate(self) -> float:
        """Give the events per second. A meter of your own that has no rate to give shows its count only.

        >>> from headrace.metrics.local import LocalMeter
        >>> LocalMeter(60).get_rate()
        0.0
        """
        return float("nan")


class Distribution(Metric, ABC):
    """Keeps how values are distributed: their number, sum, smallest and largest, and quantiles.

    >>> from headrace.metrics.local import LocalDistribution
    >>> distribution = LocalDistribution()
    >>> distribution.update(4)
    >>> distribution.count, distribution.maximum
    (1, 4)
    """

    @abstractmethod
    def update(self, value: Any) -> None:
        """Take a value into account."""


class Histogram(Distribution, ABC):
    """A distribution that one can ask for statistics.

    >>> from headrace.metrics.local import LocalDistribution
    >>> histogram = LocalDistribution()
    >>> for value in range(1, 101):
    ...     histogram.update(value)
    >>> 49 < histogram.get_statistics().get_quantile(0.5) < 52
    True
    """

    @abstractmethod
    def get_count(self) -> int:
        """Give the number of values."""

    @abstractmethod
    def get_statistics(self) -> HistogramStatistics:
        """Give the statistics of the values so far."""


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
        """Give the value below which this part (from 0 to 1) of the values is."""

    @abstractmethod
    def get_mean(self) -> float:
        """Give the mean."""

    @abstractmethod
    def get_std_dev(self) -> float:
        """Give the standard deviation."""

    @abstractmethod
    def get_min(self) -> float:
        """Give the smallest value."""

    @abstractmethod
    def get_max(self) -> float:
        """Give the largest value."""

    @abstractmethod
    def size(self) -> int:
        """Give the number of values."""


offer_pyflink_names(__name__)
