"""The connector `filesystem`: files of a format below a path, as a source and as a sink.

As a sink it is the exactly-once file sink of streams: files become visible with a checkpoint. In batch mode, INSERT
OVERWRITE replaces the files of the directories that are written.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

from headrace.common.watermark_strategy import WatermarkStrategy
from headrace.connectors.files.buckets import BucketAssigner
from headrace.connectors.files.compaction import Compaction
from headrace.connectors.files.file_format import FileFormat
from headrace.connectors.files.rolling import OnCheckpointRollingPolicy, RollingPolicy
from headrace.connectors.files.sink import FileParts
from headrace.connectors.files.source import Files
from headrace.foundation.file_systems import file_system, is_local, local_path
from headrace.graph.specs import StagedSink
from headrace.table.connectors import partition_commit
from headrace.table.connectors.base import ConnectorContext, LookupSource, TableFactory, TableSink, TableSource
from headrace.table.connectors.file_columns import METADATA, FileColumns, WithFileColumns
from headrace.table.connectors.file_lookup import FileLookup
from headrace.table.connectors.file_writing import OverwritingParts, record_writer
from headrace.table.connectors.options import Option, Options, boolean, duration, integer, memory
from headrace.table.connectors.partition_commit import CommitRules, MarkedParts
from headrace.table.connectors.partitions import PartitionBuckets
from headrace.table.connectors.sinks import InsertOnlySink
from headrace.table.errors import SqlNotSupportedError, SqlValidationError
from headrace.table.formats.base import format_named, split_options
from headrace.types.logical_types import DataType, RowType
from headrace.types.serialization import Encoder

if TYPE_CHECKING:
    from headrace.datastream import DataStream, StreamExecutionEnvironment


class FileSystemFactory(TableFactory):
    """Makes sources and sinks of files."""

    identifier = "filesystem"
    metadata: ClassVar[Mapping[str, DataType]] = METADATA
    options = (
        Option("connector", required=True),
        Option("path", required=True),
        Option("format", required=True),
        Option("partition.default-name", str, "__DEFAULT_PARTITION__"),
        Option("source.monitor-interval", duration),
        Option("source.report-statistics", str.lower, "all", choices=("all", "none")),
        Option("source.path.regex-pattern"),
        Option("sink.rolling-policy.file-size", memory, 128 << 20),
        Option("sink.rolling-policy.rollover-interval", duration, 1_800_000),
        Option("sink.rolling-policy.inactivity-interval", duration, 1_800_000),
        Option("sink.rolling-policy.check-interval", duration, 60_000),
        Option("sink.shuffle-by-partition.enable", boolean, False),
        Option("sink.parallelism", integer),
        Option("auto-compaction", boolean, False),
        Option("compaction.file-size", memory),
        *partition_commit.OPTIONS,
    )

    def _options(self, context: ConnectorContext) -> tuple[Options, Options]:
        """Return the options of the connector and of the format."""
        owner = f"the table {context.label}"
        identifier = context.options.get("format", "")
        if not identifier:
            Options(context.options, self.options, owner)  # raises: the format is missing
        rest, own = split_options(context.options, identifier, owner)
        return Options(rest, self.options, owner), own

    # -- reading ------------------------------------------------------------------------------------------------------

    def source(self, context: ConnectorContext) -> TableSource:
        """Return a source of the files below the path."""
        options, own = self._options(context)
        return FileTable(context, options, own, tuple(range(len(context.row_type))))

    # -- writing ------------------------------------------------------------------------------------------------------

    def sink(
        self, context: ConnectorContext, overwrite: bool = False, static_partition: Mapping[str, Any] | None = None
    ) -> TableSink:
        """Return a sink that writes files below the path."""
        del static_partition  # the values are columns of the rows
        options, own = self._options(context)
        if overwrite and not context.batch:
            raise SqlNotSupportedError("Streaming mode not support overwrite.", remedy="use batch mode, or INSERT INTO")
        parts = _file_parts(context, options, own, overwrite)
        parallelism = options["sink.parallelism"]

        def write(stream: DataStream, kinds: bool, name: str) -> Any:
            del kinds
            marks = isinstance(parts, MarkedParts)  # only who writes all rows of a partition knows when it is complete
            if (marks or options["sink.shuffle-by-partition.enable"]) and context.partition_keys:
                stream = stream.key_by(_PartitionKey(parts.buckets))
            sink = stream.sink_operator(StagedSink(parts, None, ("Writer", "Committer")), name)
            if parallelism is not None:
                sink.set_parallelism(parallelism)
            return sink

        return InsertOnlySink(write, overwrite)


@dataclass(frozen=True)
class _PartitionKey:
    buckets: BucketAssigner

    def __call__(self, row: Any) -> str:
        return self.buckets.get_bucket_id(row, 0)


@dataclass
class FileTable(TableSource, LookupSource):
    """The files of a table; `columns` are those that are read."""

    context: ConnectorContext
    options: Options
    format_options: Options
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        """Note whether the table ends."""
        self.bounded = self.options["source.monitor-interval"] is None

    def projected(self, columns: tuple[int, ...]) -> TableSource:
        """Return a source of some columns: the others are not parsed."""
        return replace(self, columns=tuple(self.columns[index] for index in columns))

    def stream(self, env: StreamExecutionEnvironment, name: str) -> DataStream:
        """Return the rows."""
        interval = self.options["source.monitor-interval"]
        files = Files(
            (_path(self.options),),
            self._format(),
            None if interval is None else max(interval, 1) / 1000,
            cut_large_files=self.context.batch,  # a stream has the rows of a file in their order
        )
        return env.from_source(files, WatermarkStrategy.no_watermarks(), name)

    def lookup(self, columns: tuple[int, ...]) -> FileLookup:
        """Return the rows of the files that exist when a subtask starts, by key."""
        if not self.bounded:
            raise SqlNotSupportedError(
                f"The table {self.context.label} cannot be looked up: it is read continuously",
                remedy="remove 'source.monitor-interval'",
            )
        return FileLookup(Files((_path(self.options),), self._format()), columns)

    def _format(self) -> FileFormat:
        context = self.context
        fields = context.row_type.fields
        row_type = RowType(tuple(fields[index] for index in self.columns), is_nullable=False)
        metadata = dict(context.metadata)
        partitions, extras, record = [], [], []
        for place, index in enumerate(self.columns):
            if index in metadata:
                extras.append((place, metadata[index]))
            elif fields[index].name in context.partition_keys:
                partitions.append((place, fields[index].name))
            else:
                record.append(place)
        if "source.path.regex-pattern" in self.options:
            raise SqlNotSupportedError(
                "The option 'source.path.regex-pattern' is not supported", remedy="use a pattern such as /data/*.json"
            )
        if not record and all(index in metadata for index in range(len(fields))):
            raise SqlValidationError(f"The table {context.label} has no column that its files contain")
        # A file without any column that is asked for is still read: it decides how many rows there are.
        inside = RowType(tuple(row_type.fields[place] for place in record), is_nullable=False)
        reads = format_named(self.context.options["format"])
        if not record:
            first = next(f for i, f in enumerate(fields) if i not in metadata and f.name not in context.partition_keys)
            inside = RowType((first,), is_nullable=False)
        inner = reads.reader(
            inside if _by_name(reads.identifier) else self._positional(), self.format_options, context.time_zone
        )
        if _by_name(reads.identifier) and record and not partitions and not extras and tuple(record) == self._all():
            return inner
        where = tuple(record) if _by_name(reads.identifier) else self._places(record)
        return WithFileColumns(
            inner,
            FileColumns(row_type, where, tuple(partitions), tuple(extras), self.options["partition.default-name"]),
        )

    def _all(self) -> tuple[int, ...]:
        return tuple(range(len(self.columns)))

    def _positional(self) -> RowType:
        """Return the type of whole records, for formats that find fields by position."""
        metadata, keys = dict(self.context.metadata), self.context.partition_keys
        fields = [f for i, f in enumerate(self.context.row_type.fields) if i not in metadata and f.name not in keys]
        return RowType(tuple(fields), is_nullable=False)

    def _places(self, record: list[int]) -> tuple[int, ...]:
        """Return for each field of a whole record its place in the rows that are asked for, -1 for none."""
        names = [field.name for field in self._positional().fields]
        wanted = {self.context.row_type.fields[self.columns[place]].name: place for place in record}
        return tuple(wanted.get(name, -1) for name in names)


def _by_name(identifier: str) -> bool:
    return identifier in ("json", "parquet")


def _path(options: Options) -> str:
    return str(options["path"])


def _file_parts(context: ConnectorContext, options: Options, own: Options, overwrite: bool) -> FileParts:
    path, row_type, keys = _path(options), context.row_type, context.partition_keys
    if is_local(path):
        base = local_path(path)
    else:
        file_system(path)
        base = path.rstrip("/")
    written = tuple(index for index, field in enumerate(row_type.fields) if field.name not in keys)
    inside = RowType(tuple(row_type.fields[index] for index in written), is_nullable=False)
    writer = record_writer(
        format_named(context.options["format"]).writer(inside, own, context.time_zone), written, len(row_type)
    )
    default = options["partition.default-name"]
    buckets = PartitionBuckets(row_type, keys, default) if keys else BucketAssigner.base_path_bucket_assigner()
    rolling: RollingPolicy = OnCheckpointRollingPolicy()
    if isinstance(writer, Encoder):
        rolling = RollingPolicy.default_rolling_policy(
            options["sink.rolling-policy.file-size"],
            options["sink.rolling-policy.rollover-interval"],
            options["sink.rolling-policy.inactivity-interval"],
        )
    prefix = f"part-{uuid.uuid4()}"
    made = OverwritingParts if overwrite else FileParts
    parts = made(
        base,
        writer,
        rolling,
        buckets,
        prefix,
        check_interval=options["sink.rolling-policy.check-interval"],
        compaction=_compaction(options, writer),
    )
    rules = CommitRules.of(options) if keys else None
    if rules is None:
        return parts
    if overwrite or parts.compaction is not None:
        raise SqlNotSupportedError("Partitions that are replaced or compacted cannot be marked as complete")
    return MarkedParts(**{each.name: getattr(parts, each.name) for each in fields(parts)}, rules=rules)


def _compaction(options: Options, writer: Any) -> Compaction | None:
    if not options["auto-compaction"]:
        return None
    if not isinstance(writer, Encoder):
        raise SqlNotSupportedError("'auto-compaction' is not supported for this format", remedy="use json, csv or raw")
    size = options["compaction.file-size"] or options["sink.rolling-policy.file-size"]
    return Compaction(size, 1, b"", False)


FACTORY = FileSystemFactory()
