"""The file sink: how programs describe it, and the definition that is pickled into the job; `writer` writes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from headrace.connectors.base import definitions
from headrace.connectors.base.sink import Sink
from headrace.connectors.base.sink_committer import SinkCommitter
from headrace.connectors.base.sink_writer import SinkWriter, WriterContext
from headrace.connectors.files.buckets import BucketAssigner
from headrace.connectors.files.compaction import (
    Compaction,
    FileCompactor,
    FileCompactStrategy,
    RecordWiseFileCompactor,
    Rewriting,
)
from headrace.connectors.files.rolling import DefaultRollingPolicy, OnCheckpointRollingPolicy, RollingPolicy
from headrace.connectors.files.writer import FileCommitter, FileWriter
from headrace.errors import InvalidProgramError, TypeMismatchError
from headrace.foundation.file_systems import file_system, is_local, local_path
from headrace.types.serialization import BulkWriterFactory, Encoder
from headrace.types.typeinfo import TypeInformation

__all__ = [
    "BucketAssigner",
    "DefaultRollingPolicy",
    "FileCompactStrategy",
    "FileCompactor",
    "FileSink",
    "OnCheckpointRollingPolicy",
    "OutputFileConfig",
    "RecordWiseFileCompactor",
    "RollingPolicy",
    "StreamingFileSink",
]


@dataclass(frozen=True)
class OutputFileConfig:
    """How part files are named.

    >>> OutputFileConfig.builder().with_part_suffix(".txt").build()
    OutputFileConfig(part_prefix='part', part_suffix='.txt')
    """

    part_prefix: str
    part_suffix: str

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Return a builder."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """Return what the names begin with."""
        return self.part_prefix

    def get_part_suffix(self) -> str:
        """Return what the names end with."""
        return self.part_suffix

    class OutputFileConfigBuilder:
        """Collects the parts of a name."""

        def __init__(self) -> None:
            """Programs call `OutputFileConfig.builder`."""
            self.part_prefix = "part"
            self.part_suffix = ""

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set what the names begin with."""
            self.part_prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set what the names end with."""
            self.part_suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            """Return the description."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)


class FileSink(definitions.Sink):
    """Writes part files below a path: hidden while they are in progress, whole and visible after a checkpoint.

    >>> sink = FileSink.for_row_format("/tmp/out", Encoder.simple_string_encoder()).build()
    >>> isinstance(sink, definitions.Sink)
    True
    """

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Return a builder of a sink that writes elements one after the other."""
        if not isinstance(encoder, Encoder):
            raise TypeMismatchError("for_row_format takes an Encoder", seen=encoder)
        return FileSink.RowFormatBuilder(_parts(base_path, encoder, RollingPolicy.default_rolling_policy()))

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSink.BulkFormatBuilder:
        """Return a builder of a sink with a block format, such as Parquet: a file ends with each checkpoint."""
        if not isinstance(writer_factory, BulkWriterFactory):
            raise TypeMismatchError("for_bulk_format takes a BulkWriterFactory", seen=writer_factory)
        return FileSink.BulkFormatBuilder(_parts(base_path, writer_factory, OnCheckpointRollingPolicy()))

    def definition_for(self, type_info: TypeInformation | None) -> Any:
        """Return the definition; a simple string encoder formats elements by their type."""
        parts = self.get_definition()
        if type(parts.format) is Encoder and type_info is not None:
            return replace(parts, format=parts.format.for_type(type_info))
        return parts

    class BaseBuilder:
        """Collects what both kinds of sinks have."""

        def __init__(self, parts: FileParts) -> None:
            """Programs call `FileSink.for_row_format` or `FileSink.for_bulk_format`."""
            self.parts = parts

        def with_bucket_check_interval(self, interval: int) -> Any:
            """Set how often the ages of files are checked, in milliseconds."""
            return self._with(check_interval=interval)

        def with_bucket_assigner(self, bucket_assigner: BucketAssigner | Callable[[Any, int], str]) -> Any:
            """Set in which directories elements are written."""
            if not isinstance(bucket_assigner, BucketAssigner):
                raise TypeMismatchError("with_bucket_assigner takes a BucketAssigner", seen=bucket_assigner)
            return self._with(buckets=bucket_assigner)

        def with_output_file_config(self, output_file_config: OutputFileConfig) -> Any:
            """Set how files are named."""
            if not isinstance(output_file_config, OutputFileConfig):
                raise TypeMismatchError("with_output_file_config takes an OutputFileConfig", seen=output_file_config)
            return self._with(prefix=output_file_config.part_prefix, suffix=output_file_config.part_suffix)

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Any:
            """Set when a file ends."""
            if not isinstance(rolling_policy, DefaultRollingPolicy | OnCheckpointRollingPolicy):
                raise TypeMismatchError("with_rolling_policy takes a RollingPolicy", seen=rolling_policy)
            return self._with(rolling=rolling_policy)

        def enable_compact(self, strategy: FileCompactStrategy, compactor: FileCompactor) -> Any:
            """Merge small files before they become visible."""
            if not isinstance(strategy, FileCompactStrategy) or not isinstance(compactor, FileCompactor):
                raise TypeMismatchError(
                    "enable_compact takes a FileCompactStrategy and a FileCompactor", seen=(strategy, compactor)
                )
            rules = Compaction(strategy.size_threshold, strategy.num_checkpoints, compactor.delimiter, compactor.single)
            return self._with(compaction=replace(rules, rewrite=self._rewriting(compactor)))

        def _rewriting(self, compactor: FileCompactor) -> Rewriting | None:
            if isinstance(compactor, RecordWiseFileCompactor):
                raise InvalidProgramError(
                    "A RecordWiseFileCompactor is for bulk formats", remedy="use concat_file_compactor()"
                )
            return None

        def disable_compact(self) -> Any:
            """Do not merge files: this is the default."""
            return self._with(compaction=None)

        def build(self) -> FileSink:
            """Return the sink."""
            return FileSink(self.parts)

        def _with(self, **settings: Any) -> Any:
            self.parts = replace(self.parts, **settings)
            return self

    class RowFormatBuilder(BaseBuilder):
        """Collects the parts of a sink of rows."""

    class BulkFormatBuilder(BaseBuilder):
        """Collects the parts of a sink of blocks."""

        def _rewriting(self, compactor: FileCompactor) -> Rewriting | None:
            """Read the records and write them again: files with blocks and a footer cannot be concatenated."""
            if compactor.single:
                return None
            if not isinstance(compactor, RecordWiseFileCompactor) or compactor.reader_format is None:
                raise InvalidProgramError(
                    "Files of a bulk format cannot be concatenated",
                    seen=compactor,
                    remedy="use RecordWiseFileCompactor(format), with the format that reads what the sink writes",
                )
            assert isinstance(self.parts.format, BulkWriterFactory)
            return Rewriting(compactor.reader_format.file_format, self.parts.format)

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Any:
            """Accept the policy that ends files with checkpoints: blocks cannot be continued."""
            if not isinstance(rolling_policy, OnCheckpointRollingPolicy):
                raise TypeMismatchError("Files of a bulk format end with each checkpoint", seen=rolling_policy)
            return self


class StreamingFileSink(FileSink):
    """The old name of FileSink, for `DataStream.add_sink`.

    >>> isinstance(StreamingFileSink.for_row_format("/tmp/out", Encoder.simple_string_encoder()).build(), FileSink)
    True
    """

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> StreamingFileSink.DefaultRowFormatBuilder:
        """Return a builder of a sink that writes elements one after the other."""
        return StreamingFileSink.DefaultRowFormatBuilder(FileSink.for_row_format(base_path, encoder).parts)

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> StreamingFileSink.DefaultBulkFormatBuilder:
        """Return a builder of a sink with a block format, such as Parquet: a file ends with each checkpoint."""
        return StreamingFileSink.DefaultBulkFormatBuilder(FileSink.for_bulk_format(base_path, writer_factory).parts)

    class BaseBuilder(FileSink.BaseBuilder):
        """Collects what both kinds of sinks have; the policy's parameter has its old name."""

        def with_rolling_policy(self, policy: RollingPolicy) -> Any:
            """Set when a file ends."""
            return super().with_rolling_policy(policy)

        def build(self) -> StreamingFileSink:
            """Return the sink."""
            return StreamingFileSink(self.parts)

    class DefaultRowFormatBuilder(BaseBuilder, FileSink.RowFormatBuilder):
        """Collects the parts of a sink of rows."""

    class DefaultBulkFormatBuilder(BaseBuilder, FileSink.BulkFormatBuilder):
        """Collects the parts of a sink of blocks."""


def _parts(base_path: str, writes: Encoder | BulkWriterFactory, rolling: RollingPolicy) -> FileParts:
    if is_local(base_path):
        base = local_path(base_path)
    else:
        file_system(base_path)  # raises at once if the extra is missing
        base = base_path.rstrip("/")
    return FileParts(base, writes, rolling, BucketAssigner.date_time_bucket_assigner())


@dataclass(frozen=True)
class FileParts(Sink):
    """Part files below `base`."""

    base: str
    format: Encoder | BulkWriterFactory
    rolling: RollingPolicy
    buckets: BucketAssigner
    prefix: str = "part"
    suffix: str = ""
    check_interval: int = 60_000
    compaction: Compaction | None = None

    @property
    def takes_columns(self) -> bool:
        """Whether columns may stay columns: writers of bulk formats decide."""
        return not isinstance(self.format, Encoder)

    @property
    def remote(self) -> bool:
        """Whether the base is an address of another file system."""
        return not is_local(self.base)

    def open_writer(self, context: WriterContext, states: list[Any]) -> SinkWriter:
        return FileWriter(self, context, states)

    def open_committer(self, job_id: str, sink_id: str) -> SinkCommitter:
        if self.remote:
            file_system(self.base)  # one that cannot be used is refused before the job starts
        return FileCommitter()
