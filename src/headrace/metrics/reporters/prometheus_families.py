"""Convert metrics to metric families of prometheus-client, with Flink's names: `flink_taskmanager_job_task_numRecordsIn`.

As in Flink, counters become gauges, because they may decrease. Strings are omitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from headrace.foundation.extras import need
from headrace.metrics.reporters.base import Reported
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
        """Store the current values."""
        self._metrics = metrics

    def describe(self) -> Iterable[Any]:
        """Return nothing, because no metric is known before the first report."""
        return ()

    def collect(self) -> Iterator[Any]:
        """Yield the families."""
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
