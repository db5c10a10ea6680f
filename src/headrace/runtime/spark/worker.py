"""The functions that Spark runs in its Python workers. Imports as little as it can: a worker starts with this module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyspark import Broadcast, TaskContext
from pyspark.serializers import pack_long

from headrace.runtime.task.courier import LevelRun, end_slots, slots_directory


class SpecBytes:
    """Reads the broadcast spec only when called."""

    def __init__(self, shipped: Broadcast[bytes]) -> None:
        self._shipped = shipped

    def __call__(self) -> bytes:
        return self._shipped.value


class RunLevel:
    """The function of a level's RDD."""

    def __init__(self, run: LevelRun) -> None:
        self._run = run

    def __call__(self, partition: int, incoming: Iterable[Any]) -> Iterator[Any]:
        context = TaskContext.get()
        attempt = context.taskAttemptId() if context is not None else 0
        frames = () if self._run.level == 0 else incoming
        last = self._run.next_partitions is None
        for target, frame in self._run.run(partition, attempt, frames):
            if not last:
                yield pack_long(target)
            yield frame


class EndSlots:
    """Ends the slots of a job on the executor's machine."""

    def __init__(self, job_id: str) -> None:
        self._job_id = job_id

    def __call__(self, _: int) -> None:
        if slots_directory(self._job_id).exists():
            end_slots(self._job_id)
