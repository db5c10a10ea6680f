"""Read the reporters of a configuration: `metrics.reporters` and `metrics.reporter.<name>.*`; and run them.

Each reporter runs in a separate thread, so that a slow or failing one affects nothing else.
"""

from __future__ import annotations

import importlib
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from headrace.config.option_values import parse_duration
from headrace.errors import ConfigurationError, HeadraceError
from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings
from headrace.metrics.scope import Sample, ScopeFormats

_PREFIX = "metrics.reporter."
_OWN = "headrace.metrics.reporters."
_BUILT_IN = {
    "prometheus": f"{_OWN}prometheus.PrometheusReporter",
    "pushgateway": f"{_OWN}prometheus.PushGatewayReporter",
    "graphite": f"{_OWN}graphite.GraphiteReporter",
    "statsd": f"{_OWN}graphite.StatsDReporter",
    "influxdb": f"{_OWN}influxdb.InfluxdbReporter",
    "opentelemetry": f"{_OWN}opentelemetry.OpenTelemetryReporter",
    "jmx": "headrace.spark.jmx_reporter.JMXReporter",
    "log": f"{_OWN}log.LogReporter",
}
_FLINK = {
    "org.apache.flink.metrics.prometheus.PrometheusReporter": "prometheus",
    "org.apache.flink.metrics.prometheus.PrometheusPushGatewayReporter": "pushgateway",
    "org.apache.flink.metrics.graphite.GraphiteReporter": "graphite",
    "org.apache.flink.metrics.statsd.StatsDReporter": "statsd",
    "org.apache.flink.metrics.influxdb.InfluxdbReporter": "influxdb",
    "org.apache.flink.metrics.otel.OpenTelemetryMetricReporter": "opentelemetry",
    "org.apache.flink.metrics.jmx.JMXReporter": "jmx",
    "org.apache.flink.metrics.slf4j.Slf4jReporter": "log",
}


@dataclass(frozen=True)
class _Pattern:
    scope: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]

    def matches(self, metric: Reported) -> bool:
        scope = ".".join(metric.logical_name(".").split(".")[:-1])
        name = str(metric.path[-1])
        return (
            fnmatchcase(scope, self.scope)
            and any(fnmatchcase(name, one) for one in self.names)
            and ("*" in self.kinds or metric.kind in self.kinds)
        )


@dataclass(frozen=True)
class Filter:
    """Decides which metrics a reporter gets: Flink's patterns `scope:name,name:kind,kind`, separated by `;`.

    >>> only = Filter.read("*:numRecords*;jobmanager.job:*:gauge", "")
    >>> len(only.includes)
    2
    """

    includes: tuple[_Pattern, ...]
    excludes: tuple[_Pattern, ...]

    @classmethod
    def read(cls, includes: str, excludes: str) -> Filter:
        """Return the filter for the two keys of the configuration."""
        return cls(_patterns(includes), _patterns(excludes))

    def lets_through(self, metric: Reported) -> bool:
        """Return whether the metric passes: it is included, or there are no includes, and it is not excluded."""
        if self.includes and not any(pattern.matches(metric) for pattern in self.includes):
            return False
        return not any(pattern.matches(metric) for pattern in self.excludes)


def _patterns(text: str) -> tuple[_Pattern, ...]:
    patterns = []
    for one in filter(None, (part.strip() for part in text.split(";"))):
        scope, _, rest = one.partition(":")
        names, _, kinds = rest.partition(":")
        patterns.append(_Pattern(scope or "*", _listed(names), _listed(kinds)))
    return tuple(patterns)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip()) or ("*",)


@dataclass(frozen=True)
class ReporterPlan:
    """A reporter of the configuration, created but not opened, and the metrics that it gets."""

    reporter: MetricReporter
    settings: ReporterSettings
    filter: Filter
    formats: ScopeFormats
    excluded_variables: frozenset[str]
    additional_variables: Mapping[str, str]

    def metrics(self, samples: list[Sample]) -> list[Reported]:
        """Return the metrics that this reporter gets."""
        scopes: dict[int, tuple[tuple[str, ...], dict[str, str]]] = {}
        result = []
        for sample in samples:
            known = scopes.get(id(sample.scope))
            if known is None:
                kept = {k: v for k, v in sample.scope.variables.items() if k not in self.excluded_variables}
                variables = {**kept, **self.additional_variables}
                known = scopes[id(sample.scope)] = (tuple(self.formats.parts(sample.scope)), variables)
            parts, variables = known
            if groups := sample.groups:
                variables = {**variables, **{k: v for k, v in groups.items() if k not in self.excluded_variables}}
            metric = Reported(parts, sample.scope.logical, sample.path, variables, sample.value)
            if self.filter.lets_through(metric):
                result.append(metric)
        return result


def read_reporters(configuration: Mapping[str, str]) -> list[ReporterPlan]:
    """Return all reporters of the configuration. Raise if it has mistakes, before the job starts.

    >>> read_reporters({"metrics.reporter.l.factory.class": "log", "metrics.reporter.l.interval": "5 s"})[
    ...     0
    ... ].settings.interval
    5.0
    """
    formats = ScopeFormats.read(configuration)
    found = [key[len(_PREFIX) :].split(".", 1)[0] for key in configuration if key.startswith(_PREFIX)]
    listed = re.split(r"\s*[,;]\s*", configuration.get("metrics.reporters", "").strip("[] "))
    names = [name for name in listed if name] or list(dict.fromkeys(found))
    return [_plan(name, configuration, formats) for name in names]


def _plan(name: str, configuration: Mapping[str, str], formats: ScopeFormats) -> ReporterPlan:
    prefix = f"{_PREFIX}{name}."
    properties = {k[len(prefix) :]: str(v) for k, v in configuration.items() if k.startswith(prefix)}
    wanted = properties.get("factory.class") or properties.get("class")
    if wanted is None:
        raise ConfigurationError(f"The reporter {name!r} has no class", expected=f"the key {prefix}factory.class")
    interval = parse_duration(properties.get("interval", "10 s")).to_millis() / 1000
    if interval <= 0:
        raise ConfigurationError(f"{prefix}interval must be greater than 0", seen=properties["interval"])
    settings = ReporterSettings(name, properties.get("scope.delimiter", formats.delimiter), interval, properties)
    excluded = re.split(r"\s*;\s*", properties.get("scope.variables.excludes", ""))
    pairs = [pair.partition(":") for pair in properties.get("scope.variables.additional", "").split(",") if pair]
    return ReporterPlan(
        reporter=_made(wanted, f"{prefix}factory.class"),
        settings=settings,
        filter=Filter.read(properties.get("filter.includes", ""), properties.get("filter.excludes", "")),
        formats=formats,
        excluded_variables=frozenset(variable.strip("<>") for variable in excluded if variable),
        additional_variables={key.strip(): value.strip() for key, _, value in pairs},
    )


def _made(wanted: str, key: str) -> MetricReporter:
    short = _FLINK.get(wanted.removesuffix("Factory"), wanted)
    if short.startswith("org.apache.flink."):
        known = ", ".join(sorted(_BUILT_IN))
        raise ConfigurationError(f"{key} names a reporter that headrace does not have", seen=wanted, expected=known)
    module, _, name = _BUILT_IN.get(short, short).replace(":", ".").rpartition(".")
    try:
        made = getattr(importlib.import_module(module), name)() if module else None
    except HeadraceError:
        raise
    except Exception as error:
        raise ConfigurationError(f"{key} cannot be loaded: {error}", seen=wanted) from error
    if not isinstance(made, MetricReporter):
        raise ConfigurationError(
            f"{key} is not a reporter",
            seen=wanted,
            expected=f"one of {', '.join(sorted(_BUILT_IN))}, or module.Class of your own MetricReporter",
        )
    return made


_CLOSE_SECONDS = 5.0
_log = logging.getLogger("headrace.metrics")


class Reporting:
    """All reporters of one job."""

    def __init__(self, plans: list[ReporterPlan]) -> None:
        self._plans = plans
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []

    def start(self, samples: Callable[[], list[Sample]]) -> None:
        """Start to report; `samples` returns the current metrics."""
        for plan in self._plans:
            name = f"headrace-reporter-{plan.settings.name}"
            thread = threading.Thread(target=self._run, args=(plan, samples), name=name, daemon=True)
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        """Report a last time and end. Abandon reporters that take too long."""
        self._ended.set()
        deadline = time.monotonic() + _CLOSE_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._threads = []

    def _run(self, plan: ReporterPlan, samples: Callable[[], list[Sample]]) -> None:
        name, reporter = plan.settings.name, plan.reporter
        try:
            reporter.open(plan.settings)
        except Exception as error:
            _log.error("headrace: cannot open the metrics reporter %r, so it reports nothing: %s", name, error)
            return
        failing = False
        while True:
            over = self._ended.wait(plan.settings.interval)
            try:
                reporter.report(plan.metrics(samples()))
                failing = False
            except Exception as error:
                if not failing:  # log once, until it works again
                    _log.warning("headrace: the metrics reporter %r fails: %s: %s", name, type(error).__name__, error)
                failing = True
            if over:
                break
        try:
            reporter.close()
        except Exception as error:
            _log.warning("headrace: cannot close the metrics reporter %r: %s", name, error)
