"""The functions that Spark runs in its Python workers. Imports as little as it can: a worker starts with this module."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark import Broadcast, TaskContext

from headrace.worker.slot.courier import LevelRun
from headrace.worker.slot.folder import job_folder
from headrace.worker.slot.launch import end_slots

_LONG = struct.Struct("!q")


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
        last = self._run.next_partitions is None
        for target, frame in self._run.run(partition, attempt, incoming):
            if not last:
                yield _LONG.pack(target)
            yield frame


class EndSlots:
    """Ends the slots of a job on the machine of an executor; gives (host, process id) of each.

    Waits a little where there is nothing to end, so that the tasks of one Spark job spread over all executors.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def __call__(self, partition: int, _: Iterable[Any]) -> Iterator[tuple[str, int]]:
        folder = job_folder(self._run_id)
        if not folder.exists():
            time.sleep(0.1)
        host = socket.gethostname()
        yield from [(host, pid) for pid in end_slots(folder)]
