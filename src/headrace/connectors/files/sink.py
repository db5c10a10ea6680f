"""The file sink's definition, its writer and its committer.

1. An element goes to the part in progress of its bucket; a rolling policy closes parts.
2. End of an epoch: parts that were closed are *pending* (their payloads), the others are state. With compaction they are
   held and put together first; for another file system they are uploaded.
3. End of input: all parts are closed.
4. Commit: the pending file gets its final name, at once and whole; a second commit finds it there.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from headrace.connectors.base import staging
from headrace.connectors.base.sink import EpochEnd, Handle, Sink, SinkCommitter, SinkWriter, WriterContext
from headrace.connectors.files import remote
from headrace.connectors.files.buckets import Buckets
from headrace.connectors.files.compaction import Compaction, Held, found_again
from headrace.connectors.files.parts import BulkPart, Part, PartName, RowPart
from headrace.connectors.files.rolling import Rolling
from headrace.errors import JobExecutionError
from headrace.foundation.file_systems import file_system, is_local
from headrace.types.serialization import BulkWriterFactory, Encoder


@dataclass(frozen=True)
class FileParts(Sink):
    """Part files below `base`."""

    base: str
    format: Encoder | BulkWriterFactory
    rolling: Rolling
    buckets: Buckets
    prefix: str = "part"
    suffix: str = ""
    check_interval: int = 60_000
    compaction: Compaction | None = None

    @property
    def takes_columns(self) -> bool:
        """Whether columns may stay columns: writers of bulk formats know."""
        return not isinstance(self.format, Encoder)

    @property
    def remote(self) -> bool:
        """Whether the base is an address of another file system."""
        return not is_local(self.base)

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return _FileWriter(self, context, states)

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter:
        if self.remote:
            file_system(self.base)  # one that cannot be used is refused before the job starts
        return _FileCommitter(self.remote)


class _FileWriter(SinkWriter):
    def __init__(self, sink: FileParts, context: WriterContext, states: list[Any]) -> None:
        self._sink = sink
        self._log = context.directory
        self._clock = context.current_processing_time
        self._unique, self._count = uuid.uuid4(), 0
        self._parts: dict[str, Part] = {}
        self._pending: list[dict[str, Any]] = []
        self._held = None if sink.compaction is None else Held(sink.compaction)
        self._state: list[dict[str, Any]] = []
        self._checked = self._clock()
        for state in (part for one in states for part in one):
            if "held" in state:
                self._take(state["bucket"], found_again(state["held"], self._log))
                continue
            part = self._open(state["bucket"], state["created"], state)
            part.written = state["written"]
            if state["bucket"] in self._parts:
                self._take(state["bucket"], part.finish())  # after a change of parallelism two parts may meet
            else:
                self._parts[state["bucket"]] = part

    def write(self, values: list[Any], timestamps: list[int | None] | None) -> None:
        now = self._clock()
        buckets = self._sink.buckets.of(values, timestamps, now)
        if isinstance(buckets, str):
            self._append(buckets, values, now)
            return
        for bucket, run in groupby(zip(buckets, values), lambda pair: pair[0]):
            self._append(bucket, [value for _, value in run], now)

    def _append(self, bucket: str, values: list[Any], now: int) -> None:
        limit = self._sink.rolling.part_size
        while values:
            part = self._parts.get(bucket)
            if part is not None and self._sink.rolling.by_size(part.size):
                self._close(bucket)
                part = None
            if part is None:
                part = self._parts[bucket] = self._open(bucket, now)
            values = values[part.add(values, limit) :]
            part.written = now

    def _open(self, bucket: str, created: int, before: dict[str, Any] | None = None) -> Part:
        sink = self._sink
        file = f"{sink.prefix}-{self._unique}-{self._count}{sink.suffix}"
        place = os.path.join(sink.base, bucket)
        name = PartName(self._log, file, place) if sink.remote else PartName(place, file)
        self._count += 1
        if isinstance(sink.format, Encoder):
            return RowPart(name, created, sink.format, before)
        return BulkPart(name, created, sink.format, self._log, before)

    def _close(self, bucket: str) -> None:
        self._take(bucket, self._parts.pop(bucket).finish())

    def _take(self, bucket: str, payload: dict[str, Any]) -> None:
        """A part is complete: it is held, or pending."""
        if self._held is not None:
            self._held.add(bucket, payload)
        else:
            self._pending.append(self._uploaded(payload))

    def _uploaded(self, payload: dict[str, Any]) -> dict[str, Any]:
        if not self._sink.remote:
            return payload
        local = payload["from"]
        return {**payload, "from": remote.upload(local, payload["to"]), "of": [local, *payload.get("of", ())]}

    def end_epoch(self, end: EpochEnd) -> list[Any]:
        rolling = self._sink.rolling
        check = end.now - self._checked >= self._sink.check_interval
        if check:
            self._checked = end.now
        for bucket, part in list(self._parts.items()):
            if (
                end.last
                or (end.checkpointing and rolling.by_checkpoint(part.size))
                or (check and rolling.by_time(part.created, part.written, end.now))
            ):
                self._close(bucket)
        if self._held is not None:
            for bucket in self._held.due(end.checkpointing, end.last):
                self._pending.append(self._uploaded(self._held.put_together(bucket)))
        self._state = [
            {
                "bucket": bucket,
                "created": part.created,
                "written": part.written,
                **part.state(end.handle, end.checkpointing),
            }
            for bucket, part in self._parts.items()
        ]
        if self._held is not None:
            self._state += self._held.state(upload=self._sink.remote and end.checkpointing)
        pending, self._pending = self._pending, []
        return list(pending)

    def state(self) -> list[dict[str, Any]] | None:
        return self._state or None

    def close(self) -> None:
        for part in self._parts.values():
            part.abandon()


class _FileCommitter(SinkCommitter):
    def __init__(self, elsewhere: bool) -> None:
        self._elsewhere = elsewhere

    def commit(self, handle: Handle) -> None:
        pending, final = handle.payload["from"], handle.payload["to"]
        if not (remote.rename(pending, final) if self._elsewhere else _rename(pending, final)):
            if not (remote.exists(final) if self._elsewhere else os.path.exists(final)):
                raise JobExecutionError(
                    f"The pending file of checkpoint {handle.checkpoint} is gone",
                    seen=pending,
                    expected=f"that file, or {final}",
                )
        for address in handle.payload.get("of", ()):  # older states are not needed any more
            staging.remove(address)

    def abort(self, handle: Handle) -> bool:
        pending, final = handle.payload["from"], handle.payload["to"]
        if self._elsewhere:
            remote.remove(pending)
            return not remote.exists(final)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(pending)
        return not os.path.exists(final)


def _rename(pending: str, final: str) -> bool:
    try:
        os.rename(pending, final)
    except FileNotFoundError:
        return False
    _sync_directory(os.path.dirname(final))
    return True


def _sync_directory(path: str) -> None:
    """Makes the new name survive a crash of the machine."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
