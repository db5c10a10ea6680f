"""The reporters for Prometheus: one serves an HTTP endpoint that it scrapes, one pushes to a PushGateway."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from headrace.errors import ConfigurationError
from headrace.foundation.extras import need
from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings
from headrace.metrics.values import QUANTILES, Rate, Spread, Statistics

_NO_NAME = re.compile(r"[^a-zA-Z0-9:_]")
_NO_LABEL = re.compile(r"[^a-zA-Z0-9_]")
_NO_VALUE = re.compile(r"[^a-zA-Z0-9:_]")


def need_prometheus() -> Any:
    """Return the package. Raise an error that names the extra if it is missing."""
    return need("prometheus_client", "prometheus", "The Prometheus reporter")


class Families:
    """A collector for prometheus-client that returns the metrics of the last report.

    With `filter_values`, the characters of label values that Flink replaces are replaced too.
    """

    def __init__(self, *, filter_values: bool = False) -> None:
        need_prometheus()
        self._filter_values = filter_values
        self._metrics: list[Reported] = []

    def update(self, metrics: list[Reported]) -> None:
        self._metrics = metrics

    def describe(self) -> Iterable[Any]:
        """Return nothing, because no metric is known before the first report."""
        return ()

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import Metric

        families: dict[str, Any] = {}
        for metric in self._metrics:
            name = "flink_" + _NO_NAME.sub("_", metric.logical_name("_"))
            kind = "summary" if isinstance(metric.value, (Spread, Statistics)) else "gauge"
            family = families.get(name)
            if family is None:
                family = families[name] = Metric(
                    name, f"{metric.path[-1]} (scope: {'_'.join(metric.logical_scope)})", kind
                )
            if family.type != kind:
                continue  # another operator has a metric with this name and another kind
            labels = self._labels(metric)
            if kind == "summary":
                _add_summary(family, labels, metric.value)
            else:
                for part, number in metric.numbers():
                    if part != "count" or not isinstance(metric.value, Rate):  # as in Flink, a meter shows its rate
                        family.add_sample(name, labels, number)
        yield from (family for family in families.values() if family.samples)

    def _labels(self, metric: Reported) -> dict[str, str]:
        filtered = self._filter_values
        return {
            _NO_LABEL.sub("_", name): _NO_VALUE.sub("_", value) if filtered else value
            for name, value in metric.variables.items()
        }


def _add_summary(family: Any, labels: dict[str, str], value: Any) -> None:
    found = value.statistics() if isinstance(value, Spread) else value
    for quantile, number in zip(QUANTILES, found.quantiles):
        family.add_sample(family.name, {**labels, "quantile": str(quantile)}, number)
    family.add_sample(f"{family.name}_sum", labels, found.total)
    family.add_sample(f"{family.name}_count", labels, found.number)


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


class PushGatewayReporter(MetricReporter):
    """Keys: hostUrl (or host and port), jobName, randomJobNameSuffix, deleteOnShutdown, groupingKey (`k1=v1;k2=v2`).

    >>> issubclass(PushGatewayReporter, MetricReporter)
    True
    """

    def __init__(self) -> None:
        self._client = need_prometheus()

    def open(self, settings: ReporterSettings) -> None:
        url = settings.text("hostUrl", "")
        if not url:
            url = f"http://{settings.text('host')}:{settings.number('port', 9091)}"
        self._arguments: dict[str, Any] = {"gateway": url, "grouping_key": _grouping(settings.text("groupingKey", ""))}
        name = settings.text("jobName", "headrace")
        suffix = uuid.uuid4().hex if settings.flag("randomJobNameSuffix", True) else ""
        self._arguments["job"] = name + suffix
        self._delete = settings.flag("deleteOnShutdown", True)
        self._families = Families(filter_values=settings.flag("filterLabelValueCharacters", True))
        self._registry = self._client.CollectorRegistry()
        self._registry.register(self._families)

    def report(self, metrics: list[Reported]) -> None:
        self._families.update(metrics)
        self._client.push_to_gateway(registry=self._registry, **self._arguments)

    def close(self) -> None:
        if self._delete:
            self._client.delete_from_gateway(**self._arguments)


def _grouping(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(";") if pair.strip()]
    for key, found, _ in pairs:
        if not found or not key.strip():
            raise ConfigurationError(
                "groupingKey of the PushGateway reporter cannot be parsed", seen=text, expected="k1=v1;k2=v2"
            )
    return {key.strip(): value.strip() for key, _, value in pairs}
