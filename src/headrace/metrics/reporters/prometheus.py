"""The Prometheus reporter: serves an HTTP endpoint that Prometheus scrapes."""

from __future__ import annotations

import logging
from typing import Any

from headrace.errors import ConfigurationError
from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings
from headrace.metrics.reporters.prometheus_families import Families, need_prometheus

_log = logging.getLogger("headrace.metrics")


class PrometheusReporter(MetricReporter):
    """Listens on `port` (9249, or the first free one of a range such as 9250-9260) of `host` (127.0.0.1).

    >>> PrometheusReporter().port is None
    True
    """

    def __init__(self) -> None:
        need_prometheus()
        self.port: int | None = None
        self._families = Families()
        self._server: Any = None

    def open(self, settings: ReporterSettings) -> None:
        client = need_prometheus()
        self._families = Families(filter_values=settings.flag("filterLabelValueCharacters", True))
        registry = client.CollectorRegistry()
        registry.register(self._families)
        host, ports = settings.text("host", "127.0.0.1"), settings.ports("port", "9249")
        for port in ports:
            try:
                self._server, _ = client.start_http_server(port, host, registry)
            except OSError as error:
                _log.debug("headrace: port %d is not free for the Prometheus reporter: %s", port, error)
                continue
            self.port = self._server.server_port
            return
        raise ConfigurationError(f"No port of {ports} is free for the Prometheus reporter", seen=host)

    def report(self, metrics: list[Reported]) -> None:
        self._families.update(metrics)

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
