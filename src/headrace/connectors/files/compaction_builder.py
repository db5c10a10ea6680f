"""FileCompactStrategy and FileCompactor: how programs ask a FileSink to put small files together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from headrace.compatibility.ignored_settings import warn_without_effect
from headrace.connectors.files.file_format import FileFormat, FileRange
from headrace.connectors.files.parts import add_all
from headrace.connectors.files.source import BulkFormat, StreamFormat
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.serialization import BulkWriterFactory

__all__ = ["FileCompactStrategy", "FileCompactor", "RecordWiseFileCompactor", "Rewriting"]

_READ_RECORDS = 65_536


@dataclass(frozen=True)
class FileCompactStrategy:
    """When small part files of a bucket are put together, before they become visible.

    >>> FileCompactStrategy.builder().set_size_threshold(1 << 20).enable_compaction_on_checkpoint(5).build()
    FileCompactStrategy(size_threshold=1048576, num_checkpoints=5)
    """

    size_threshold: int
    num_checkpoints: int

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Start a strategy."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Collects the conditions; one of them is enough to put files together."""

        def __init__(self) -> None:
            """Programs call `FileCompactStrategy.builder`."""
            self._size, self._checkpoints = -1, -1

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Put files together when a subtask has so many bytes for a bucket; -1 for never."""
            self._size = size_threshold
            return self

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Put files together after so many checkpoints; -1 for never."""
            self._checkpoints = num_checkpoints_before_compaction
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Accept a number: the subtasks of the sink put files together, each its own, so more than 1 has no effect."""
            if num_compact_threads < 1:
                raise InvalidProgramError("Files are put together by at least one thread", seen=num_compact_threads)
            if num_compact_threads > 1:
                warn_without_effect("set_num_compact_threads")
            return self

        def build(self) -> FileCompactStrategy:
            """Make the strategy."""
            if self._size < 0 and self._checkpoints < 1:
                raise InvalidProgramError(
                    "At least one condition to put files together is needed",
                    remedy="call set_size_threshold() or enable_compaction_on_checkpoint()",
                )
            return FileCompactStrategy(self._size, self._checkpoints)


@dataclass(frozen=True)
class FileCompactor:
    r"""How small part files are put together.

    >>> FileCompactor.concat_file_compactor(b"\n")
    FileCompactor(delimiter=b'\n', single=False)
    """

    delimiter: bytes = b""
    single: bool = False

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Give the compactor that writes files one after the other, with the delimiter between them."""
        return FileCompactor(file_delimiter or b"")

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Give the compactor that takes one file as it is; several are an error."""
        return FileCompactor(single=True)


@dataclass(frozen=True)
class RecordWiseFileCompactor(FileCompactor):
    """Reads the records of small files and writes them into one: for bulk formats, whose files have blocks and a foot.

    >>> from headrace.datastream.formats.parquet import ParquetColumnarRowInputFormat
    >>> from headrace.table import DataTypes
    >>> rows = DataTypes.ROW([DataTypes.FIELD("id", DataTypes.BIGINT())])
    >>> RecordWiseFileCompactor(ParquetColumnarRowInputFormat(rows)).single
    False
    """

    reader_format: BulkFormat | StreamFormat | None = None

    def __init__(self, reader_format: BulkFormat | StreamFormat) -> None:
        """Take the format that reads what the sink writes."""
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
    """Writes the records of files into one; for `headrace.connectors.files`."""

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
