"""Call the reporters of a job, each in a separate thread, so that a slow or failing one affects nothing else."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from headrace.metrics.reporters.settings import ReporterPlan
from headrace.metrics.scope import Sample

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
