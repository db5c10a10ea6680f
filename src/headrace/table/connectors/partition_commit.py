"""Partition commits: when no more rows of a partition are expected, its directory gets a file that says so."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import unquote
from zoneinfo import ZoneInfo

from headrace.connectors.base.sink_committer import Handle, SinkCommitter
from headrace.connectors.base.sink_writer import EpochEnd, SinkWriter, WriterContext
from headrace.connectors.files.sink import FileParts
from headrace.connectors.files.writer import FileCommitter, FileWriter
from headrace.foundation.file_systems import file_system, is_local
from headrace.table.connectors.options import Option, Options, duration
from headrace.table.errors import SqlNotSupportedError, SqlRuntimeError

_PREFIX = "sink.partition-commit."
OPTIONS = (
    Option(f"{_PREFIX}trigger", str.lower, "process-time", choices=("process-time", "partition-time")),
    Option(f"{_PREFIX}delay", duration, 0),
    Option(f"{_PREFIX}watermark-time-zone", str, "UTC"),
    Option(f"{_PREFIX}policy.kind"),
    Option(f"{_PREFIX}success-file.name", str, "_SUCCESS"),
    Option("partition.time-extractor.kind", str.lower, "default", choices=("default",)),
    Option("partition.time-extractor.timestamp-pattern"),
)
_TIME = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{1,2}):(\d{1,2}))?")


@dataclass(frozen=True)
class CommitRules:
    """When a partition is complete: some time after its first row, or after the watermark has passed its time."""

    by_partition_time: bool
    delay: int
    time_zone: str
    pattern: str | None
    marker: str

    @staticmethod
    def of(options: Options) -> CommitRules | None:
        """Return the rules that the options of a table set; None if partitions are not marked."""
        kinds = options[f"{_PREFIX}policy.kind"]
        if kinds is None:
            return None
        if kinds.strip() != "success-file":
            raise SqlNotSupportedError(
                f"The partition commit policy '{kinds}' is not supported",
                remedy=f"'{_PREFIX}policy.kind' = 'success-file'",
            )
        return CommitRules(
            options[f"{_PREFIX}trigger"] == "partition-time",
            options[f"{_PREFIX}delay"],
            options[f"{_PREFIX}watermark-time-zone"],
            options["partition.time-extractor.timestamp-pattern"],
            options[f"{_PREFIX}success-file.name"],
        )

    def complete(self, bucket: str, since: int, now: int, watermark: int) -> bool:
        """Return whether a partition, whose first row came at `since`, is complete."""
        if self.by_partition_time:
            return watermark > self.partition_time(bucket) + self.delay
        return not self.delay or now > since + self.delay

    def partition_time(self, bucket: str) -> int:
        """Return the time of a partition in milliseconds.

        >>> rules = CommitRules(True, 0, "UTC", "$dt $hm:00", "_SUCCESS")
        >>> rules.partition_time("dt=1970-01-02/hm=00%3A01")
        86460000
        """
        values = {}
        for part in bucket.split("/"):
            key, _, value = part.partition("=")
            values[unquote(key)] = unquote(value)
        text = self.pattern if self.pattern is not None else next(iter(values.values()))
        for key in sorted(values, key=len, reverse=True):
            text = text.replace(f"${key}", values[key])
        found = _TIME.fullmatch(text.strip())
        try:
            if found is None:
                raise ValueError
            moment = datetime(*(int(part or 0) for part in found.groups()), tzinfo=ZoneInfo(self.time_zone))  # type: ignore[arg-type, misc]
        except ValueError:
            raise SqlRuntimeError(
                f"The time of the partition '{bucket}' cannot be read",
                seen=text,
                expected="yyyy-MM-dd or yyyy-MM-dd HH:mm:ss",
                remedy="set 'partition.time-extractor.timestamp-pattern', such as '$day $hour:00:00'",
            ) from None
        return (moment - datetime.fromtimestamp(0, ZoneInfo("UTC"))) // timedelta(milliseconds=1)


@dataclass(frozen=True)
class MarkedParts(FileParts):
    """Part files in partitions that are marked when they are complete. One subtask writes all rows of a partition."""

    rules: CommitRules | None = None

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        """Return a writer that knows which partitions are open."""
        return _MarkingWriter(self, context, states)

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter:
        """Return a committer that writes markers too."""
        super().open_committer(job_id, sink_id)
        return _MarkingCommitter()


class _MarkingWriter(FileWriter):
    def __init__(self, sink: MarkedParts, context: WriterContext, states: list[Any]) -> None:
        assert sink.rules is not None
        self._rules, self._base = sink.rules, sink.base
        self._watermark = context.current_watermark
        self._waiting = {
            part["waiting"]: part["since"] for one in states for part in one if "waiting" in part
        }  # a partition that two subtasks had before a change of parallelism is one
        super().__init__(sink, context, [[part for part in one if "waiting" not in part] for one in states])

    def _append(self, bucket: str, values: list[Any], now: int) -> None:
        self._waiting.setdefault(bucket, now)
        super()._append(bucket, values, now)

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        watermark = self._watermark()
        complete = [
            bucket
            for bucket, since in self._waiting.items()
            if end.last or self._rules.complete(bucket, since, end.now, watermark)
        ]
        for bucket in complete:
            del self._waiting[bucket]
            if bucket in self._parts:
                self._close(bucket)
        payloads = super().end_epoch(end)
        self._state += [{"waiting": bucket, "since": since} for bucket, since in self._waiting.items()]
        return payloads + [{"mark": os.path.join(self._base, bucket, self._rules.marker)} for bucket in complete]


class _MarkingCommitter(FileCommitter):
    """Renames files, and writes the markers of partitions; a marker that is written twice stays one."""

    def commit(self, handle: Handle) -> None:
        mark = handle.payload.get("mark")
        if mark is None:
            super().commit(handle)
        elif is_local(mark):
            os.makedirs(os.path.dirname(mark), exist_ok=True)
            with open(mark, "ab"):
                pass
        else:
            system, inner = file_system(mark)
            system.pipe_file(inner, b"")

    def abort(self, handle: Handle) -> bool:
        return "mark" in handle.payload or super().abort(handle)
