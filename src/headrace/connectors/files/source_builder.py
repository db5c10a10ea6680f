"""FileSource: records from files, and the names of file sinks.

Decides how programs describe a file source; `headrace.connectors.files.source` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

from headrace.common.output_tag import OutputTag
from headrace.compatibility.ignored_settings import warn_without_effect
from headrace.connectors.base.definitions import Source, dead_letter_tag
from headrace.connectors.files.sink_builder import (
    BucketAssigner,
    DefaultRollingPolicy,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    OnCheckpointRollingPolicy,
    OutputFileConfig,
    RecordWiseFileCompactor,
    RollingPolicy,
    StreamingFileSink,
)
from headrace.connectors.files.source import FileFormat, Files
from headrace.connectors.files.stream_formats import BulkFormat, StreamFormat
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.types.time import Duration, millis_of

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
    "RecordWiseFileCompactor",
    "RollingPolicy",
    "StreamFormat",
    "StreamingFileSink",
]


@dataclass(frozen=True)
class FileEnumeratorProvider:
    """How files are found and cut into splits.

    >>> FileEnumeratorProvider.default_non_splittable_file_enumerator().splittable
    False
    """

    splittable: bool

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Give the enumerator that cuts large files where their format can be cut; this is the default."""
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
                expected="e.g. StreamFormat.text_line_format() or CsvReaderFormat.for_schema(schema)",
            )
        return FileSourceBuilder(stream_format.file_format, paths)

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        """Start a source for files of columns, such as Parquet."""
        if not isinstance(bulk_format, BulkFormat):
            raise TypeMismatchError(
                "for_bulk_file_format takes a bulk format first",
                seen=bulk_format,
                expected="e.g. ParquetColumnarRowInputFormat(row_type)",
            )
        return FileSourceBuilder(bulk_format.file_format, paths)


class FileSourceBuilder:
    """Collects the parts of a file source.

    >>> builder = FileSource.for_record_stream_format(StreamFormat.text_line_format(), "/tmp/in")
    >>> builder.monitor_continuously(Duration.of_seconds(5)).build().get_definition().bounded
    False
    """

    def __init__(self, file_format: FileFormat, paths: tuple[str, ...]) -> None:
        """Programs call `FileSource.for_record_stream_format` or `FileSource.for_bulk_file_format`."""
        self._format = file_format
        self._cut = True
        self._paths = paths
        self._monitor_seconds: float | None = None
        self._dead_letters: str | None = None

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Look for new files for ever, with this interval: the source is unbounded."""
        self._monitor_seconds = millis_of(discovery_interval, "monitor_continuously", at_least=1) / 1000
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Read the files that are there when the job starts: the source is bounded. This is the default."""
        self._monitor_seconds = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Set whether large files are cut into parts that several subtasks read."""
        if not isinstance(file_enumerator, FileEnumeratorProvider):
            raise TypeMismatchError("set_file_enumerator takes a FileEnumeratorProvider", seen=file_enumerator)
        self._cut = file_enumerator.splittable
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Set how splits are given to subtasks; Spark decides where subtasks run."""
        if not isinstance(split_assigner, FileSplitAssignerProvider):
            raise TypeMismatchError("set_split_assigner takes a FileSplitAssignerProvider", seen=split_assigner)
        warn_without_effect("set_split_assigner")
        return self

    def set_dead_letter_output(self, output_tag: OutputTag) -> FileSourceBuilder:
        """Let lines that cannot be read go to a side output of the source, as `BadRecord`s; else they fail the job."""
        if not self._format.can_set_aside:
            raise InvalidProgramError(
                "A file of this format is readable or not as a whole: there are no single records to set aside",
                seen=type(self._format).__name__,
                expected="lines of JSON or CSV",
            )
        self._dead_letters = dead_letter_tag(output_tag)
        return self

    def build(self) -> FileSource:
        """Make the source."""
        return FileSource(Files(self._paths, self._format, self._monitor_seconds, self._cut, self._dead_letters))
