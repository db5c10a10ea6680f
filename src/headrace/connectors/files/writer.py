"""The writer and the committer of a file sink.

1. An element goes to the part in progress of its bucket; a rolling policy closes parts.
2. End of an epoch: closed parts are *pending* (their payloads), the others are state. With compaction they are held and
   merged first; for another file system they are uploaded.
3. End of input: all parts are closed.
4. Commit: the pending file gets its final name atomically; a second commit finds it there.
"""

from __future__ import annotations

import os
import uuid
from itertools import groupby
from typing import TYPE_CHECKING, Any

from headrace.connectors.base import staging
from headrace.connectors.base.sink_committer import Handle, SinkCommitter
from headrace.connectors.base.sink_writer import EpochEnd, SinkWriter, WriterContext
from headrace.connectors.files import remote
from headrace.connectors.files.compaction import Held, found_again
from headrace.connectors.files.parts import BulkPart, Part, PartName, RowPart
from headrace.errors import JobExecutionError
from headrace.foundation.file_systems import is_local
from headrace.foundation.private_folders import make_durable
from headrace.types.serialization import Encoder

if TYPE_CHECKING:
    from headrace.connectors.files.sink import FileParts


class FileWriter(SinkWriter):
    """Writes the part files of one subtask."""

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
        buckets = self._sink.buckets.buckets_of(values, now)
        if isinstance(buckets, str):
            self._append(buckets, values, now)
            return
        for bucket, run in groupby(zip(buckets, values), lambda pair: pair[0]):
            self._append(bucket, [value for _, value in run], now)

    def _append(self, bucket: str, values: list[Any], now: int) -> None:
        limit = self._sink.rolling.size_limit
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
        """Hold a complete part, or make it pending."""
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


class FileCommitter(SinkCommitter):
    """Gives pending files their final names."""

    def commit(self, handle: Handle) -> None:
        pending, final = handle.payload["from"], handle.payload["to"]
        if not (_rename(pending, final) if is_local(pending) else remote.rename(pending, final)):
            if not staging.exists(final):
                raise JobExecutionError(
                    f"The pending file of checkpoint {handle.checkpoint} is gone",
                    seen=pending,
                    expected=f"that file, or {final}",
                )
        for address in handle.payload.get("of", ()):  # older states are not needed any more
            staging.remove(address)

    def abort(self, handle: Handle) -> bool:
        pending, final = handle.payload["from"], handle.payload["to"]
        staging.remove(pending)
        return not staging.exists(final)


def _rename(pending: str, final: str) -> bool:
    try:
        os.rename(pending, final)
    except FileNotFoundError:
        return False
    make_durable(os.path.dirname(final))
    return True
