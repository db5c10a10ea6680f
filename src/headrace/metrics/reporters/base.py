"""The interface of reporters, and their input. Subclass `MetricReporter` to write your own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from headrace.config.option_values import parse_boolean, parse_duration, parse_integer
from headrace.errors import ConfigurationError
from headrace.metrics.values import Count, GaugeValue, Path, Rate, Spread, Statistics, Value, dotted, parts_of


@dataclass(frozen=True)
class Reported:
    """One metric in a report.

    >>> one = Reported(("host", "taskmanager"), ("taskmanager", "job"), ("orders", "late"), {"host": "h"}, Count(3))
    >>> one.identifier("."), one.logical_name("_"), one.kind, dict(one.numbers())
    ('host.taskmanager.orders.late', 'taskmanager_job_orders_late', 'counter', {'count': 3})
    """

    scope: tuple[str, ...]
    """The parts of the scope format with their variables replaced."""
    logical_scope: tuple[str, ...]
    """The scope without variables, for systems that have labels."""
    path: Path
    """Groups and name; the group of a key and its value is a pair."""
    variables: Mapping[str, str]
    """The variables of the scope (host, job_name, ...) and the key/value groups, without the excluded ones."""
    value: Value

    @property
    def kind(self) -> str:
        """Return counter, meter, gauge or histogram."""
        kinds = {Count: "counter", Rate: "meter", GaugeValue: "gauge", Spread: "histogram", Statistics: "histogram"}
        return kinds[type(self.value)]

    def identifier(self, delimiter: str) -> str:
        """Return scope, groups and name as one string."""
        return delimiter.join((*self.scope, dotted(self.path, delimiter)))

    def logical_name(self, delimiter: str) -> str:
        """Return the name without variables, and without the values of key/value groups."""
        groups = [part if isinstance(part, str) else part[0] for part in self.path]
        return delimiter.join((*self.logical_scope, *groups))

    def numbers(self) -> Iterator[tuple[str, float]]:
        """Yield the numbers of the value: `count`, `rate`, `value`, or the statistics. Strings have none."""
        value = self.value
        if isinstance(value, Count):
            yield "count", value.number
        elif isinstance(value, Rate):
            yield "count", value.number
            if value.rate == value.rate:
                yield "rate", value.rate
        elif isinstance(value, GaugeValue):
            if not isinstance(value.value, str):
                yield "value", float(value.value)
        else:
            yield from parts_of(value).items()


@dataclass(frozen=True)
class ReporterSettings:
    """The keys `metrics.reporter.<name>.*` of one reporter."""

    name: str
    delimiter: str = "."
    interval: float = 10.0
    """Seconds."""
    properties: Mapping[str, str] = field(default_factory=dict)
    """All keys of the reporter, without the prefix."""

    def text(self, key: str, default: str | None = None) -> str:
        """Return a value. Without a default the key is required.

        >>> ReporterSettings("r", properties={"host": "h"}).text("host")
        'h'
        """
        value = self.properties.get(key, default)
        if value is None:
            raise ConfigurationError(f"metrics.reporter.{self.name}.{key} is missing")
        return value

    def number(self, key: str, default: int | None = None) -> int:
        """Return an integer."""
        return parse_integer(self.text(key, None if default is None else str(default)))

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        return parse_boolean(self.text(key, str(default)))

    def seconds(self, key: str, default: str) -> float:
        """Return the seconds of a duration such as `10 s`."""
        return parse_duration(self.text(key, default)).to_millis() / 1000

    def ports(self, key: str, default: str | None = None) -> list[int]:
        """Return the ports of a list with ranges.

        >>> ReporterSettings("r", properties={"port": "9249, 9250-9252"}).ports("port")
        [9249, 9250, 9251, 9252]
        """
        text = self.text(key, default)
        try:
            ranges = [part.strip().partition("-") for part in text.split(",")]
            return [port for first, _, last in ranges for port in range(int(first), int(last or first) + 1)]
        except ValueError:
            raise ConfigurationError(
                f"metrics.reporter.{self.name}.{key} is not a port",
                seen=text,
                expected="a number, or a range such as 8789-8799",
            ) from None


class MetricReporter(ABC):
    """Sends metrics to another system. It is created without arguments, opened once, and called at each interval.

    Each reporter has a separate thread. Its errors are logged, and it is called again at the next interval.

    >>> class Names(MetricReporter):
    ...     def report(self, metrics):
    ...         self.names = [metric.identifier(".") for metric in metrics]
    >>> reporter = Names()
    >>> reporter.open(ReporterSettings("names"))
    >>> reporter.report([Reported(("h",), ("job",), ("uptime",), {}, GaugeValue(5))])
    >>> reporter.names
    ['h.uptime']
    """

    def open(self, settings: ReporterSettings) -> None:
        """Prepare; `settings` contains the keys of the configuration."""

    @abstractmethod
    def report(self, metrics: list[Reported]) -> None:
        """Send or store the current values."""

    def close(self) -> None:
        """Clean up after the job has ended and the last values have been reported."""
