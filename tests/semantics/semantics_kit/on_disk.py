"""Local executors whose tasks keep their state on disk, and nothing of it in memory from one run of records to the next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import headrace.worker.task.keyed_backends
from headrace.config.worker_settings import BackendSettings
from headrace.driver.executor import EpochResult
from headrace.local.executor import LocalExecutor
from headrace.state.disk import DiskKeyedBackend
from headrace.worker.job_spec import JobSpec
from headrace.worker.messages import EpochOrder
from headrace.worker.slot.host import TaskHost

closed_with_files: list[Path] = []
"""The directories of backends that had something on disk when they were closed."""


class EmptyHandedBackend(DiskKeyedBackend):
    """A disk backend for which memory is always too full."""

    __slots__ = ()

    def make_room(self) -> None:
        for queue in self._timers.values():
            queue.limit = 2  # type: ignore[attr-defined]
            queue.make_room()  # type: ignore[attr-defined]
        for table in self._tables.values():
            table.retire()  # type: ignore[attr-defined]
            table.retire()  # type: ignore[attr-defined]

    def close(self) -> None:
        if self.on_disk:
            closed_with_files.append(self._store.directory)
        super().close()


class DiskExecutor(LocalExecutor):
    """All tasks have the disk backend."""

    def start(self, spec: JobSpec) -> None:
        headrace.worker.task.keyed_backends.DiskKeyedBackend = EmptyHandedBackend  # type: ignore[misc]
        super().start(replace(spec, backend=BackendSettings(on_disk=True)))

    def close(self) -> None:
        headrace.worker.task.keyed_backends.DiskKeyedBackend = DiskKeyedBackend  # type: ignore[misc]
        super().close()


class AlternatingExecutor(DiskExecutor):
    """Every epoch rebuilds all tasks from their state files, with the other backend than the epoch before."""

    def run_epoch(self, order: EpochOrder) -> EpochResult:
        for task in self._host._tasks.values():  # functions stay open, as in a process that is gone
            task._release_state()
        self._host._backends.close()
        self._spec = replace(self._spec, backend=BackendSettings(on_disk=not self._spec.backend.on_disk))
        self._host = TaskHost(self._spec)
        return super().run_epoch(order)
