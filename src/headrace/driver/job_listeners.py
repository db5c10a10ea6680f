"""Who is told of the jobs that this process starts: the service that started the process, or the one that a job brings along.

The service stands above the runtime, so the runtime knows it by this port only; the one that a job brings along is
found by its name.
"""

from __future__ import annotations

from typing import Protocol

from headrace.config.configuration import Configuration
from headrace.config.headrace_keys import UI
from headrace.driver.job_master import JobMaster
from headrace.foundation.extras import need

__all__ = ["JobListener", "listen", "listeners_for"]

_EMBEDDED = "headrace.service.embedded"


class JobListener(Protocol):
    """Is told what becomes of the jobs of this process."""

    def submitting(self, job_id: str, name: str) -> None:
        """A job is about to start; may raise, and the job is not started."""

    def started(self, master: JobMaster) -> None:
        """It runs."""


_registered: list[JobListener] = []


def listen(listener: JobListener) -> None:
    """Lets it be told of all jobs of this process from now on."""
    _registered.append(listener)


def listeners_for(configuration: Configuration) -> list[JobListener]:
    """Those who want to know of a job with this configuration."""
    if configuration.get(UI) and not _registered:
        embedded: JobListener = need(_EMBEDDED, "service", "headrace.ui").service_for(configuration)
        return [embedded]
    return list(_registered)
