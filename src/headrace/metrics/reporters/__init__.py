"""Reporters send the metrics of a job to other systems. One file per system.

`settings` reads the configuration and calls each reporter in a separate thread: errors in a reporter are logged and never
affect the job.
"""

from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings

__all__ = ["MetricReporter", "Reported", "ReporterSettings"]
