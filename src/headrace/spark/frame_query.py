"""Write a streaming DataFrame as numbered batches of files: the driver's side of a source that reads it.

1. A Structured Streaming query passes each micro-batch with its number; Spark manages the query's own checkpoint.
2. The rows are written to `data/NUMBER`, then the list of their files to `batches/NUMBER.json`, atomically. A listed batch
   is never written again: after a crash the query repeats its last batch under the same number.
3. The query waits while the slowest reader is `AHEAD` batches behind. That is the back pressure.
4. When the query ends by itself (trigger `availableNow` or `once`), `end.json` contains the number of batches.
5. A query that ends otherwise (it fails, it is stopped, Spark is stopped or dies) fails the job, so that no reader waits
   for batches that never come.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame

from headrace.errors import JobExecutionError
from headrace.spark.dataframes import write_files

_log = logging.getLogger("headrace.spark")
AHEAD = 4
_WAIT_SECONDS = 0.02
_NUMBER_DIGITS = 12
_ENDING = {"availableNow", "once"}
_REMEDY = "the job's restart strategy decides whether it restarts from its own checkpoint"


class FrameQuery:
    """Runs the query of a streaming DataFrame into a folder."""

    def __init__(self, frame: DataFrame, folder: str, lanes: int, trigger: Mapping[str, Any]) -> None:
        self._folder, self._lanes = folder, lanes
        self._stop = threading.Event()
        for part in ("data", "batches", "read"):
            os.makedirs(os.path.join(folder, part), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(folder, "end.json"))
        self._context = frame.sparkSession.sparkContext
        self._ends_by_itself = not _ENDING.isdisjoint(trigger)
        with self._while_spark_lives():
            writer = frame.writeStream.foreachBatch(self._take)
            writer = writer.option("checkpointLocation", f"file://{os.path.join(os.path.abspath(folder), 'query')}")
            self._query = (writer.trigger(**trigger) if trigger else writer).start()

    def check(self) -> None:
        """Raise if the query ended unexpectedly. Tell the readers if it ended by itself."""
        with self._while_spark_lives():
            if self._query.isActive:
                return
            failure = self._query.exception()
        end = os.path.join(self._folder, "end.json")
        if failure is not None:
            raise JobExecutionError(f"The query of a streaming DataFrame failed: {failure}", remedy=_REMEDY)
        if not self._ends_by_itself:
            raise JobExecutionError("The query of a streaming DataFrame was stopped from outside", remedy=_REMEDY)
        if not os.path.exists(end):
            _write_atomically(end, {"batches": self._next()})

    @contextlib.contextmanager
    def _while_spark_lives(self) -> Iterator[None]:
        """Convert the errors of a Spark that was stopped, or whose process has died."""
        try:
            yield
            stopped = self._context._jsc is None or self._context._jsc.sc().isStopped()
        except Exception as error:
            reason = " ".join(str(error).splitlines()[:2])  # the rest is the stack of the JVM
            raise JobExecutionError(f"Spark cannot run the query of a streaming DataFrame: {reason}") from error
        if stopped:
            raise JobExecutionError("Spark was stopped, and with it the query of a streaming DataFrame")

    def stop(self) -> None:
        self._stop.set()
        try:
            self._query.stop()
        except Exception:
            _log.debug("cannot stop the query of a streaming DataFrame: Spark may be gone", exc_info=True)

    def forget_before(self, number: int) -> None:
        """Remove batches that no job needs any more."""
        for name in os.listdir(os.path.join(self._folder, "batches")):
            if int(name.partition(".")[0]) < number:
                shutil.rmtree(os.path.join(self._folder, "data", name.partition(".")[0]), ignore_errors=True)
                os.unlink(os.path.join(self._folder, "batches", name))

    def _take(self, frame: DataFrame, number: int) -> None:
        name = f"{number:0{_NUMBER_DIGITS}}"
        listed = os.path.join(self._folder, "batches", f"{name}.json")
        if os.path.exists(listed):
            return
        while self._behind() < number - AHEAD and not self._stop.wait(_WAIT_SECONDS):
            pass
        if self._stop.is_set():
            raise InterruptedError("the job has ended")
        files = write_files(frame, os.path.join(self._folder, "data", name))
        _write_atomically(listed, {"files": files})

    def _behind(self) -> int:
        """Return the batch of the slowest reader, as far as readers have reported."""
        numbers = []
        for lane in range(self._lanes):
            try:
                with open(os.path.join(self._folder, "read", str(lane))) as file:
                    numbers.append(int(file.read() or 0))
            except FileNotFoundError:
                numbers.append(0)
        return min(numbers, default=0)

    def _next(self) -> int:
        names = os.listdir(os.path.join(self._folder, "batches"))
        return max((int(name.partition(".")[0]) + 1 for name in names), default=0)


def _write_atomically(path: str, content: dict[str, Any]) -> None:
    with open(f"{path}.new", "w") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)
