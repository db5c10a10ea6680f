"""Small part files that are merged before they become visible.

1. A closed part is *held*: a hidden file, named in the writer's state, until its bucket is due.
2. Due: enough bytes are held in the bucket, enough checkpoints have passed, or the input has ended.
3. The held files of a bucket become one file, `compacted-NAME`, which is pending and committed like any part. The held files
   are removed with the commit: a handle that is aborted leaves them to the state that relies on them.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from headrace.compatibility.ignored_settings import warn_without_effect
from headrace.connectors.files import remote
from headrace.connectors.files.file_format import FileFormat, FileRange
from headrace.connectors.files.parts import PartName, add_all
from headrace.connectors.files.source import BulkFormat, StreamFormat
from headrace.errors import InvalidProgramError, JobExecutionError, TypeMismatchError
from headrace.foundation.file_systems import open_input
from headrace.types.serialization import BulkWriterFactory

_READ_RECORDS = 65_536


@dataclass(frozen=True)
class FileCompactStrategy:
    """When small part files of a bucket are merged, before they become visible.

    >>> FileCompactStrategy.builder().set_size_threshold(1 << 20).enable_compaction_on_checkpoint(5).build()
    FileCompactStrategy(size_threshold=1048576, num_checkpoints=5)
    """

    size_threshold: int
    num_checkpoints: int

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Return a builder."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Collects the conditions; one of them is enough to merge files."""

        def __init__(self) -> None:
            """Programs call `FileCompactStrategy.builder`."""
            self._size, self._checkpoints = -1, -1

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Merge files when a subtask has this many bytes for a bucket; -1 for never."""
            self._size = size_threshold
            return self

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Merge files after this many checkpoints; -1 for never."""
            self._checkpoints = num_checkpoints_before_compaction
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Accept a number: each subtask of the sink merges its own files, so more than 1 has no effect."""
            if num_compact_threads < 1:
                raise InvalidProgramError("At least one thread merges files", seen=num_compact_threads)
            if num_compact_threads > 1:
                warn_without_effect("set_num_compact_threads")
            return self

        def build(self) -> FileCompactStrategy:
            """Return the strategy."""
            if self._size < 0 and self._checkpoints < 1:
                raise InvalidProgramError(
                    "At least one condition to put files together is needed",
                    remedy="call set_size_threshold() or enable_compaction_on_checkpoint()",
                )
            return FileCompactStrategy(self._size, self._checkpoints)


@dataclass(frozen=True)
class FileCompactor:
    r"""How small part files are merged.

    >>> FileCompactor.concat_file_compactor(b"\n")
    FileCompactor(delimiter=b'\n', single=False)
    """

    delimiter: bytes = b""
    single: bool = False

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Return the compactor that concatenates files, with the delimiter between them."""
        return FileCompactor(file_delimiter or b"")

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Return the compactor that takes one file as it is; several are an error."""
        return FileCompactor(single=True)


@dataclass(frozen=True)
class RecordWiseFileCompactor(FileCompactor):
    """Reads the records of small files and writes them into one: for bulk formats, whose files have blocks and a footer.

    >>> from headrace.datastream.formats.parquet import ParquetColumnarRowInputFormat
    >>> from headrace.table import DataTypes
    >>> rows = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT())])
    >>> RecordWiseFileCompactor(ParquetColumnarRowInputFormat(rows)).single
    False
    """

    reader_format: BulkFormat | StreamFormat | None = None

    def __init__(self, reader_format: BulkFormat | StreamFormat) -> None:
        if not isinstance(reader_format, (BulkFormat, StreamFormat)):
            raise TypeMismatchError(
                "A RecordWiseFileCompactor takes a format of a FileSource",
                seen=reader_format,
                expected="such as ParquetColumnarRowInputFormat(row_type)",
            )
        super().__init__()
        object.__setattr__(self, "reader_format", reader_format)


@dataclass(frozen=True)
class Rewriting:
    """Writes the records of files into one."""

    reads: FileFormat
    writes: BulkWriterFactory

    def __call__(self, paths: Sequence[str], output: BinaryIO) -> None:
        """Write the records of all files, in their order, with the end of the file."""
        writer = self.writes.create(output)
        for path in paths:
            reader = self.reads.open(FileRange(path), None)
            try:
                while not reader.finished:
                    add_all(writer, reader.read(_READ_RECORDS, 0).values)
            finally:
                reader.close()
        writer.finish()


@dataclass(frozen=True)
class Compaction:
    """When files are merged, and how: with a delimiter between them, or by reading and writing their records (`rewrite`).

    `single`: there must be only one.
    """

    size_threshold: int = -1
    checkpoints: int = -1
    delimiter: bytes = b""
    single: bool = False
    rewrite: Callable[[Sequence[str], BinaryIO], None] | None = None


def found_again(file: dict[str, Any], folder: str) -> dict[str, Any]:
    """Return a held file of a predecessor; if its machine is gone, fetch the uploaded copy into `folder`."""
    if "copy" not in file or os.path.exists(file["from"]):
        return file
    path = os.path.join(folder, f"{os.path.basename(file['copy'])}.{uuid.uuid4().hex}")
    with open_input(file["copy"]) as source, open(path, "xb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
    return {**file, "from": path}


class Held:
    """The held files of one writer: payloads of parts, by bucket."""

    def __init__(self, rules: Compaction) -> None:
        self._rules = rules
        self._files: dict[str, list[dict[str, Any]]] = {}
        self._checkpoints = 0

    def add(self, bucket: str, payload: dict[str, Any]) -> None:
        self._files.setdefault(bucket, []).append(payload)

    def state(self, upload: bool = False) -> list[dict[str, Any]]:
        """Return what a successor continues with. `upload`: it may not have the local files."""
        if upload:
            for file in (file for files in self._files.values() for file in files):
                if "copy" not in file:
                    file["copy"] = remote.upload(file["from"], file["to"])
        return [{"bucket": bucket, "held": file} for bucket, files in self._files.items() for file in files]

    def due(self, checkpointing: bool, last: bool) -> list[str]:
        """Return the buckets whose files have to be merged now."""
        rules = self._rules
        self._checkpoints += checkpointing
        if last or (0 < rules.checkpoints <= self._checkpoints):
            self._checkpoints = 0
            return list(self._files)
        if rules.size_threshold < 0:
            return []
        sizes = {bucket: sum(os.path.getsize(f["from"]) for f in files) for bucket, files in self._files.items()}
        return [bucket for bucket, size in sizes.items() if size >= rules.size_threshold]

    def put_together(self, bucket: str) -> dict[str, Any]:
        """Merge the files of a bucket into one and return its payload."""
        files = self._files.pop(bucket)
        if self._rules.single and len(files) > 1:
            raise JobExecutionError(
                "identical_file_compactor() takes one file at a time",
                seen=f"{len(files)} files in bucket {bucket!r}",
                remedy="use concat_file_compactor()",
            )
        folder, name = os.path.split(files[0]["to"])
        target = PartName(os.path.dirname(files[0]["from"]), f"compacted-{name}", folder)
        path = target.in_progress()
        with open(path, "xb") as output:
            if self._rules.rewrite is not None:
                self._rules.rewrite([file["from"] for file in files], output)
            else:
                self._concatenate(files, output)
            output.flush()
            os.fsync(output.fileno())
        copies = [file["copy"] for file in files if "copy" in file]
        parts = [gone for file in files for gone in (file["from"], *file.get("of", ()))]
        return {"from": path, "to": target.final, "of": [*parts, *copies]}

    def _concatenate(self, files: list[dict[str, Any]], output: BinaryIO) -> None:
        for index, file in enumerate(files):
            if index:
                output.write(self._rules.delimiter)
            with open(file["from"], "rb") as source:
                shutil.copyfileobj(source, output, 1 << 20)
