"""Part files in progress.

A row part is a file that grows: its valid length after each epoch is state, and a successor continues with a copy of that
length. A bulk part lives in the memory of its writer: its elements are logged, epoch by epoch, in the job's state directory,
and a successor writes them again. Files of a predecessor are never touched: it may still be running.

A row part for another file system grows on the local side. Each checkpoint uploads what was added (a *segment*), so that a
successor on another machine can rebuild the part.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import pickle
import shutil
import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import IO, Any

from headrace.connectors.files.remote import upload_segment
from headrace.errors import StateError
from headrace.foundation.file_systems import is_local, open_input
from headrace.foundation.private_folders import owner_only
from headrace.state.safe_pickle import PLAIN, load
from headrace.types.column_run import as_columns
from headrace.types.serialization import BulkWriter, BulkWriterFactory, Encoder

_RUN = 1024


@dataclass
class PartName:
    """Where a part is while it is written, and where it will be: in the same folder, or in `target`."""

    folder: str
    name: str
    target: str | None = None

    def in_progress(self) -> str:
        """Return a new hidden name."""
        return os.path.join(self.folder, f".{self.name}.inprogress.{uuid.uuid4()}")

    @property
    def elsewhere(self) -> bool:
        """Whether the finished file will be on another file system."""
        return self.target is not None and not is_local(self.target)

    @property
    def final(self) -> str:
        """The name of the finished file."""
        return os.path.join(self.folder if self.target is None else self.target, self.name)


class Part(ABC):
    """A part file that takes elements."""

    def __init__(self, name: PartName, created: int) -> None:
        self.name, self.created, self.written = name, created, created
        self.in_state = False
        """Whether the state of an epoch relies on the file: a successor may need it even if this part was finished."""
        os.makedirs(name.folder, exist_ok=True)
        self.path = name.in_progress()
        self.file: IO[bytes] = open(self.path, "xb")

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self.file.tell()

    @abstractmethod
    def add(self, values: list[Any], limit: int | None) -> int:
        """Write elements until the part is larger than `limit`; return how many were written."""

    @abstractmethod
    def state(self, handle: str, checkpointing: bool) -> dict[str, Any]:
        """Make everything so far durable and return how a successor continues."""

    def finish(self) -> dict[str, Any]:
        """Close the file and return the payload of its commit. `of` are files that are not needed after it.

        A file that a state relies on stays as it is, and the commit has another name for it: an aborted handle must not
        remove what the job goes back to.
        """
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        if not self.in_state:
            return {"from": self.path, "to": self.name.final}
        pending = self.name.in_progress()
        try:
            os.link(self.path, pending)
        except OSError:  # a file system without links
            shutil.copyfile(self.path, pending)
        return {"from": pending, "to": self.name.final, "of": [self.path]}

    def abandon(self) -> None:
        """Close an unfinished part."""
        with contextlib.suppress(OSError):
            self.file.close()


class RowPart(Part):
    """Elements one after the other."""

    def __init__(self, name: PartName, created: int, encoder: Encoder, before: dict[str, Any] | None = None) -> None:
        super().__init__(name, created)
        self._encoder = encoder
        self._segments: list[str] = list((before or {}).get("segments", ()))
        """Addresses of what was uploaded: together the first `_uploaded` bytes."""
        self._uploaded: int = (before or {}).get("uploaded", 0)
        if before is not None:
            self._continue(before)

    def _continue(self, before: dict[str, Any]) -> None:
        """Copy what the predecessor had, from its file or, if that is gone, from its uploads."""
        left = before["length"]
        gone = not os.path.exists(before["path"])
        for source in self._segments if gone and self._uploaded >= left else [before["path"]]:
            with open_input(source) as predecessor:
                while left and (block := predecessor.read(min(left, 1 << 20))):
                    self.file.write(block)
                    left -= len(block)
        if left:
            raise OSError(f"{before['path']} has lost {left} bytes")

    def add(self, values: list[Any], limit: int | None) -> int:
        if type(self._encoder) is Encoder:
            lines = self._encoder.lines(values[:_RUN])
            if limit is not None:
                before = itertools.accumulate(map(len, lines), initial=self.size)
                lines = lines[: sum(1 for _ in itertools.takewhile(lambda size: size <= limit, before))]
            self.file.writelines(lines)
            return len(lines)
        encode, file = self._encoder.encode, self.file
        for count, value in enumerate(values):
            if limit is not None and file.tell() > limit:
                return count
            encode(value, file)  # type: ignore[arg-type]
        return len(values)

    def state(self, handle: str, checkpointing: bool) -> dict[str, Any]:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.in_state = True
        state: dict[str, Any] = {"path": self.path, "length": self.size}
        if self.name.elsewhere:
            if checkpointing and self.size > self._uploaded:
                self._segments.append(upload_segment(self.path, self._uploaded, self.name.final))
                self._uploaded = self.size
            state |= {"segments": list(self._segments), "uploaded": self._uploaded}
        return state

    def finish(self) -> dict[str, Any]:
        payload = super().finish()
        return {**payload, "of": [*payload.get("of", ()), *self._segments]} if self._segments else payload


def add_all(writer: BulkWriter, values: list[Any]) -> None:
    """Add a run of elements to a file of blocks; columns as they are, if its writer takes them."""
    run = as_columns(values)
    add_columns = None if run is None else getattr(writer, "add_columns", None)
    if add_columns is None or not add_columns(run):
        add = writer.add_element
        for value in values:
            add(value)


def _path_of(segment: dict[str, str] | str) -> str:
    return segment if isinstance(segment, str) else segment["path"]


def _segment_data(segment: dict[str, str] | str) -> bytes:
    """Read the elements that a checkpoint relies on, and make sure that this job has written them.

    States of earlier versions only name the file. Such a file is read if only this user could have written it.
    """
    path = _path_of(segment)
    with open(path, "rb") as file:
        found, data = os.fstat(file.fileno()), file.read()
    if isinstance(segment, str):
        genuine = found.st_uid == os.getuid() and not found.st_mode & 0o022
    else:
        genuine = hashlib.sha256(data).hexdigest() == segment["sha256"]
    if not genuine:
        raise StateError(
            "The elements of an unfinished part file are not those that this job has written",
            seen=path,
            remedy="restore from another checkpoint or savepoint.",
        )
    return data


class BulkPart(Part):
    """Elements of a format with blocks and a footer."""

    def __init__(
        self, name: PartName, created: int, factory: BulkWriterFactory, log: str, before: dict[str, Any] | None = None
    ) -> None:
        super().__init__(name, created)
        self._writer = factory.create(self.file)  # type: ignore[arg-type]
        self._log = log
        self._segments: list[dict[str, str]] = []
        self._fresh: list[list[Any]] = []
        """Runs of elements that no segment has yet."""
        for segment in (before or {}).get("segments", ()):
            data = _segment_data(segment)
            # Any class may be in it: the job's own state has the digest of these bytes.
            for values in load(PLAIN, data, allowed_modules=None):
                self._append(values)
            self._segments.append({"path": _path_of(segment), "sha256": hashlib.sha256(data).hexdigest()})
        self._fresh = []

    def _append(self, values: list[Any]) -> None:
        add_all(self._writer, values)
        self._fresh.append(values)

    def add(self, values: list[Any], limit: int | None) -> int:
        self._append(values)
        return len(values)

    def state(self, handle: str, checkpointing: bool) -> dict[str, Any]:
        """Log new elements. A checkpoint closes all parts of block formats: only epochs before it rely on these logs."""
        if self._fresh:
            segment = os.path.join(self._log, f"{handle}.{uuid.uuid4().hex[:8]}.elements")
            data = pickle.dumps(self._fresh, protocol=5)
            with open(segment, "xb", opener=owner_only) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            self._segments.append({"path": segment, "sha256": hashlib.sha256(data).hexdigest()})
            self._fresh = []
        return {"segments": list(self._segments)}

    def finish(self) -> dict[str, Any]:
        self._writer.finish()
        return super().finish()
