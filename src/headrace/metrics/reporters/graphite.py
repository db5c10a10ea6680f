"""The reporters of one line per number: Graphite (`name value timestamp`) and StatsD (`name:value|g` in UDP datagrams)."""

from __future__ import annotations

import re
import socket
import time

from headrace.errors import ConfigurationError
from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings

_NOT_ALLOWED = re.compile(r"[^a-zA-Z0-9_.\-]+")
_TIMEOUT = 5.0
_DATAGRAM = 1400


class GraphiteReporter(MetricReporter):
    """Keys: host, port (2003), protocol (TCP or UDP), prefix.

    >>> issubclass(GraphiteReporter, MetricReporter)
    True
    """

    def open(self, settings: ReporterSettings) -> None:
        self._address = settings.text("host"), settings.number("port", 2003)
        self._protocol = settings.text("protocol", "TCP").upper()
        if self._protocol not in ("TCP", "UDP"):
            raise ConfigurationError(
                "Unknown protocol of the Graphite reporter", seen=self._protocol, expected="TCP or UDP"
            )
        prefix = settings.text("prefix", "")
        self._prefix = f"{prefix}." if prefix else ""

    def report(self, metrics: list[Reported]) -> None:
        now = int(time.time())
        lines = [line for metric in metrics for line in self._lines(metric, now)]
        if self._protocol == "TCP":
            with socket.create_connection(self._address, _TIMEOUT) as connection:
                connection.sendall("".join(lines).encode())
        else:
            send_datagrams(lines, self._address)

    def _lines(self, metric: Reported, now: int) -> list[str]:
        parts = [_NOT_ALLOWED.sub("-", part).replace(".", "-") for part in metric.identifier("\0").split("\0")]
        name = self._prefix + ".".join(parts)
        single = metric.kind in ("counter", "gauge")
        return [f"{name if single else f'{name}.{part}'} {number:.15g} {now}\n" for part, number in metric.numbers()]


def send_datagrams(lines: list[str], address: tuple[str, int]) -> None:
    """Send lines in UDP datagrams."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for datagram in _packed(lines):
            sender.sendto(datagram, address)


def _packed(lines: list[str]) -> list[bytes]:
    r"""Pack lines into datagrams that networks can carry.

    >>> [len(datagram) for datagram in _packed(["x" * 1000 + "\n"] * 2)]
    [1001, 1001]
    """
    datagrams, current = [], b""
    for line in lines:
        encoded = line.encode()
        if current and len(current) + len(encoded) > _DATAGRAM:
            datagrams.append(current)
            current = b""
        current += encoded
    return [*datagrams, current] if current else datagrams


_NOT_IN_STATSD = re.compile(r"[:|@\s]")


class StatsDReporter(MetricReporter):
    """Keys: host, port (8125). As in Flink, all values are gauges.

    >>> issubclass(StatsDReporter, MetricReporter)
    True
    """

    def open(self, settings: ReporterSettings) -> None:
        self._address = settings.text("host"), settings.number("port", 8125)
        self._delimiter = settings.delimiter

    def report(self, metrics: list[Reported]) -> None:
        send_datagrams([line for metric in metrics for line in self._lines(metric)], self._address)

    def _lines(self, metric: Reported) -> list[str]:
        name = _NOT_IN_STATSD.sub("-", metric.identifier(self._delimiter))
        lines = []
        for part, number in metric.numbers():
            full = name if metric.kind in ("counter", "gauge") else f"{name}{self._delimiter}{part}"
            if number < 0:  # a sign would change the gauge instead of setting it
                lines.append(f"{full}:0|g\n")
            lines.append(f"{full}:{number:.15g}|g\n")
        return lines
