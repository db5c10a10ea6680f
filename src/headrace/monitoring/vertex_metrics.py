"""Combines the metrics of a vertex's subtasks: counts are added, times averaged; the lowest watermark and highest lag count."""

from __future__ import annotations

from headrace.metrics.values import Path, Value, flat, joined

_AVERAGED = ("busyTimeMsPerSecond", "idleTimeMsPerSecond", "backPressuredTimeMsPerSecond")
_LOWEST = ("currentInputWatermark", "currentOutputWatermark")
_HIGHEST = ("watermarkLag", "currentEmitEventTimeLag")


class VertexMetrics:
    """Metrics of one vertex; takes one subtask after the other.

    >>> vertex = VertexMetrics()
    >>> vertex.add({"numRecordsIn": 3, "busyTimeMsPerSecond": 100.0}, {})
    >>> vertex.add({"numRecordsIn": 4, "busyTimeMsPerSecond": 300.0}, {})
    >>> vertex.metrics()
    {'numRecordsIn': 7, 'busyTimeMsPerSecond': 200.0}
    """

    def __init__(self) -> None:
        self._numbers: dict[str, list[float]] = {}
        self._own: dict[Path, Value | None] = {}
        """None: it cannot be combined, like gauges of several subtasks."""

    def add(self, numbers: dict[str, float], own: dict[Path, Value]) -> None:
        """Add a subtask: the metrics that all subtasks have, by name, and those of its operators and functions."""
        for name, number in numbers.items():
            if name in self._numbers:
                self._numbers[name].append(number)
            else:
                self._numbers[name] = [number]
        for path, value in own.items():
            self._own[path] = joined(self._own[path], value) if path in self._own else value

    def metrics(self) -> dict[str, float]:
        """Return the combined metrics by name."""
        shown: dict[str, float] = {}
        for name, numbers in self._numbers.items():
            last = name.rpartition(".")[2]
            if last in _LOWEST:
                shown[name] = min(numbers)
            elif last in _HIGHEST:
                shown[name] = max(numbers)
            elif last in _AVERAGED:
                shown[name] = sum(numbers) / len(numbers)
            else:
                shown[name] = sum(numbers)
        own = {path: value for path, value in self._own.items() if value is not None}
        shown.update({name: value for name, value in flat(own).items() if not isinstance(value, str)})
        return shown
