"""Metrics whose values are in the memory of a subtask. Operators create them for `get_metrics_group()`.

Decides how a value is stored. `LocalMetricGroup.values` goes to the driver at the end of an epoch, which reports it.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from headrace.errors import TypeMismatchError
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
from headrace.metrics.values import QUANTILES, Count, GaugeValue, Path, Rate, Sketch, Spread, Statistics, Value, flat

_FOLD_AT = 4096
_METER_STEP = 5.0
_LONGEST_TEXT = 1000
_log = logging.getLogger("headrace.metrics")


class LocalCounter(Counter):
    """A count in this process."""

    def __init__(self) -> None:
        self._count = 0

    def inc(self, n: int = 1) -> None:
        self._count += n

    def dec(self, n: int = 1) -> None:
        self._count -= n

    def get_count(self) -> int:
        return self._count


class LocalMeter(Meter):
    """A number of events in this process, and their rate over a span of time or since the start, if that is shorter.

    The clock is read when the rate is requested, never at an event.
    """

    def __init__(self, time_span_in_seconds: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.time_span_in_seconds = time_span_in_seconds
        self._count = 0
        self._clock = clock
        self._marks = deque([(clock(), 0)])

    def mark_event(self, value: int = 1) -> None:
        self._count += value

    def get_count(self) -> int:
        return self._count

    def get_rate(self) -> float:
        now, marks = self._clock(), self._marks
        while len(marks) > 1 and marks[1][0] <= now - self.time_span_in_seconds:
            marks.popleft()
        then, count = marks[0]
        rate = (self._count - count) / (now - then) if now > then else 0.0
        if now - marks[-1][0] >= min(_METER_STEP, self.time_span_in_seconds):
            marks.append((now, self._count))
        return rate


class LocalDistribution(Histogram):
    """Number, sum, minimum and maximum of the values, and a sketch for quantiles."""

    def __init__(self) -> None:
        self.count = 0
        self.total: Any = 0
        self.minimum: Any = None
        self.maximum: Any = None
        self._fresh: list[Any] = []
        self._sketch = Sketch()

    def update(self, value: Any) -> None:
        self.total += value
        self.count += 1
        if self.minimum is None or value < self.minimum:
            self.minimum = value
        if self.maximum is None or value > self.maximum:
            self.maximum = value
        self._fresh.append(value)
        if len(self._fresh) >= _FOLD_AT:
            self.sketch()

    def sketch(self) -> Sketch:
        """Return the sketch of all values."""
        if self._fresh:
            self._sketch.fold(self._fresh)
            self._fresh = []
        return self._sketch

    def get_count(self) -> int:
        return self.count

    def get_statistics(self) -> HistogramStatistics:
        return _SketchStatistics(self.sketch())


class _SketchStatistics(HistogramStatistics):
    def __init__(self, sketch: Sketch) -> None:
        self._sketch = sketch

    def get_quantile(self, quantile: float) -> float:
        return self._sketch.quantile(quantile)

    def get_mean(self) -> float:
        return self._sketch.mean

    def get_std_dev(self) -> float:
        return self._sketch.deviation

    def get_min(self) -> float:
        return float(self._sketch.minimum)

    def get_max(self) -> float:
        return float(self._sketch.maximum)

    def size(self) -> int:
        return self._sketch.count


class LocalMetricGroup(MetricGroup):
    """Metrics and groups by name. A name that exists returns the existing metric or group.

    >>> group = LocalMetricGroup()
    >>> group.add_group("kind", "late").counter("orders").inc(2)
    >>> group.gauge("size", lambda: 7)
    >>> group.snapshot()
    {'size': 7, 'kind.late.orders': 2}
    """

    def __init__(self) -> None:
        self._metrics: dict[str, Metric] = {}
        self._gauges: dict[str, Callable[[], Any]] = {}
        self._groups: dict[str | tuple[str, str], LocalMetricGroup] = {}
        self._broken: set[str] = set()

    def add_group(self, name: str, extra: str | None = None) -> LocalMetricGroup:
        key = str(name) if extra is None else (str(name), str(extra))
        return self._groups.setdefault(key, LocalMetricGroup())

    def counter(self, name: str, counter: Counter | None = None) -> Counter:
        return self._metric(name, Counter, counter, LocalCounter)  # type: ignore[no-any-return]

    def gauge(self, name: str, obj: Callable[[], Any] | Gauge) -> None:
        call = obj.get_value if isinstance(obj, Gauge) else obj
        if not callable(call):
            raise TypeMismatchError("A gauge needs a function without parameters", seen=obj)
        self._gauges[name] = call

    def meter(self, name: str, time_span_in_seconds: int | Meter = 60) -> Meter:
        if isinstance(time_span_in_seconds, int):
            span = time_span_in_seconds
            return self._metric(name, Meter, None, lambda: LocalMeter(span))  # type: ignore[no-any-return]
        return self._metric(name, Meter, time_span_in_seconds, lambda: LocalMeter(60))  # type: ignore[no-any-return]

    def distribution(self, name: str) -> Distribution:
        return self._metric(name, Distribution, None, LocalDistribution)  # type: ignore[no-any-return]

    def histogram(self, name: str, histogram: Histogram | None = None) -> Histogram:
        return self._metric(name, Histogram, histogram, LocalDistribution)  # type: ignore[no-any-return]

    def snapshot(self) -> dict[str, Any]:
        """Return all values by name, prefixed with the names of their groups."""
        return flat(self.values())

    def values(self) -> dict[Path, Value]:
        """Return all values by path. Omit a metric that raises, and log that once."""
        return dict(self.walk(()))

    def walk(self, prefix: Path) -> Iterator[tuple[Path, Value]]:
        """Yield all values below a path."""
        for name, obj in self._gauges.items():
            value = self._read(name, partial(_gauge_value, obj))
            if value is not None:
                yield (*prefix, name), value
        for name, metric in self._metrics.items():
            value = self._read(name, partial(_value_of, metric))
            if value is not None:
                yield (*prefix, name), value
        for part, group in self._groups.items():
            yield from group.walk((*prefix, part))

    def _read(self, name: str, read: Callable[[], Value]) -> Value | None:
        try:
            return read()
        except Exception:
            if name not in self._broken:
                self._broken.add(name)
                _log.warning("headrace: the metric %r cannot be read", name, exc_info=True)
            return None

    def _metric(self, name: str, kind: type[Any], given: Metric | None, make: Callable[[], Metric]) -> Any:
        if given is not None and not isinstance(given, kind):
            raise TypeMismatchError(
                f"The metric {name!r} is not a {kind.__name__}", seen=given, expected=f"a subclass of {kind.__name__}"
            )
        found = self._metrics.get(name)
        if found is None:
            found = self._metrics[name] = make() if given is None else given
        elif given is not None and given is not found:
            _log.warning("headrace: the metric %r exists already; the second one is not reported", name)
            return given
        if not isinstance(found, kind):
            raise TypeMismatchError(
                f"The metric {name!r} has another kind", seen=type(found).__name__, expected=kind.__name__
            )
        return found


def _gauge_value(call: Callable[[], Any]) -> GaugeValue:
    value = call()
    return GaugeValue(value if isinstance(value, (bool, int, float)) else str(value)[:_LONGEST_TEXT])


def _value_of(metric: Metric) -> Value:
    """Return the value to send. Metrics of the user's own classes become plain numbers."""
    if isinstance(metric, Counter):
        return Count(int(metric.get_count()))
    if isinstance(metric, Meter):
        return Rate(int(metric.get_count()), float(metric.get_rate()))
    if isinstance(metric, LocalDistribution):
        return Spread(metric.sketch())
    if isinstance(metric, Histogram):
        s = metric.get_statistics()
        quantiles = tuple(float(s.get_quantile(q)) for q in QUANTILES)
        mean, count = float(s.get_mean()), int(metric.get_count())
        return Statistics(
            count, mean * count, float(s.get_min()), float(s.get_max()), mean, float(s.get_std_dev()), quantiles
        )
    raise TypeMismatchError("This kind of metric has no value", seen=metric)
