"""FileSink and what describes it. Decides how programs describe it; `headrace.connectors.files` writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from headrace.connectors.base.definitions import Sink
from headrace.connectors.files.buckets import Buckets, OneBucket, OwnBuckets, TimeBuckets
from headrace.connectors.files.compaction import Compaction
from headrace.connectors.files.compaction_builder import (
    FileCompactor,
    FileCompactStrategy,
    RecordWiseFileCompactor,
    Rewriting,
)
from headrace.connectors.files.rolling import Rolling
from headrace.connectors.files.sink import FileParts
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
        """Start a description."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """Give what the names begin with."""
        return self.part_prefix

    def get_part_suffix(self) -> str:
        """Give what the names end with."""
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
            """Make the description."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)


class RollingPolicy:
    """When a part file is closed and the next one begun.

    >>> RollingPolicy.default_rolling_policy(part_size=1024)
    DefaultRollingPolicy(part_size=1024, rollover_interval=60000, inactivity_interval=60000)
    """

    @staticmethod
    def default_rolling_policy(
        part_size: int = 128 * 1024 * 1024, rollover_interval: int = 60_000, inactivity_interval: int = 60_000
    ) -> DefaultRollingPolicy:
        """Give the policy by size in bytes, and by age and idleness in milliseconds."""
        for value in (part_size, rollover_interval, inactivity_interval):
            if not isinstance(value, int) or value <= 0:
                raise InvalidProgramError("Sizes and times of a rolling policy are above zero", seen=value)
        return DefaultRollingPolicy(part_size, rollover_interval, inactivity_interval)

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Give the policy that begins a new file with each checkpoint."""
        return OnCheckpointRollingPolicy()


@dataclass(frozen=True)
class DefaultRollingPolicy(RollingPolicy):
    """By size, age and idleness.

    >>> RollingPolicy.default_rolling_policy(part_size=1000).part_size
    1000
    """

    part_size: int
    rollover_interval: int
    inactivity_interval: int


@dataclass(frozen=True)
class OnCheckpointRollingPolicy(RollingPolicy):
    """With each checkpoint.

    >>> isinstance(RollingPolicy.on_checkpoint_rolling_policy(), OnCheckpointRollingPolicy)
    True
    """


def _rolling(policy: object) -> Rolling:
    if isinstance(policy, DefaultRollingPolicy):
        return Rolling(policy.part_size, policy.rollover_interval, policy.inactivity_interval)
    if isinstance(policy, OnCheckpointRollingPolicy):
        return Rolling(on_checkpoint=True)
    raise TypeMismatchError("with_rolling_policy takes a RollingPolicy", seen=policy)


@dataclass(frozen=True)
class BucketAssigner:
    """In which directory an element is written; a program may write a subclass with `get_bucket_id`.

    >>> BucketAssigner.date_time_bucket_assigner()
    BucketAssigner(format_str='yyyy-MM-dd--HH', timezone_id=None)
    """

    format_str: str | None = None
    timezone_id: str | None = None

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """Give the assigner that writes everything into one directory."""
        return BucketAssigner()

    @staticmethod
    def date_time_bucket_assigner(format_str: str = "yyyy-MM-dd--HH", timezone_id: str | None = None) -> BucketAssigner:
        """Give the assigner that makes a directory for each span of processing time."""
        return BucketAssigner(format_str, timezone_id)

    def get_bucket_id(self, element: Any, processing_time: int) -> str:
        """Give the directory of an element, below the sink's path; for subclasses."""
        raise NotImplementedError(f"{type(self).__name__} does not say where elements go")

    def buckets(self) -> Buckets:
        """Give what the writer asks."""
        if type(self).get_bucket_id is not BucketAssigner.get_bucket_id:
            return OwnBuckets(self.get_bucket_id)
        return OneBucket() if self.format_str is None else TimeBuckets(self.format_str, self.timezone_id)


class FileSink(Sink):
    """Writes part files below a path: hidden while they are in progress, whole and visible after a checkpoint.

    >>> sink = FileSink.for_row_format("/tmp/out", Encoder.simple_string_encoder()).build()
    >>> isinstance(sink, Sink)
    True
    """

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Start a sink whose elements are written one after the other."""
        if not isinstance(encoder, Encoder):
            raise TypeMismatchError("for_row_format takes an Encoder", seen=encoder)
        return FileSink.RowFormatBuilder(_parts(base_path, encoder, _rolling(RollingPolicy.default_rolling_policy())))

    @staticmethod
    def for_bulk_format(base_path: str, writer_factory: BulkWriterFactory) -> FileSink.BulkFormatBuilder:
        """Start a sink that writes a format with blocks, such as Parquet: a file ends with each checkpoint."""
        if not isinstance(writer_factory, BulkWriterFactory):
            raise TypeMismatchError("for_bulk_format takes a BulkWriterFactory", seen=writer_factory)
        return FileSink.BulkFormatBuilder(_parts(base_path, writer_factory, Rolling(on_checkpoint=True)))

    def definition_for(self, type_info: TypeInformation | None) -> Any:
        """Give the definition; a simple string encoder writes elements as their type is written."""
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
            """Set how often ages of files are looked at, in milliseconds."""
            return self._with(check_interval=interval)

        def with_bucket_assigner(self, bucket_assigner: BucketAssigner | Callable[[Any, int], str]) -> Any:
            """Set in which directories elements are written."""
            if not isinstance(bucket_assigner, BucketAssigner):
                raise TypeMismatchError("with_bucket_assigner takes a BucketAssigner", seen=bucket_assigner)
            return self._with(buckets=bucket_assigner.buckets())

        def with_output_file_config(self, output_file_config: OutputFileConfig) -> Any:
            """Set how files are named."""
            if not isinstance(output_file_config, OutputFileConfig):
                raise TypeMismatchError("with_output_file_config takes an OutputFileConfig", seen=output_file_config)
            return self._with(prefix=output_file_config.part_prefix, suffix=output_file_config.part_suffix)

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> Any:
            """Set when a file ends."""
            return self._with(rolling=_rolling(rolling_policy))

        def enable_compact(self, strategy: FileCompactStrategy, compactor: FileCompactor) -> Any:
            """Put small files together before they become visible."""
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
            """Put no files together: this is the default."""
            return self._with(compaction=None)

        def build(self) -> FileSink:
            """Make the sink."""
            return FileSink(self.parts)

        def _with(self, **settings: Any) -> Any:
            self.parts = replace(self.parts, **settings)
            return self

    class RowFormatBuilder(BaseBuilder):
        """Collects the parts of a sink of rows."""

    class BulkFormatBuilder(BaseBuilder):
        """Collects the parts of a sink of blocks."""

        def _rewriting(self, compactor: FileCompactor) -> Rewriting | None:
            """Files with blocks and a foot cannot be written one after the other: they are read and written anew."""
            if compactor.single:
                return None
            if not isinstance(compactor, RecordWiseFileCompactor) or compactor.reader_format is None:
                raise InvalidProgramError(
                    "Files of a bulk format cannot be put together by writing one after the other",
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
        """Start a sink whose elements are written one after the other."""
        return StreamingFileSink.DefaultRowFormatBuilder(FileSink.for_row_format(base_path, encoder).parts)

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> StreamingFileSink.DefaultBulkFormatBuilder:
        """Start a sink that writes a format with blocks, such as Parquet: a file ends with each checkpoint."""
        return StreamingFileSink.DefaultBulkFormatBuilder(FileSink.for_bulk_format(base_path, writer_factory).parts)

    class BaseBuilder(FileSink.BaseBuilder):
        """Collects what both kinds of sinks have; the policy's parameter has its old name."""

        def with_rolling_policy(self, policy: RollingPolicy) -> Any:
            """Set when a file ends."""
            return super().with_rolling_policy(policy)

        def build(self) -> StreamingFileSink:
            """Make the sink."""
            return StreamingFileSink(self.parts)

    class DefaultRowFormatBuilder(BaseBuilder, FileSink.RowFormatBuilder):
        """Collects the parts of a sink of rows."""

    class DefaultBulkFormatBuilder(BaseBuilder, FileSink.BulkFormatBuilder):
        """Collects the parts of a sink of blocks."""


def _parts(base_path: str, writes: Encoder | BulkWriterFactory, rolling: Rolling) -> FileParts:
    if not is_local(base_path):
        file_system(base_path)  # says at once if the extra is missing
        return FileParts(base_path.rstrip("/"), writes, rolling, TimeBuckets())
    return FileParts(local_path(base_path), writes, rolling, TimeBuckets())
