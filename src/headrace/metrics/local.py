"""Metrics whose values live in the subtask that keeps them. Made by the operators for `get_metrics_group()`.

Decides how a value is kept; `snapshot` is what a reporter would read. Never reports anything itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from headrace.common.errors import TypeMismatchError
from headrace.metrics.metricbase import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = ["LocalCounter", "LocalDistribution", "LocalMeter", "LocalMetricGroup"]

M = TypeVar("M", bound=Metric)


class LocalCounter(Counter):
    """A count in this process."""

    def __init__(self) -> None:
        """Start at zero."""
        self._count = 0

    def inc(self, n: int = 1) -> None:
        """Count up."""
        self._count += n

    def dec(self, n: int = 1) -> None:
        """Count down."""
        self._count -= n

    def get_count(self) -> int:
        """Give the count."""
        return self._count


class LocalMeter(Meter):
    """A number of events in this process, and the span of time over which their rate is wanted."""

    def __init__(self, time_span_in_seconds: int) -> None:
        """Start with no events."""
        self.time_span_in_seconds = time_span_in_seconds
        self._count = 0

    def mark_event(self, value: int = 1) -> None:
        """Say that events have happened."""
        self._count += value

    def get_count(self) -> int:
        """Give the number of events."""
        return self._count


class LocalDistribution(Distribution):
    """The number, sum, smallest and largest of the values."""

    def __init__(self) -> None:
        """Start with no values."""
        self.count = 0
        self.total: Any = 0
        self.minimum: Any = None
        self.maximum: Any = None

    def update(self, value: Any) -> None:
        """Take a value into account."""
        self.count += 1
        self.total += value
        if self.minimum is None or value < self.minimum:
            self.minimum = value
        if self.maximum is None or value > self.maximum:
            self.maximum = value


class LocalMetricGroup(MetricGroup):
    """Metrics and groups by name. Asking for a name again gives what is there.

    >>> group = LocalMetricGroup()
    >>> group.add_group("kind", "late").counter("orders").inc(2)
    >>> group.gauge("size", lambda: 7)
    >>> group.snapshot()
    {'size': 7, 'kind.late.orders': 2}
    """

    def __init__(self) -> None:
        """Start empty."""
        self._metrics: dict[str, Metric] = {}
        self._gauges: dict[str, Callable[[], Any]] = {}
        self._groups: dict[str, LocalMetricGroup] = {}

    def add_group(self, name: str, extra: str | None = None) -> LocalMetricGroup:
        """Give the group of that name in this one, or with ``extra`` the group of a key (``name``) and its value."""
        group = self._groups.setdefault(name, LocalMetricGroup())
        return group if extra is None else group.add_group(extra)

    def counter(self, name: str) -> Counter:
        """Give the counter of that name."""
        return self._metric(name, LocalCounter, LocalCounter)

    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Register a function that gives the value of a metric when it is asked for."""
        if not callable(obj):
            raise TypeMismatchError("A gauge takes a function without parameters", seen=obj)
        self._gauges[name] = obj

    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Give the meter of that name."""
        return self._metric(name, LocalMeter, lambda: LocalMeter(time_span_in_seconds))

    def distribution(self, name: str) -> Distribution:
        """Give the distribution of that name."""
        return self._metric(name, LocalDistribution, LocalDistribution)

    def snapshot(self) -> dict[str, Any]:
        """Give all values by name, those of groups with the groups' names before them."""
        values: dict[str, Any] = {name: obj() for name, obj in self._gauges.items()}
        for name, metric in self._metrics.items():
            if isinstance(metric, LocalDistribution):
                kept = {"count": metric.count, "sum": metric.total, "min": metric.minimum, "max": metric.maximum}
                values.update({f"{name}.{part}": value for part, value in kept.items()})
            elif isinstance(metric, (Counter, Meter)):
                values[name] = metric.get_count()
        for name, group in self._groups.items():
            values.update({f"{name}.{inner}": value for inner, value in group.snapshot().items()})
        return values

    def _metric(self, name: str, kind: type[M], make: Callable[[], M]) -> M:
        found = self._metrics.get(name)
        if found is None:
            found = self._metrics[name] = make()
        if not isinstance(found, kind):
            raise TypeMismatchError(
                f"The metric {name!r} has another kind", seen=type(found).__name__, expected=kind.__name__
            )
        return found
