"""Values of metrics on their way from subtasks to the driver, and how to combine those of a rebuilt subtask.

The path of a metric is its groups and its name: `("orders", ("country", "de"), "late")` is the metric `late` in the group
`country=de` in the group `orders`.

A rebuilt subtask (its process died, or an epoch was retried) counts from zero: `continued` adds what it counted before. A job
that restarts after a failure counts from zero, as in Flink.

The quantiles of a distribution are accurate to 1 %. Their library is imported with the first value: most jobs never need it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

ACCURACY = 0.01
_BINS = 2048


class Sketch:
    """The distribution of numbers.

    >>> one, other = Sketch(), Sketch()
    >>> one.fold(range(50))
    >>> other.fold(range(50, 101))
    >>> both = one.merged(other)
    >>> both.count, both.maximum, 49 <= both.quantile(0.5) <= 51
    (101, 100, True)
    """

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.minimum = math.nan
        self.maximum = math.nan
        self.squares = 0.0
        self.bins: Any = None

    def fold(self, numbers: Iterable[float]) -> None:
        """Add numbers; ignore those that are not finite."""
        if self.bins is None:
            from ddsketch.ddsketch import LogCollapsingLowestDenseDDSketch

            self.bins = LogCollapsingLowestDenseDDSketch(ACCURACY, _BINS)
        add = self.bins.add
        for number, times in Counter(numbers).items():
            if math.isfinite(number):
                add(number, times)
                self.count += times
                self.total += number * times
                self.squares += number * number * times
                self.minimum = number if not number >= self.minimum else self.minimum
                self.maximum = number if not number <= self.maximum else self.maximum

    def merged(self, other: Sketch) -> Sketch:
        """Return a new sketch of the numbers of both."""
        both = Sketch()
        both.fold(())
        for one in (self, other):
            if one.count:
                both.bins.merge(one.bins)
                both.count += one.count
                both.total += one.total
                both.squares += one.squares
                both.minimum = one.minimum if not one.minimum >= both.minimum else both.minimum
                both.maximum = one.maximum if not one.maximum <= both.maximum else both.maximum
        return both

    def quantile(self, quantile: float) -> float:
        """Return the value below which this fraction of the numbers is; 0 without numbers."""
        if not self.count:
            return 0.0
        return float(min(max(self.bins.get_quantile_value(quantile), self.minimum), self.maximum))

    @property
    def mean(self) -> float:
        """Return the mean; 0 without numbers."""
        return self.total / self.count if self.count else 0.0

    @property
    def deviation(self) -> float:
        """Return the standard deviation; 0 without numbers."""
        return math.sqrt(max(0.0, self.squares / self.count - self.mean**2)) if self.count else 0.0


Path = tuple[Any, ...]
QUANTILES = (0.5, 0.75, 0.95, 0.98, 0.99, 0.999)
_SHOWN = {"median": 0.5, "p75": 0.75, "p95": 0.95, "p98": 0.98, "p99": 0.99, "p999": 0.999}


class Count(NamedTuple):
    """The value of a counter."""

    number: int


class Rate(NamedTuple):
    """The value of a meter: all events, and events per second."""

    number: int
    rate: float


class GaugeValue(NamedTuple):
    """The value of a gauge: a number or a string."""

    value: float | str


class Statistics(NamedTuple):
    """The statistics of a histogram."""

    number: int
    total: float
    minimum: float
    maximum: float
    mean: float
    deviation: float
    quantiles: tuple[float, ...]
    """The values of `QUANTILES`."""


class Spread(NamedTuple):
    """The value of a distribution or histogram, which can be merged with others."""

    sketch: Sketch

    def statistics(self) -> Statistics:
        """Return the statistics."""
        s = self.sketch
        quantiles = tuple(s.quantile(q) for q in QUANTILES)
        return Statistics(s.count, s.total, s.minimum, s.maximum, s.mean, s.deviation, quantiles)


Value = Count | Rate | GaugeValue | Spread | Statistics


def continued(before: Value | None, now: Value) -> Value:
    """Return the value of a metric of a rebuilt subtask, whose last value before was `before`.

    >>> continued(Count(5), Count(2)), continued(GaugeValue(7), GaugeValue(3))
    (Count(number=7), GaugeValue(value=3))
    """
    if isinstance(now, Count) and isinstance(before, Count):
        return Count(before.number + now.number)
    if isinstance(now, Rate) and isinstance(before, Rate):
        return Rate(before.number + now.number, now.rate)
    if isinstance(now, Spread) and isinstance(before, Spread):
        return Spread(before.sketch.merged(now.sketch))
    return now


def joined(one: Value | None, other: Value) -> Value | None:
    """Return the value of a metric over two subtasks; None if there is none, as for gauges.

    >>> joined(Rate(10, 1.0), Rate(20, 2.0)), joined(GaugeValue(1), GaugeValue(2))
    (Rate(number=30, rate=3.0), None)
    """
    if isinstance(one, Rate) and isinstance(other, Rate):
        return Rate(one.number + other.number, one.rate + other.rate)
    return continued(one, other) if isinstance(one, (Count, Spread)) else None


def flat(values: Mapping[Path, Value]) -> dict[str, float | str]:
    """Return all values by dotted names. A meter has its rate and `_count`, a histogram `_count`, `_mean`, `_p99` and so on.

    >>> flat({("a", ("k", "v"), "n"): Count(3), ("m",): Rate(6, 0.5)})
    {'a.k.v.n': 3, 'm': 0.5, 'm_count': 6}
    """
    shown: dict[str, float | str] = {}
    for path, value in values.items():
        name = dotted(path)
        if isinstance(value, Count):
            shown[name] = value.number
        elif isinstance(value, GaugeValue):
            shown[name] = value.value
        elif isinstance(value, Rate):
            if not math.isnan(value.rate):
                shown[name] = value.rate
            shown[f"{name}_count"] = value.number
        else:
            shown.update({f"{name}_{part}": number for part, number in parts_of(value).items()})
    return shown


def parts_of(value: Spread | Statistics) -> dict[str, float]:
    """Return the statistics of a histogram by Flink's names."""
    found = value.statistics() if isinstance(value, Spread) else value
    quantiles = dict(zip(QUANTILES, found.quantiles))
    return {
        "count": found.number,
        "min": found.minimum,
        "max": found.maximum,
        "mean": found.mean,
        "stddev": found.deviation,
        **{name: quantiles[quantile] for name, quantile in _SHOWN.items()},
    }


def dotted(path: Path, delimiter: str = ".") -> str:
    """Return a path as one name.

    >>> dotted(("orders", ("country", "de"), "late"))
    'orders.country.de.late'
    """
    return delimiter.join(part if isinstance(part, str) else delimiter.join(part) for part in path)
