"""The functions that Spark runs in its Python workers. Imports as little as possible: every worker loads this module.

They adapt `LevelRun`, which must not know PySpark, to Spark's tasks. The driver binds their first argument with
`functools.partial`, because `stages` ships them with plain pickle.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterable, Iterator

from pyspark import Broadcast, TaskContext

from headrace.worker.slot.courier import LevelRun
from headrace.worker.slot.folder import job_folder
from headrace.worker.slot.launch import end_slots

_LONG = struct.Struct("!q")


def broadcast_value(shipped: Broadcast[bytes]) -> bytes:
    """Return the value of a broadcast, which Spark fetches only now."""
    return shipped.value


def run_level(run: LevelRun, partition: int, incoming: Iterable[bytes]) -> Iterator[bytes]:
    """Run one partition of a level; yield its frames, each preceded by its target unless this is the last level."""
    context = TaskContext.get()
    attempt = context.taskAttemptId() if context is not None else 0
    last = run.next_partitions is None
    for target, frame in run.run(partition, attempt, incoming):
        if not last:
            yield _LONG.pack(target)
        yield frame


def end_job_slots(run_id: str, partition: int, _: Iterable[object]) -> Iterator[tuple[str, int]]:
    """End the slots of a job on the machine of an executor; yield (host, process id) of each.

    Wait a little if there is nothing to end, so that the tasks of one Spark job spread over all executors.
    """
    folder = job_folder(run_id)
    if not folder.exists():
        time.sleep(0.1)
    host = socket.gethostname()
    yield from [(host, pid) for pid in end_slots(folder)]
