"""Mergeable quantiles of many numbers in little memory: a DDSketch, with exact count, sum, minimum and maximum.

A quantile is accurate to 1 %. The library is imported with the first value, because most jobs never need it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

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
