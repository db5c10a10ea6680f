"""FileSource: records from files, and the names of file sinks. This version reads lines of text; the rest comes later.

Decides how programs describe a file source; `headrace.sources.text_file` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.common.errors import InvalidProgramError, TypeMismatchError
from headrace.common.time import Duration, millis_of
from headrace.datastream.connectors.base import Source
from headrace.datastream.connectors.file_sink import (
    BucketAssigner,
    DefaultRollingPolicy,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    OnCheckpointRollingPolicy,
    OutputFileConfig,
    RollingPolicy,
    StreamingFileSink,
)
from headrace.datastream.without_effect import warn_without_effect
from headrace.sources.text_file import TextFiles

__all__ = [
    "BucketAssigner",
    "BulkFormat",
    "DefaultRollingPolicy",
    "FileCompactStrategy",
    "FileCompactor",
    "FileEnumeratorProvider",
    "FileSink",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]


@dataclass(frozen=True)
class StreamFormat:
    """How the bytes of a file become records, one after the other.

    >>> StreamFormat.text_line_format().charset_name
    'UTF-8'
    """

    charset_name: str

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """Give the format in which each line is a record.

        >>> StreamFormat.text_line_format("ISO-8859-1")
        StreamFormat(charset_name='ISO-8859-1')
        """
        return StreamFormat(charset_name)


class BulkFormat:
    """How the bytes of a file become batches of records (Parquet, ORC): comes with a later version."""


@dataclass(frozen=True)
class FileEnumeratorProvider:
    """How files are found and cut into splits.

    >>> FileEnumeratorProvider.default_non_splittable_file_enumerator().splittable
    False
    """

    splittable: bool

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Give the enumerator that may cut a file into parts; lines of text are never cut, as in Flink."""
        return FileEnumeratorProvider(True)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Give the enumerator that makes one split of each file."""
        return FileEnumeratorProvider(False)


@dataclass(frozen=True)
class FileSplitAssignerProvider:
    """How splits are given to subtasks.

    >>> FileSplitAssignerProvider.locality_aware_split_assigner()
    FileSplitAssignerProvider()
    """

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Give the assigner that prefers files on the subtask's host; Spark decides where subtasks run."""
        return FileSplitAssignerProvider()


class FileSource(Source):
    """Reads files: all there are when the job starts, or for ever with `FileSourceBuilder.monitor_continuously`.

    >>> from headrace.common import WatermarkStrategy
    >>> from headrace.datastream import StreamExecutionEnvironment
    >>> env = StreamExecutionEnvironment.get_execution_environment()
    >>> source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/tmp/in").build()
    >>> env.from_source(source, WatermarkStrategy.no_watermarks(), "lines").get_type()
    String
    """

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        """Start a source for files, directories (with all that is in them) or patterns such as ``/data/*.txt``."""
        if not isinstance(stream_format, StreamFormat):
            raise TypeMismatchError(
                "for_record_stream_format takes a stream format first",
                seen=stream_format,
                expected="StreamFormat.text_line_format(); other formats come with a later version",
            )
        return FileSourceBuilder(stream_format, paths)

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        """Refuse: Parquet and other bulk formats come with a later version."""
        raise InvalidProgramError(
            "for_bulk_file_format() is not available in this version of headrace",
            seen=f"{type(bulk_format).__name__} for {', '.join(paths)}",
            remedy="read lines of text with for_record_stream_format()",
        )


class FileSourceBuilder:
    """Collects the parts of a file source.

    >>> builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/tmp/in")
    >>> builder.monitor_continuously(Duration.of_seconds(5)).build().get_definition().bounded
    False
    """

    def __init__(self, stream_format: StreamFormat, paths: tuple[str, ...]) -> None:
        """Programs call `FileSource.for_record_stream_format`."""
        self._format = stream_format
        self._paths = paths
        self._monitor_seconds: float | None = None

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Look for new files for ever, with this interval: the source is unbounded."""
        self._monitor_seconds = millis_of(discovery_interval, "monitor_continuously", at_least=1) / 1000
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Read the files that are there when the job starts: the source is bounded. This is the default."""
        self._monitor_seconds = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Set how files are found; each text file is one split with either enumerator."""
        if not isinstance(file_enumerator, FileEnumeratorProvider):
            raise TypeMismatchError("set_file_enumerator takes a FileEnumeratorProvider", seen=file_enumerator)
        if file_enumerator.splittable:
            warn_without_effect("set_file_enumerator")
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Set how splits are given to subtasks; Spark decides where subtasks run."""
        if not isinstance(split_assigner, FileSplitAssignerProvider):
            raise TypeMismatchError("set_split_assigner takes a FileSplitAssignerProvider", seen=split_assigner)
        warn_without_effect("set_split_assigner")
        return self

    def build(self) -> FileSource:
        """Make the source."""
        return FileSource(TextFiles(self._paths, self._format.charset_name, self._monitor_seconds))
