"""Reporters: bring the metrics of a job to other systems, as the configuration says. One class per file.

`settings` reads the configuration, `runner` calls the reporters in threads of their own: whatever fails in one is logged and
never reaches the job.
"""

from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings

__all__ = ["MetricReporter", "Reported", "ReporterSettings"]
