"""Tells others of the jobs that this process starts: the service that started the process, or the one embedded in a job.

The driver must not import the service, so it knows the service by this port only, and the embedded one by its name.
"""

from __future__ import annotations

from typing import Protocol

from headrace.config.configuration import Configuration
from headrace.config.headrace_keys import UI
from headrace.driver.job_master import JobMaster
from headrace.foundation.extras import need

_EMBEDDED = "headrace.service.embedded"


class JobListener(Protocol):
    """Follows the jobs of this process."""

    def submitting(self, job_id: str, name: str) -> None:
        """Take note that a job is about to start. If this raises, the job is not started."""

    def started(self, master: JobMaster) -> None:
        """Take note that the job runs."""


_registered: list[JobListener] = []


def listen(listener: JobListener) -> None:
    """Tell the listener of all jobs of this process from now on."""
    _registered.append(listener)


def listeners_for(configuration: Configuration) -> list[JobListener]:
    """Return the listeners for a job with this configuration."""
    if configuration.get(UI) and not _registered:
        embedded: JobListener = need(_EMBEDDED, "service", "headrace.ui").service_for(configuration)
        return [embedded]
    return list(_registered)
