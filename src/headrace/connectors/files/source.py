"""The file source: how programs describe it, and the frozen definition that is pickled into the job.

`enumerator` finds the files in the driver; in tasks the format's readers read them.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from headrace.common.output_tag import OutputTag
from headrace.compatibility.ignored_settings import warn_without_effect
from headrace.connectors.base import definitions
from headrace.connectors.base.source import Source
from headrace.connectors.base.split_enumerator import Split
from headrace.connectors.base.split_reader import ReaderContext, SplitReader
from headrace.connectors.files.enumerator import FileEnumerator
from headrace.connectors.files.file_format import FileFormat, FileRange, unreadable
from headrace.connectors.files.text_file import TextLines
from headrace.errors import HeadraceError, InvalidProgramError, TypeMismatchError
from headrace.types.time import Duration, millis_of
from headrace.types.typeinfo import TypeInformation

__all__ = [
    "BulkFormat",
    "FileEnumeratorProvider",
    "FileSource",
    "FileSourceBuilder",
    "FileSplitAssignerProvider",
    "StreamFormat",
]


class StreamFormat:
    """How the bytes of a file become records, one after the other.

    >>> StreamFormat.text_line_format("ISO-8859-1").file_format.produced_type
    String
    """

    def __init__(self, file_format: FileFormat) -> None:
        self.file_format = file_format

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """Return the format in which each line is a record."""
        return StreamFormat(TextLines(charset_name))


class BulkFormat:
    """How the bytes of a file become batches of records (Parquet, ORC).

    >>> from headrace.datastream.formats.parquet import ParquetColumnarRowInputFormat
    >>> issubclass(ParquetColumnarRowInputFormat, BulkFormat)
    True
    """

    def __init__(self, file_format: FileFormat) -> None:
        self.file_format = file_format


@dataclass(frozen=True)
class FileEnumeratorProvider:
    """How files are found and cut into splits.

    >>> FileEnumeratorProvider.default_non_splittable_file_enumerator().splittable
    False
    """

    splittable: bool

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Return the enumerator that cuts large files if their format allows it; this is the default."""
        return FileEnumeratorProvider(True)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Return the enumerator that makes one split of each file."""
        return FileEnumeratorProvider(False)


@dataclass(frozen=True)
class FileSplitAssignerProvider:
    """How splits are assigned to subtasks.

    >>> FileSplitAssignerProvider.locality_aware_split_assigner()
    FileSplitAssignerProvider()
    """

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Return the assigner that prefers files on the subtask's host; Spark decides where subtasks run."""
        return FileSplitAssignerProvider()


class FileSource(definitions.Source):
    """Reads files: those that exist when the job starts, or new ones too with `FileSourceBuilder.monitor_continuously`.

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
        self._paths = tuple(str(path) for path in paths)
        self._monitor_seconds: float | None = None
        self._dead_letters: str | None = None

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Look for new files at this interval: the source is unbounded."""
        self._monitor_seconds = millis_of(discovery_interval, "monitor_continuously", at_least=1) / 1000
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Read the files that exist when the job starts: the source is bounded. This is the default."""
        self._monitor_seconds = None
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Set whether large files are cut into parts that several subtasks read."""
        if not isinstance(file_enumerator, FileEnumeratorProvider):
            raise TypeMismatchError("set_file_enumerator takes a FileEnumeratorProvider", seen=file_enumerator)
        self._cut = file_enumerator.splittable
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Set how splits are assigned to subtasks; Spark decides where subtasks run."""
        if not isinstance(split_assigner, FileSplitAssignerProvider):
            raise TypeMismatchError("set_split_assigner takes a FileSplitAssignerProvider", seen=split_assigner)
        warn_without_effect("set_split_assigner")
        return self

    def set_dead_letter_output(self, output_tag: OutputTag) -> FileSourceBuilder:
        """Send lines that cannot be read to a side output, as `BadRecord`s; otherwise they fail the job."""
        if not self._format.can_set_aside:
            raise InvalidProgramError(
                "A file of this format is readable or not as a whole: there are no single records to set aside",
                seen=type(self._format).__name__,
                expected="lines of JSON or CSV",
            )
        self._dead_letters = definitions.dead_letter_tag(output_tag)
        self._format = copy.copy(self._format)
        self._format.sets_aside = True
        return self

    def build(self) -> FileSource:
        """Return the source."""
        return FileSource(Files(self._paths, self._format, self._monitor_seconds, self._cut, self._dead_letters))


@dataclass(frozen=True, eq=False)
class Files(Source):
    r"""The records of all files under `paths`; with `monitor_seconds` it keeps looking for new files.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     size = file.write(b"to be\r\nor not")
    ...     file.flush()
    ...     source = Files((file.name,), TextLines())
    ...     (split,) = source.enumerator().start(1)
    ...     source.open_reader(split, None, ReaderContext()).read(10, 0).values
    ['to be', 'or not']
    """

    paths: tuple[str, ...]
    format: FileFormat
    monitor_seconds: float | None = None
    cut_large_files: bool = True
    dead_letters: str | None = None

    def __post_init__(self) -> None:
        if not self.paths:
            raise InvalidProgramError("A file source needs at least one path")

    @property
    def bounded(self) -> bool:
        return self.monitor_seconds is None

    @property
    def batch_records(self) -> int:
        return self.format.batch_records

    @property
    def produced_type(self) -> TypeInformation | None:
        return self.format.produced_type

    def enumerator(self) -> FileEnumerator:
        return FileEnumerator(self)

    def open_reader(self, split: Split, position: Any, context: ReaderContext) -> SplitReader:
        part = split.payload or FileRange(split.id)
        try:
            return self.format.open(part, position)
        except (HeadraceError, OSError):
            raise
        except Exception as error:
            raise unreadable(part.path, error) from error
