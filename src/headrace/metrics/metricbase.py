"""What metrics and metric groups can do, under the names of PyFlink's module. Implemented by `headrace.metrics.local`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]


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
    def counter(self, name: str) -> Counter:
        """Give the counter of that name."""

    @abstractmethod
    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Register a function that gives the value of a metric when it is asked for."""

    @abstractmethod
    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Give the meter of that name."""

    @abstractmethod
    def distribution(self, name: str) -> Distribution:
        """Give the distribution of that name."""


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


class Distribution(Metric, ABC):
    """Keeps how values are distributed: their number, sum, smallest and largest.

    >>> from headrace.metrics.local import LocalDistribution
    >>> distribution = LocalDistribution()
    >>> distribution.update(4)
    >>> distribution.count, distribution.maximum
    (1, 4)
    """

    @abstractmethod
    def update(self, value: Any) -> None:
        """Take a value into account."""
