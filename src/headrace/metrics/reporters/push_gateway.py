"""The PushGateway reporter: pushes to a Prometheus PushGateway."""

from __future__ import annotations

import uuid
from typing import Any

from headrace.errors import ConfigurationError
from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings
from headrace.metrics.reporters.prometheus_families import Families, need_prometheus


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
