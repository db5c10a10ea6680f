"""A streaming DataFrame as numbered batches of files: the driver's side of a source that reads it.

1. A Structured Streaming query hands each micro-batch over with its number; Spark keeps the query's own checkpoint.
2. The rows are written to `data/NUMBER`, then the list of their files to `batches/NUMBER.json`, at once and whole. A batch
   that is listed is never written again: after a crash the query repeats its last batch under the same number.
3. The query waits while the slowest reader is `AHEAD` batches behind: that is the back pressure.
4. When the query ends by itself (trigger `availableNow` or `once`), `end.json` says which batch was the last.
5. A query that ends otherwise (it fails, somebody stops it, Spark is stopped or dies) fails the job: no reader waits for
   batches that nobody brings.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import DataFrame

from headrace.errors import JobExecutionError
from headrace.spark.dataframes import write_files

AHEAD = 4
_WAIT_SECONDS = 0.02
_NUMBER_DIGITS = 12
_ENDING = {"availableNow", "once"}
_REMEDY = "the job's restart strategy decides whether it is started again, from its own checkpoint"


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
        """Raise if the query has not ended by itself; if it has, say so to the readers."""
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
            _write_whole(end, {"batches": self._next()})

    @contextlib.contextmanager
    def _while_spark_lives(self) -> Iterator[None]:
        """Says what is the matter when Spark has been stopped, or its process has died."""
        try:
            yield
            stopped = self._context._jsc is None or self._context._jsc.sc().isStopped()
        except Exception as error:
            reason = " ".join(str(error).splitlines()[:2])  # what follows is the stack of the JVM
            raise JobExecutionError(f"Spark does not run the query of a streaming DataFrame: {reason}") from error
        if stopped:
            raise JobExecutionError("Spark was stopped, and with it the query of a streaming DataFrame")

    def stop(self) -> None:
        """End the query."""
        self._stop.set()
        with contextlib.suppress(Exception):  # Spark itself may be gone
            self._query.stop()

    def forget_before(self, number: int) -> None:
        """Remove batches that no job goes back to."""
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
        _write_whole(listed, {"files": files})

    def _behind(self) -> int:
        """The batch that the slowest reader is at, as far as readers have said."""
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


def _write_whole(path: str, content: dict[str, Any]) -> None:
    with open(f"{path}.new", "w") as file:
        json.dump(content, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.new", path)
